#include "assay/base/hash.h"

#include <gtest/gtest.h>

namespace assay {
namespace {

// FIPS 180-4 examples.
constexpr const char* kOfNothing =
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
constexpr const char* kOfAbc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

TEST(Sha256, MatchesTheStandard) {
  EXPECT_EQ(sha256_hex(""), kOfNothing);
  EXPECT_EQ(sha256_hex("abc"), kOfAbc);
  EXPECT_EQ(sha256_hex(std::string(1'000'000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, PiecesMakeTheWhole) {
  Sha256 hash;
  hash.update("a");
  hash.update("");
  hash.update("bc");
  EXPECT_EQ(hash.hex(), kOfAbc);
  EXPECT_EQ(hash.hex(), kOfAbc) << "asking twice changes nothing";
  hash.update("d");
  EXPECT_EQ(hash.hex(), sha256_hex("abcd"));
}

TEST(Sha256, FieldsDoNotRunIntoOneAnother) {
  const auto of = [](std::string_view a, std::string_view b) {
    Sha256 hash;
    hash.update_field(a);
    hash.update_field(b);
    return hash.hex();
  };
  EXPECT_NE(of("ab", "c"), of("a", "bc"));
  EXPECT_NE(of("ab", ""), of("", "ab"));
  EXPECT_EQ(of("ab", "c"), of("ab", "c"));
}

TEST(FastHash, DependsOnBytesAndSeed) {
  EXPECT_EQ(fast_hash(""), 0x2d06800538d394c2u);  // XXH3's value for no bytes and seed 0.
  EXPECT_NE(fast_hash("a"), fast_hash("b"));
  EXPECT_NE(fast_hash("a", 1), fast_hash("a", 2));
  EXPECT_EQ(fast_hash("a", 1), fast_hash("a", 1));
  EXPECT_NE(fast_digest("a"), fast_digest("b"));
  EXPECT_NE(fast_digest("a", 1), fast_digest("a", 2));
  EXPECT_EQ(fast_digest("a", 1), fast_digest("a", 1));
}

}  // namespace
}  // namespace assay
