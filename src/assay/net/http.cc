#include "assay/net/http.h"

#include <algorithm>
#include <array>
#include <ctime>
#include <utility>

#include <fmt/format.h>

#include "assay/base/text.h"

namespace assay::net {
namespace {

constexpr std::array<std::pair<int, std::string_view>, 24> kReasons = {{
    {100, "Continue"},
    {200, "OK"},
    {204, "No Content"},
    {400, "Bad Request"},
    {401, "Unauthorized"},
    {403, "Forbidden"},
    {404, "Not Found"},
    {405, "Method Not Allowed"},
    {408, "Request Timeout"},
    {409, "Conflict"},
    {411, "Length Required"},
    {413, "Content Too Large"},
    {414, "URI Too Long"},
    {415, "Unsupported Media Type"},
    {417, "Expectation Failed"},
    {422, "Unprocessable Content"},
    {429, "Too Many Requests"},
    {431, "Request Header Fields Too Large"},
    {500, "Internal Server Error"},
    {501, "Not Implemented"},
    {502, "Bad Gateway"},
    {503, "Service Unavailable"},
    {504, "Gateway Timeout"},
    {505, "HTTP Version Not Supported"},
}};

bool is_token_character(char c) {
  const bool word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  return word || (c != '\0' && std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string::npos);
}

// One second is the finest that the header tells, and its text costs more than a small answer.
const std::string& date() {
  thread_local std::time_t told = 0;
  thread_local std::string text;
  const std::time_t now = std::time(nullptr);
  if (now == told) return text;
  std::tm parts{};
  gmtime_r(&now, &parts);
  char line[64];
  const std::size_t size = std::strftime(line, sizeof line, "%a, %d %b %Y %H:%M:%S GMT", &parts);
  told = now;
  text.assign(line, size);
  return text;
}

}  // namespace

const std::string* Request::find(std::string_view name) const {
  const auto found = std::ranges::find(headers, name, &Header::name);
  return found == headers.end() ? nullptr : &found->value;
}

int Request::count(std::string_view name) const {
  return static_cast<int>(std::ranges::count(headers, name, &Header::name));
}

bool Request::keeps_alive() const {
  bool close = false, keep = false;
  for (const Header& header : headers) {
    if (header.name != "connection") continue;
    for (const std::string_view part : split(header.value, ',')) {
      const std::string word = lower_case(trim(part));
      close |= word == "close";
      keep |= word == "keep-alive";
    }
  }
  return !close && (minor == 1 || keep);
}

std::string_view reason_phrase(int status) {
  for (const auto& [code, phrase] : kReasons)
    if (code == status) return phrase;
  return "Unknown";
}

std::string response_head(const Response& response, Framing framing, std::size_t length,
                          bool keep_alive) {
  constexpr std::size_t kUsualBytes = 320;
  std::string text;
  text.reserve(kUsualBytes);
  text.append("HTTP/1.1 ").append(fmt::format_int(response.status).c_str()).append(" ");
  text.append(reason_phrase(response.status)).append("\r\n");
  for (const Header& header : response.headers)
    if (is_token(header.name) && is_one_line(header.value))
      text.append(header.name).append(": ").append(header.value).append("\r\n");
  text.append("Date: ").append(date()).append("\r\n");
  if (framing == Framing::length)
    text.append("Content-Length: ").append(fmt::format_int(length).c_str()).append("\r\n");
  if (framing == Framing::chunked) text += "Transfer-Encoding: chunked\r\n";
  text += keep_alive ? "Connection: keep-alive\r\n\r\n" : "Connection: close\r\n\r\n";
  return text;
}

bool is_one_line(std::string_view text) {
  return text.find_first_of(std::string_view("\r\n\0", 3)) == std::string_view::npos;
}

bool is_token(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, is_token_character);
}

std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return lower;
}

}  // namespace assay::net
