#pragma once

// HTTP/1.1 as values: what a peer asked, and what it is answered.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace assay::net {

struct Header {
  std::string name;  // Of a request: in lower case.
  std::string value;
};

struct Request {
  std::string method;
  std::string target;  // As sent, such as "/v1/models?limit=1".
  int minor = 1;       // HTTP/1.0 or HTTP/1.1.
  std::vector<Header> headers;
  std::string body;  // Without its framing.

  // The first of that name (in lower case); null if there is none.
  const std::string* find(std::string_view name) const;
  int count(std::string_view name) const;
  // Whether the peer wants to go on over the same connection.
  bool keeps_alive() const;
};

struct Response {
  int status = 200;
  std::vector<Header> headers;
  std::string body;
};

// Why a request is not read any further: the connection ends after the answer.
struct Refusal {
  int status = 400;
  std::string sentence;
};

// "Not Found"; "Unknown" for a status that this server does not send.
std::string_view reason_phrase(int status);

// How a body ends: clients must know before it begins.
enum class Framing { length, chunked, close };

// Status line and headers, up to the empty line. `length` counts for Framing::length alone. A
// header whose name or value holds a line end is left out: nothing that was echoed can begin a
// line.
std::string response_head(const Response& response, Framing framing, std::size_t length,
                          bool keep_alive);

bool is_token(std::string_view text);  // Of RFC 9110: what methods and names of headers may hold.
bool is_one_line(std::string_view text);  // What a header may hold.
std::string lower_case(std::string_view text);

}  // namespace assay::net
