#include "assay/base/json_bytes.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace assay {
namespace {

TEST(JsonBytesTest, StringsOfAnyBytesArriveAsTheyWere) {
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all += static_cast<char>(byte);
  // The characters that carry bytes, as a name's own; a cut one; and what stands for wrong bytes.
  for (const std::string& name :
       {all, std::string("k\xe9\xff.cc"), std::string("\xf4\x8f\xbe\x80\xf4\x8f\xbf\xbf"),
        std::string("\xf4\x8f\xbe"), std::string("\xef\xbf\xbd"), std::string("k\xc3\xa9.cc")}) {
    const Json value = {{"file", name}, {"list", {name, 7, nullptr}}, {name, {{name, 1.5}}}};
    const std::string text = canonical_bytes(value);
    EXPECT_TRUE(Json::accept(text));
    const auto back = parse_json_bytes(text, "test");
    ASSERT_TRUE(back) << back.error().message;
    EXPECT_EQ(*back, value);
  }
}

TEST(JsonBytesTest, PlainTextIsWrittenAsEverywhere) {
  const Json value = {{"name", "gemm, \xc3\xa9"}, {"n", 3}};
  EXPECT_EQ(canonical_bytes(value), canonical(value));
}

}  // namespace
}  // namespace assay
