#include "assay/net/request_reader.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace assay::net {
namespace {

struct Read {
  int status = 0;  // 0: not whole yet; 200: read; else refused.
  Request request;
  std::string rest;
};

Read read(std::string_view bytes, std::size_t step) {
  RequestReader reader{HttpLimits{}};
  Read result;
  std::size_t used = 0;
  while (used < bytes.size()) {
    used += reader.take(bytes.substr(used, step));
    if (reader.state() == RequestReader::State::refused) {
      result.status = reader.refusal().status;
      return result;
    }
    if (reader.state() == RequestReader::State::done) {
      result.status = 200;
      result.request = reader.release();
      result.rest = bytes.substr(used);
      return result;
    }
  }
  return result;
}

struct Case {
  std::string_view what, bytes;
  int status;
};

const std::vector<Case>& cases() {
  static const std::vector<Case> table = {
      {"plain", "GET / HTTP/1.1\r\nHost: a\r\n\r\n", 200},
      {"length", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi", 200},
      {"chunked",
       "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n", 200},
      {"extension",
       "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2;x=y\r\nhi\r\n0\r\n\r\n",
       200},
      {"line before", "\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", 200},
      {"old", "GET / HTTP/1.0\r\n\r\n", 200},
      {"half", "GET / HTTP/1.1\r\nHost: a\r\n", 0},
      {"no host", "GET / HTTP/1.1\r\n\r\n", 400},
      {"two hosts", "GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n", 400},
      {"both framings",
       "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: "
       "chunked\r\n\r\n0\r\n\r\n",
       400},
      {"two lengths",
       "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nhi", 400},
      {"list of lengths", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2, 2\r\n\r\nhi", 400},
      {"signed length", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: +2\r\n\r\nhi", 400},
      {"endless length",
       "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999999999999\r\n\r\n", 400},
      {"long length", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1073741824\r\n\r\n", 413},
      {"two codings",
       "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: "
       "chunked\r\n\r\n0\r\n\r\n",
       400},
      {"other coding", "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
       501},
      {"old chunked", "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400},
      {"folded", "GET / HTTP/1.1\r\nHost: a\r\n b\r\n\r\n", 400},
      {"blank before colon", "GET / HTTP/1.1\r\nHost : a\r\n\r\n", 400},
      {"bare LF", "GET / HTTP/1.1\nHost: a\n\n", 400},
      {"bare LF in head", "GET / HTTP/1.1\r\nHost: a\nX: b\r\n\r\n", 400},
      {"bare CR", "GET / HTTP/1.1\r\nHost: a\rX: b\r\n\r\n", 400},
      {"control", "GET / HTTP/1.1\r\nHost: a\r\nX: \x01\r\n\r\n", 400},
      {"no name", "GET / HTTP/1.1\r\nHost: a\r\n: b\r\n\r\n", 400},
      {"blank in target", "GET /a b HTTP/1.1\r\nHost: a\r\n\r\n", 400},
      {"other version", "GET / HTTP/2.0\r\nHost: a\r\n\r\n", 505},
      {"other protocol", "\x16\x03\x01\x02\r\n\r\n", 400},
      {"other protocol, whose client waits", "\x16\x03\x01", 400},
      {"expectation", "POST / HTTP/1.1\r\nHost: a\r\nExpect: tea\r\nContent-Length: 2\r\n\r\nhi",
       417},
      {"chunk line LF",
       "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2\nhi\r\n0\r\n\r\n", 400},
      {"extension LF",
       "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2;x\nhi\r\n0\r\n\r\n", 400},
      {"chunk too long",
       "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi!\r\n0\r\n\r\n",
       400},
      {"last chunk's end",
       "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nXX\r\n\r\n", 400},
      {"blank size", "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n 2\r\nhi\r\n",
       400},
      {"huge chunk", "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nfffffff\r\n",
       413},
      {"nine digits",
       "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n000000002\r\n", 400},
  };
  return table;
}

// However the bytes are cut on their way, they mean the same.
TEST(RequestReader, KeepsTheTransportRulesWhereverBytesAreCut) {
  for (const Case& one : cases())
    for (std::size_t step = 1; step <= one.bytes.size(); ++step)
      EXPECT_EQ(read(one.bytes, step).status, one.status) << one.what << " by " << step;
}

TEST(RequestReader, ReadsBodiesAndLeavesWhatFollows) {
  const Read read_one = read(
      "POST /x HTTP/1.1\r\nHOST:a\r\nTransfer-Encoding: "
      "Chunked\r\n\r\n2\r\nhi\r\n3;a=b\r\n!\r\n\r\n0\r\n"
      "\r\nGET / HTTP/1.1\r\n",
      7);
  EXPECT_EQ(read_one.request.body, "hi!\r\n");
  EXPECT_EQ(*read_one.request.find("host"), "a");
  const Read whole = read("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhiGET", 1000);
  EXPECT_EQ(whole.request.body, "hi");
  EXPECT_EQ(whole.rest, "GET");
}

TEST(RequestReader, BoundsHeads) {
  const std::string long_line = "GET /" + std::string(20000, 'a');
  EXPECT_EQ(read(long_line, 1000).status, 414);
  const std::string long_target = "GET /" + std::string(9000, 'a') + " HTTP/1.1\r\nHost: a\r\n\r\n";
  EXPECT_EQ(read(long_target, 1000).status, 414);
  std::string many = "GET / HTTP/1.1\r\nHost: a\r\n";
  for (int i = 0; i < 101; ++i) many += "X: y\r\n";
  EXPECT_EQ(read(many + "\r\n", 1000).status, 431);
  EXPECT_EQ(read("GET / HTTP/1.1\r\nHost: a\r\nX: " + std::string(20000, 'b'), 1000).status, 431);
}

TEST(RequestReader, AsksForABodyThatIsAwaited) {
  RequestReader reader{HttpLimits{}};
  const std::string_view head =
      "POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n";
  EXPECT_EQ(reader.take(head), head.size());
  EXPECT_TRUE(reader.take_expectation());
  EXPECT_FALSE(reader.take_expectation());
  reader.take("hi");
  EXPECT_EQ(reader.release().body, "hi");
}

TEST(Request, GoesOnOverItsConnection) {
  EXPECT_TRUE(read("GET / HTTP/1.1\r\nHost: a\r\n\r\n", 99).request.keeps_alive());
  EXPECT_FALSE(read("GET / HTTP/1.0\r\n\r\n", 99).request.keeps_alive());
  EXPECT_TRUE(read("GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n", 99).request.keeps_alive());
  EXPECT_FALSE(
      read("GET / HTTP/1.1\r\nHost: a\r\nConnection: x, Close\r\n\r\n", 99).request.keeps_alive());
}

// What was echoed can begin no line of its own.
TEST(Response, LeavesOutHeadersThatHoldLineEnds) {
  const Response response{200, {{"X-A", "a\r\nX-B: b"}, {"X-C\n", "c"}, {"X-D", "d"}}, {}};
  const std::string head = response_head(response, Framing::length, 0, true);
  EXPECT_EQ(head.find("X-B"), std::string::npos);
  EXPECT_EQ(head.find("X-C"), std::string::npos);
  EXPECT_NE(head.find("X-D: d\r\n"), std::string::npos);
}

}  // namespace
}  // namespace assay::net
