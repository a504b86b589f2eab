#include "assay/text/added_tokens.h"

#include <algorithm>

#include "assay/text/blanks.h"

namespace assay::text {
namespace {

std::uint64_t step(std::uint32_t node, char byte) {
  return static_cast<std::uint64_t>(node) << 8 | static_cast<unsigned char>(byte);
}

}  // namespace

void AddedTokens::add(const AddedToken& token) {
  if (token.content.empty()) return;
  std::uint32_t node = 0;
  for (const char byte : token.content) {
    const auto [child, made] =
        children_.emplace(step(node, byte), static_cast<std::uint32_t>(ends_.size()));
    if (made) ends_.push_back(-1);
    node = child->second;
  }
  begins_[static_cast<unsigned char>(token.content.front())] = true;
  ends_[node] = static_cast<int>(tokens_.size());
  tokens_.push_back(token);
}

AddedTokens::Found AddedTokens::longest_at(std::string_view text) const {
  Found found;
  std::uint32_t node = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto child = children_.find(step(node, text[i]));
    if (child == children_.end()) break;
    node = child->second;
    if (ends_[node] >= 0) found = {ends_[node], i + 1};
  }
  return found;
}

std::vector<AddedTokens::Piece> AddedTokens::split(std::string_view text) const {
  std::vector<Piece> pieces;
  std::size_t told = 0;
  for (std::size_t at = 0; at < text.size();) {
    if (!begins_[static_cast<unsigned char>(text[at])]) {
      ++at;
      continue;
    }
    const Found found = longest_at(text.substr(at));
    if (found.token < 0) {
      ++at;
      continue;
    }
    const AddedToken& token = tokens_[static_cast<std::size_t>(found.token)];
    std::size_t begin = at, end = at + found.bytes;
    at = end;
    if (token.takes_left) begin = std::max(told, begin - blanks_at_end(text.substr(0, begin)));
    if (token.takes_right) end += blanks_at_begin(text.substr(end));
    if (told < begin) pieces.push_back({text.substr(told, begin - told), -1});
    pieces.push_back({text.substr(begin, std::max(begin, end) - begin), token.id});
    told = end;
  }
  if (told < text.size()) pieces.push_back({text.substr(told), -1});
  return pieces;
}

}  // namespace assay::text
