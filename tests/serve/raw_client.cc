#include "tests/serve/raw_client.h"

#include <algorithm>
#include <charconv>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>

#include "testing/assay_program.h"

namespace assay::serve_tests {

RawClient::RawClient(std::uint16_t port) : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(fd_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    fd_.reset();
}

void RawClient::send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
}

void RawClient::finish() { ::shutdown(fd_.get(), SHUT_WR); }

void RawClient::reset() {
  const linger now{1, 0};
  ::setsockopt(fd_.get(), SOL_SOCKET, SO_LINGER, &now, sizeof now);
  fd_.reset();
}

bool RawClient::read_more() {
  pollfd ready{fd_.get(), POLLIN, 0};
  if (::poll(&ready, 1, static_cast<int>(testing::kWatchdogSeconds * 1000)) <= 0) return false;
  char bytes[65536];
  const ssize_t size = ::recv(fd_.get(), bytes, sizeof bytes, 0);
  closed_ |= size <= 0;
  if (size > 0) buffer_.append(bytes, static_cast<std::size_t>(size));
  return size > 0;
}

std::string RawClient::read_until(std::string_view end) {
  while (end.empty() || buffer_.find(end) == std::string::npos)
    if (!read_more()) break;
  const auto found = end.empty() ? std::string::npos : buffer_.find(end);
  const std::size_t size = found == std::string::npos ? buffer_.size() : found + end.size();
  std::string read = buffer_.substr(0, size);
  buffer_.erase(0, size);
  return read;
}

std::size_t RawClient::read_bytes(std::size_t count) {
  while (buffer_.size() < count && read_more()) continue;
  const std::size_t size = std::min(count, buffer_.size());
  buffer_.erase(0, size);
  return size;
}

std::string RawClient::read_answer() {
  std::string answer = read_until("\r\n\r\n");
  const auto at = answer.find("Content-Length: ");
  if (at == std::string::npos) return answer;
  const std::size_t length = std::strtoul(answer.c_str() + at + 16, nullptr, 10);
  while (buffer_.size() < length && read_more()) continue;
  answer += buffer_.substr(0, length);
  buffer_.erase(0, length);
  return answer;
}

int status_of(std::string_view answer) {
  int status = 0;
  if (answer.starts_with("HTTP/1.1 ") && answer.size() > 12)
    std::from_chars(answer.data() + 9, answer.data() + 12, status);
  return status;
}

std::string_view body_of(std::string_view answer) {
  const auto end = answer.find("\r\n\r\n");
  return end == std::string_view::npos ? std::string_view() : answer.substr(end + 4);
}

std::string get(std::string_view target) {
  return fmt::format("GET {} HTTP/1.1\r\nHost: localhost\r\n\r\n", target);
}

std::string post(std::string_view target, std::string_view body, std::string_view headers) {
  return fmt::format(
      "POST {} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n{}"
      "Content-Length: {}\r\n\r\n{}",
      target, headers, body.size(), body);
}

std::string dechunked(std::string_view body) {
  std::string text;
  while (!body.empty()) {
    std::size_t size = 0;
    const auto [end, error] = std::from_chars(body.data(), body.data() + body.size(), size, 16);
    const auto begin = static_cast<std::size_t>(end - body.data()) + 2;
    if (error != std::errc() || begin + size > body.size()) return text + "<not chunked>";
    text.append(body.substr(begin, size));
    if (size == 0) return text;
    body.remove_prefix(begin + size + 2);
  }
  return text;
}

}  // namespace assay::serve_tests
