#include "assay/net/response_reader.h"

#include <string>

#include <gtest/gtest.h>

namespace assay::net {
namespace {

using State = ResponseReader::State;

struct Read {
  State state;
  std::string body;
  int status = 0;
};

Read read(std::string_view bytes, std::size_t step, bool closes) {
  ResponseReader reader;
  std::string body;
  while (!bytes.empty() && (reader.state() == State::head || reader.state() == State::body)) {
    const std::size_t used = reader.take(bytes.substr(0, step), body);
    bytes.remove_prefix(used);
  }
  if (closes && (reader.state() == State::head || reader.state() == State::body)) reader.finish();
  return {reader.state(), body, reader.head().status};
}

void expect(std::string_view bytes, State state, std::string_view body, bool closes = false) {
  for (const std::size_t step : {bytes.size(), std::size_t{1}, std::size_t{3}}) {
    const Read result = read(bytes, step, closes);
    EXPECT_EQ(result.state, state) << bytes;
    EXPECT_EQ(result.body, body) << bytes;
  }
}

TEST(ResponseReader, BodiesEndByLengthChunksOrClose) {
  expect("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc", State::done, "abc");
  expect("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n", State::done, "");
  expect("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n2\r\nbc\r\n0\r\n\r\n",
         State::done, "abc");
  expect("HTTP/1.0 200 OK\r\n\r\nabc", State::done, "abc", true);
  expect("HTTP/1.1 204\r\n\r\n", State::done, "");
  expect("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na", State::done,
         "a");
}

TEST(ResponseReader, WhatEndsEarlyIsRefused) {
  expect("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nab", State::refused, "ab", true);
  expect("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n", State::refused, "a",
         true);
  expect("HTTP/1.1 200 OK\r\nContent-Le", State::refused, "", true);
}

TEST(ResponseReader, HowLongAHeadMayBeDoesNotDependOnTheCuts) {
  const std::string begin = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nX: ";
  for (const std::size_t size : {(64u << 10) - 1, 64u << 10, (64u << 10) + 1}) {
    const std::string head = begin + std::string(size - begin.size(), 'x') + "\r\n\r\n";
    expect(head, size <= 64u << 10 ? State::done : State::refused, "");
  }
}

// Its sender may say no more until it is asked again.
TEST(ResponseReader, WhatIsNoAnswerIsRefusedBeforeItsHeadEnds) {
  for (const std::string_view begin : {"SSH-2.0-OpenSSH\r\n", "HTTP/2", "\x15\x03\x01",
                                       "HTTP/1.1 200 OK\n", "HTTP/1.1 200 OK\r\nA: b\n"})
    expect(begin, State::refused, "");
  expect("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\nabc", State::refused, "");
  expect("HTTP/1.1 200 OK\r\nA: b\r\n", State::head, "");
}

TEST(ResponseReader, FramingThatTwoWouldReadInTwoWaysIsRefused) {
  for (const std::string_view head :
       {"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding : chunked\r\n\r\n",
        "HTTP/1.1 200 OK\r\nA: b\r\n c\r\n\r\n", "HTTP/2 200\r\n\r\n", "ICY 200 OK\r\n\r\n",
        "HTTP/1.1 2000 OK\r\n\r\n"})
    expect(head, State::refused, "");
}

}  // namespace
}  // namespace assay::net
