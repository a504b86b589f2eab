#include "assay/net/request_reader.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include <fmt/format.h>

#include "assay/base/text.h"

namespace assay::net {
namespace {

constexpr std::string_view kHeadEnd = "\r\n\r\n";

bool is_chunked(const Request& request) {
  const std::string* coding = request.find("transfer-encoding");
  return coding != nullptr && lower_case(*coding) == "chunked";
}

// None: no number that a length may be.
std::optional<std::uint64_t> length_of(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole && !text.empty() && text.size() <= 18 ? std::optional(value) : std::nullopt;
}

struct Rule {
  int status;
  bool (*broken)(const Request& request, const HttpLimits& limits);
  std::string_view sentence;
};

constexpr std::array<Rule, 10> kRules = {{
    {400, [](const Request& r, const HttpLimits&) { return r.count("host") > 1; },
     "The request has more than one Host header."},
    {400, [](const Request& r, const HttpLimits&) { return r.minor == 1 && r.count("host") == 0; },
     "A request of HTTP/1.1 needs a Host header."},
    {400, [](const Request& r, const HttpLimits&) { return r.count("content-length") > 1; },
     "The request has more than one Content-Length header."},
    {400, [](const Request& r, const HttpLimits&) { return r.count("transfer-encoding") > 1; },
     "The request has more than one Transfer-Encoding header."},
    {400,
     [](const Request& r, const HttpLimits&) {
       return r.find("content-length") != nullptr && r.find("transfer-encoding") != nullptr;
     },
     "Content-Length and Transfer-Encoding exclude each other."},
    {400,
     [](const Request& r, const HttpLimits&) {
       return r.minor == 0 && r.find("transfer-encoding") != nullptr;
     },
     "HTTP/1.0 has no Transfer-Encoding."},
    {501,
     [](const Request& r, const HttpLimits&) {
       return r.find("transfer-encoding") != nullptr && !is_chunked(r);
     },
     "The only Transfer-Encoding that this server knows is chunked."},
    {400,
     [](const Request& r, const HttpLimits&) {
       const std::string* length = r.find("content-length");
       return length != nullptr && !length_of(*length);
     },
     "Content-Length must be a whole number."},
    {413,
     [](const Request& r, const HttpLimits& limits) {
       const std::string* length = r.find("content-length");
       return length != nullptr && length_of(*length).value_or(0) > limits.body_bytes;
     },
     "The request's body is longer than this server takes."},
    {417,
     [](const Request& r, const HttpLimits&) {
       const std::string* expected = r.find("expect");
       return expected != nullptr && lower_case(*expected) != "100-continue";
     },
     "The only expectation that this server knows is 100-continue."},
}};

bool may_stand_in_value(char c) {
  return (static_cast<unsigned char>(c) >= ' ' && c != 0x7f) || c == '\t';
}

// What does not is often TLS, whose client would wait for an answer that only TLS could give.
bool may_begin_head(char c) { return c == '\r' || c == '\n' || is_token({&c, 1}); }

bool may_stand_in_target(char c) { return c > ' ' && c < 0x7f; }

}  // namespace

std::optional<Refusal> refuse_head(const Request& request, const HttpLimits& limits) {
  for (const Rule& rule : kRules)
    if (rule.broken(request, limits)) return Refusal{rule.status, std::string(rule.sentence)};
  return std::nullopt;
}

bool RequestReader::refuse(int status, std::string sentence) {
  state_ = State::refused;
  refusal_ = {status, std::move(sentence)};
  return false;
}

std::size_t RequestReader::take(std::string_view bytes) {
  std::size_t used = 0;
  if (state_ == State::head) used = take_head(bytes);
  if (state_ == State::body) used += take_body(bytes.substr(used));
  return used;
}

// What stands before the next end of a line, as far as a head may still grow but for one byte.
std::size_t RequestReader::take_line_part(std::string_view bytes) {
  if (!head_.empty() && head_.back() == '\r') return 0;
  const std::size_t room = limits_.head_bytes - std::min(limits_.head_bytes, head_.size() + 1);
  const std::string_view line = bytes.substr(0, bytes.find('\n'));
  const std::size_t part = std::min({line.find('\r'), line.size(), room});
  head_.append(bytes.substr(0, part));
  return part;
}

// A line end that is not CR LF is refused as soon as it is there: its sender may wait for an
// answer.
std::size_t RequestReader::take_head(std::string_view bytes) {
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (head_.empty() && !may_begin_head(bytes[i])) {
      refuse(400, "A request must begin with its method; this server does not speak TLS.");
      return i + 1;
    }
    i += take_line_part(bytes.substr(i));
    if (i == bytes.size()) break;
    const char c = bytes[i];
    const bool after_return = !head_.empty() && head_.back() == '\r';
    if ((c == '\n') != after_return) {
      refuse(400, "Lines of a head must end with CR LF.");
      return i + 1;
    }
    head_ += c;
    if (head_ == "\r\n") head_.clear();  // Old clients send one behind a body (RFC 9112, 2.2).
    if (c == '\n' && head_.ends_with(kHeadEnd)) {
      end_head();
      return i + 1;
    }
    if (head_.size() >= limits_.head_bytes) {
      const bool in_line = head_.find("\r\n") == std::string::npos;
      refuse(in_line ? 414 : 431, "The request's head is longer than this server takes.");
      return i + 1;
    }
  }
  return bytes.size();
}

void RequestReader::end_head() {
  if (!read_lines(std::string_view(head_).substr(0, head_.size() - 2))) return;
  if (auto refusal = refuse_head(request_, limits_)) {
    refuse(refusal->status, std::move(refusal->sentence));
    return;
  }
  chunked_ = is_chunked(request_);
  const std::string* length = request_.find("content-length");
  body_left_ = length == nullptr ? 0 : length_of(*length).value_or(0);
  const bool has_body = chunked_ || body_left_ > 0;
  expects_continue_ = has_body && request_.minor == 1 && request_.find("expect") != nullptr;
  state_ = has_body ? State::body : State::done;
}

bool RequestReader::read_lines(std::string_view head) {
  bool first = true;
  while (!head.empty()) {
    const std::size_t end = head.find("\r\n");
    const std::string_view line = head.substr(0, end);
    head.remove_prefix(end + 2);
    if (!(first ? read_request_line(line) : read_header(line))) return false;
    first = false;
  }
  return true;
}

bool RequestReader::read_request_line(std::string_view line) {
  const auto words = split(line, ' ');
  if (words.size() != 3 || !is_token(words[0]) || words[1].empty() ||
      !std::ranges::all_of(words[1], may_stand_in_target))
    return refuse(400, "The request line must be a method, a target and a version.");
  if (words[1].size() > limits_.target_bytes)
    return refuse(414, "The request's target is longer than this server takes.");
  if (words[2] != "HTTP/1.1" && words[2] != "HTTP/1.0") {
    const bool other = words[2].size() == 8 && words[2].starts_with("HTTP/");
    return refuse(other ? 505 : 400, "This server speaks HTTP/1.1 and HTTP/1.0.");
  }
  request_.method = words[0];
  request_.target = words[1];
  request_.minor = words[2].back() - '0';
  return true;
}

bool RequestReader::read_header(std::string_view line) {
  if (line.starts_with(' ') || line.starts_with('\t'))
    return refuse(400, "A header must not be folded over lines.");
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos || !is_token(line.substr(0, colon)))
    return refuse(400, "A header must be a name, a colon right behind it, and a value.");
  const std::string_view value = trim(line.substr(colon + 1));
  if (!std::ranges::all_of(value, may_stand_in_value))
    return refuse(400, "A header's value must not hold control characters.");
  if (request_.headers.size() >= static_cast<std::size_t>(limits_.headers))
    return refuse(431, "The request has more headers than this server takes.");
  request_.headers.push_back({lower_case(line.substr(0, colon)), std::string(value)});
  return true;
}

std::size_t RequestReader::take_body(std::string_view bytes) {
  if (chunked_) {
    const std::size_t used = chunks_.take(bytes, request_.body);
    if (chunks_.done()) state_ = State::done;
    if (chunks_.refused() && chunks_.too_long())
      refuse(413, "The request's body is longer than this server takes.");
    else if (chunks_.refused())
      refuse(400, "The chunks of the request's body are malformed.");
    return used;
  }
  const std::size_t part = std::min(body_left_, bytes.size());
  request_.body.append(bytes.substr(0, part));
  body_left_ -= part;
  if (body_left_ == 0) state_ = State::done;
  return part;
}

Request RequestReader::release() {
  Request request = std::move(request_);
  *this = RequestReader(limits_);
  return request;
}

}  // namespace assay::net
