#include "assay/net/response_reader.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include <fmt/format.h>

#include "assay/base/text.h"

namespace assay::net {
namespace {

constexpr std::size_t kMostHeadBytes = 64 << 10;
constexpr std::string_view kAnswerHeadEnd = "\r\n\r\n", kBegin = "HTTP/1.";

bool has_bare_feed(std::string_view text, std::size_t from) {
  for (auto at = text.find('\n', from); at != std::string_view::npos; at = text.find('\n', at + 1))
    if (at == 0 || text[at - 1] != '\r') return true;
  return false;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// "HTTP/1.1 200 OK"
bool read_status_line(std::string_view line, ResponseHead& head) {
  if (!line.starts_with("HTTP/1.") || line.size() < 12 || line[8] != ' ') return false;
  if (line[7] != '0' && line[7] != '1') return false;
  if (!std::all_of(line.begin() + 9, line.begin() + 12, is_digit)) return false;
  if (line.size() > 12 && line[12] != ' ') return false;
  head.minor = line[7] - '0';
  std::from_chars(line.data() + 9, line.data() + 12, head.status);
  return head.status >= 100;
}

bool read_header(std::string_view line, ResponseHead& head) {
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos || !is_token(line.substr(0, colon))) return false;
  const std::string_view value = trim(line.substr(colon + 1));
  if (value.find_first_of(std::string_view("\r\n\0", 3)) != std::string_view::npos) return false;
  head.headers.push_back({lower_case(line.substr(0, colon)), std::string(value)});
  return true;
}

}  // namespace

const std::string* ResponseHead::find(std::string_view name) const {
  const auto found = std::ranges::find(headers, name, &Header::name);
  return found == headers.end() ? nullptr : &found->value;
}

bool ResponseHead::keeps_alive() const {
  const std::string* connection = find("connection");
  const std::string word = connection ? lower_case(*connection) : std::string();
  if (minor == 0) return word.find("keep-alive") != std::string::npos;
  return word.find("close") == std::string::npos;
}

void ResponseReader::reset() { *this = ResponseReader(); }

void ResponseReader::refuse(std::string sentence) {
  state_ = State::refused;
  refusal_ = std::move(sentence);
}

std::size_t ResponseReader::take(std::string_view bytes, std::string& body) {
  std::size_t used = 0;
  while (used < bytes.size() && (state_ == State::head || state_ == State::body)) {
    begun_ = true;
    const std::string_view rest = bytes.substr(used);
    if (state_ == State::head) {
      const std::size_t before = text_.size();
      text_.append(rest);
      const std::size_t from = before < 3 ? 0 : before - 3;
      const std::size_t end = text_.find(kAnswerHeadEnd, from);
      // All but what may be the end's first bytes.
      const std::size_t least = text_.size() - std::min(text_.size(), kAnswerHeadEnd.size() - 1);
      // What is no answer is refused as soon as it shows: its sender may wait for us.
      if (!text_.starts_with(kBegin.substr(0, text_.size())))
        refuse("its answer does not begin with a status line of HTTP/1.1");
      else if (has_bare_feed(std::string_view(text_).substr(0, std::min(end, kMostHeadBytes)),
                             before))
        refuse("a line of its answer's head does not end with CR LF");
      else if (std::min(end, least) > kMostHeadBytes)
        refuse("the head of its answer is too long");
      if (end == std::string::npos || state_ == State::refused) return bytes.size();
      used += end + kAnswerHeadEnd.size() - before;
      take_head(std::string_view(text_).substr(0, end));
      text_.clear();
    } else if (chunks_) {
      used += chunks_->take(rest, body);
      if (chunks_->done()) state_ = State::done;
      if (chunks_->refused()) refuse("the chunks of its answer are malformed");
    } else {
      const std::size_t part = until_close_ ? rest.size() : std::min(left_, rest.size());
      body.append(rest.substr(0, part));
      used += part;
      left_ -= until_close_ ? 0 : part;
      if (!until_close_ && left_ == 0) state_ = State::done;
    }
  }
  return used;
}

void ResponseReader::take_head(std::string_view text) {
  head_ = {};
  std::size_t line_end = std::min(text.find("\r\n"), text.size());
  if (!read_status_line(text.substr(0, line_end), head_))
    return refuse("its answer does not begin with a status line of HTTP/1.1");
  while (line_end < text.size()) {
    text.remove_prefix(line_end + 2);
    line_end = std::min(text.find("\r\n"), text.size());
    if (!read_header(text.substr(0, line_end), head_))
      return refuse("a header of its answer is malformed");
  }
  if (head_.status == 101) return refuse("its answer leaves HTTP, which nobody asked for");
  if (head_.status < 200) return;  // Another head follows.
  choose_framing();
}

void ResponseReader::choose_framing() {
  state_ = State::body;
  const auto count = [&](std::string_view name) {
    return std::ranges::count(head_.headers, name, &Header::name);
  };
  const std::string* length = head_.find("content-length");
  const std::string* coding = head_.find("transfer-encoding");
  if (coding != nullptr) {
    if (length != nullptr) return refuse("its answer has Content-Length and Transfer-Encoding");
    if (lower_case(*coding) != "chunked" || count("transfer-encoding") > 1 || head_.minor == 0)
      return refuse("its answer has a transfer coding other than chunked");
    chunks_.emplace(std::numeric_limits<std::size_t>::max());
    return;
  }
  if (head_.status == 204 || head_.status == 304) {
    state_ = State::done;
    return;
  }
  if (length == nullptr) {
    until_close_ = true;
    return;
  }
  const char* const end = length->data() + length->size();
  const auto [read, error] = std::from_chars(length->data(), end, left_);
  if (error != std::errc() || read != end || count("content-length") > 1)
    return refuse("the Content-Length of its answer is no length");
  if (left_ == 0) state_ = State::done;
}

void ResponseReader::finish() {
  if (state_ == State::body && until_close_)
    state_ = State::done;
  else if (state_ == State::head)
    refuse(begun_ ? "the connection was closed within the head of an answer"
                  : "the connection was closed before an answer");
  else if (state_ == State::body)
    refuse("the connection was closed before the body's end");
}

}  // namespace assay::net
