#include "assay/record/name_sizes.h"

#include <string>
#include <vector>

namespace assay {
namespace {

constexpr std::size_t kMostDigits = 12;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// A letter or word with a number behind it: "m4".
struct Token {
  std::string word;
  std::int64_t number = 0;  // 0 if there is none that counts.
  std::size_t begin = 0, end = 0;
};

std::optional<Token> token_at(std::string_view name, std::size_t at) {
  if (at > 0 && is_letter(name[at - 1])) return std::nullopt;
  Token token{.word = {}, .begin = at, .end = at};
  while (token.end < name.size() && is_letter(name[token.end]))
    token.word += static_cast<char>(name[token.end++] | 0x20);
  const std::size_t first = token.end;
  while (token.end < name.size() && is_digit(name[token.end])) ++token.end;
  if (token.word.empty() || token.end == first || token.end - first > kMostDigits)
    return std::nullopt;
  token.number = std::stoll(std::string(name.substr(first, token.end - first)));
  return token;
}

char role_of(const std::string& word) {
  if (word == "m" || word == "n" || word == "k") return word[0];
  return word == "l" || word == "b" || word == "batch" ? 'l' : '\0';
}

std::vector<Token> tokens_of(std::string_view name) {
  std::vector<Token> tokens;
  for (std::size_t at = 0; at < name.size(); ++at) {
    auto token = token_at(name, at);
    if (!token || token->number == 0 || role_of(token->word) == 0) continue;
    at = token->end - 1;
    tokens.push_back(std::move(*token));
  }
  return tokens;
}

bool follows(const Token& token, const Token& before) { return token.begin <= before.end + 1; }

// The sizes that three tokens side by side tell, and their order.
struct Told {
  std::size_t first = 0;
  std::string order;
  NameSizes sizes;
};

std::optional<Told> told_by(const std::vector<Token>& tokens, std::size_t first) {
  Told told{.first = first, .order = {}, .sizes = {}};
  for (std::size_t i = first; i < first + 3; ++i) {
    if (i > first && !follows(tokens[i], tokens[i - 1])) return std::nullopt;
    const char role = role_of(tokens[i].word);
    if (role == 'l' || told.order.find(role) != std::string::npos) return std::nullopt;
    told.order += role;
    (role == 'm' ? told.sizes.m : role == 'n' ? told.sizes.n : told.sizes.k) = tokens[i].number;
  }
  return told;
}

}  // namespace

std::optional<NameSizes> sizes_in_name(std::string_view name) {
  const std::vector<Token> tokens = tokens_of(name);
  std::vector<Told> all, usual;
  for (std::size_t i = 0; i + 3 <= tokens.size(); ++i) {
    const auto told = told_by(tokens, i);
    if (!told) continue;
    all.push_back(*told);
    if (told->order == "mnk") usual.push_back(*told);
  }
  // "k2_m64_n128_k256": the usual order tells which three are meant.
  const std::vector<Told>& chosen = usual.size() == 1 ? usual : all;
  if (chosen.size() != 1) return std::nullopt;
  NameSizes sizes = chosen.front().sizes;
  const std::size_t first = chosen.front().first, behind = first + 3;
  if (first > 0 && role_of(tokens[first - 1].word) == 'l' &&
      follows(tokens[first], tokens[first - 1]))
    sizes.batch = tokens[first - 1].number;
  else if (behind < tokens.size() && role_of(tokens[behind].word) == 'l' &&
           follows(tokens[behind], tokens[behind - 1]))
    sizes.batch = tokens[behind].number;
  return sizes;
}

}  // namespace assay
