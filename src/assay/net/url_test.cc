#include "assay/net/url.h"

#include <gtest/gtest.h>

namespace assay::net {
namespace {

TEST(Url, Parts) {
  const Url plain = *parse_url("http://localhost:8000/v1/");
  EXPECT_EQ(plain.authority(), "localhost:8000");
  EXPECT_EQ(plain.path, "/v1");
  EXPECT_FALSE(plain.tls);
  const Url six = *parse_url("https://[::1]");
  EXPECT_EQ(six.host, "::1");
  EXPECT_EQ(six.authority(), "[::1]:443");
  EXPECT_TRUE(six.tls);
}

TEST(Url, WhatIsNoBaseUrlIsRefused) {
  for (const char* text :
       {"", "localhost:8000", "ftp://a", "http://", "http://a:0", "http://a:65536", "http://a:x",
        "http://[::1", "http://[::1]8000", "http://a/?q=1", "http://a b", "http://a\r\nb"})
    EXPECT_FALSE(parse_url(text)) << text;
  const auto secret = parse_url("http://user:hunter2@a");
  ASSERT_FALSE(secret);
  EXPECT_EQ(secret.error().message.find("hunter2"), std::string::npos);
}

}  // namespace
}  // namespace assay::net
