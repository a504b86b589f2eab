#include "assay/select/table_contents.h"

#include <array>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/base/file.h"
#include "assay/base/hash.h"
#include "assay/base/random.h"
#include "assay/select/table_format.h"
#include "assay/select/testing/sample_table.h"

namespace assay {
namespace {

using ::testing::HasSubstr;
using testing::shape;
using testing::Toys;

TableContents sample() {
  TableContents contents = Toys().table();
  contents.add(shape(1, 64, 64), {{0, 1.5}, {2, 1.75}});
  contents.add(shape(16, 64, 64, {"b"}), {{1, 20}});
  contents.add(shape(16, 128, 64, {"b"}), {{2, 0}});
  TableKernel& kernel = contents.kernels[1];
  kernel.blob = TableBlob{.bytes = std::string("\x7f"
                                               "ELF\0code",
                                               9),
                          .file_name = "kernel.so",
                          .target = "x86_64+avx2",
                          .visible = MaskedProblem(shape(16, 64, 64, {"b"}), {}).key()};
  kernel.artifact_facts = {{"compiler", "c++"}};
  kernel.artifact_hash = sha256_hex(
      canonical({{"bytes", sha256_hex(kernel.blob->bytes)}, {"facts", kernel.artifact_facts}}));
  return contents;
}

std::string sample_bytes() { return *table_bytes(sample()); }

std::string body_of(const std::string& bytes) { return bytes.substr(kTableHeaderBytes); }

TEST(TableContentsTest, WhatWasWrittenIsRead) {
  const TableContents before = sample();
  const auto after = parse_table(sample_bytes(), "t");
  ASSERT_TRUE(after) << after.error().message;
  EXPECT_EQ(after->origin, before.origin);
  EXPECT_EQ(after->kinds, before.kinds);
  EXPECT_EQ(after->problems, before.problems);
  ASSERT_EQ(after->kernels.size(), before.kernels.size());
  for (size_t i = 0; i < before.kernels.size(); ++i) {
    EXPECT_EQ(after->kernels[i].metadata.to_json(), before.kernels[i].metadata.to_json());
    EXPECT_EQ(after->kernels[i].artifact_hash, before.kernels[i].artifact_hash);
    EXPECT_EQ(after->kernels[i].artifact_facts, before.kernels[i].artifact_facts);
    EXPECT_EQ(after->kernels[i].sample, before.kernels[i].sample);
    EXPECT_EQ(after->kernels[i].blob, before.kernels[i].blob);
  }
  EXPECT_EQ(*table_bytes(*after), sample_bytes());
}

TEST(TableContentsTest, AFileIsReplacedWholeAndReadAgain) {
  auto folder = TemporaryDirectory::create();
  ASSERT_TRUE(folder);
  const std::string path = folder->file("t.assay");
  ASSERT_TRUE(write_table(path, sample()));
  const auto read = read_table_file(path);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->problems, sample().problems);
  EXPECT_EQ(read_table_file(folder->file("absent")).error().code, ErrorCode::not_found);
}

TEST(TableContentsTest, ProblemsOfOneKindShareItAndNoneStandsTwice) {
  TableContents contents = sample();
  EXPECT_EQ(contents.kinds.size(), 2u);
  EXPECT_EQ(contents.problems[1].kind, contents.problems[2].kind);
  EXPECT_FALSE(contents.add(shape(16, 64, 64, {"b"}), {{0, 1}}));
  EXPECT_EQ(contents.problems.size(), 3u);
}

TEST(TableContentsTest, AChangedByteIsSeenByTheChecksum) {
  const std::string bytes = sample_bytes();
  for (size_t at = 0; at < bytes.size(); ++at) {
    std::string changed = bytes;
    changed[at] = static_cast<char>(changed[at] ^ 0x10);
    const auto read = parse_table(changed, "t");
    ASSERT_FALSE(read) << "byte " << at;
    EXPECT_EQ(read.error().code, ErrorCode::invalid_input);
  }
}

TEST(TableContentsTest, NoCutFileIsATable) {
  const std::string bytes = sample_bytes();
  for (size_t size = 0; size < bytes.size(); ++size)
    ASSERT_FALSE(parse_table(std::string_view(bytes).substr(0, size), "t")) << size;
  EXPECT_FALSE(parse_table(bytes + "x", "t"));
}

// The same with a checksum that fits, so that everything behind it is put to the test: whatever is
// accepted can be written again, and nothing crashes.
TEST(TableContentsTest, ChangedBytesUnderAGoodChecksumAreRefusedOrWellFormed) {
  const std::string body = body_of(sample_bytes());
  const CounterRandom random{.key = 11};
  int refused = 0;
  const auto judge = [&](const std::string& changed) {
    const auto read = parse_table(seal_table(changed), "t");
    if (!read) {
      EXPECT_EQ(read.error().code, ErrorCode::invalid_input) << read.error().message;
      EXPECT_THAT(read.error().message, HasSubstr("t:"));
      ++refused;
      return;
    }
    const auto again = table_bytes(*read);
    ASSERT_TRUE(again) << again.error().message;
    const auto same = parse_table(*again, "t");
    ASSERT_TRUE(same) << same.error().message;
    EXPECT_EQ(same->problems, read->problems);
  };
  constexpr std::array kValues = {0x00, 0xff, 0x01, 0x80};
  for (size_t at = 0; at < body.size(); ++at) {
    std::string changed = body;
    changed[at] = static_cast<char>(kValues[at % kValues.size()]);
    judge(changed);
  }
  for (uint64_t i = 0; i < 2000; ++i) {
    std::string changed = body;
    const size_t at = random.below(3 * i, changed.size());
    switch (random.below(3 * i + 1, 4)) {
      case 0:
        changed.resize(at);
        break;
      case 1:
        changed.erase(at, 1 + random.below(3 * i + 2, 16));
        break;
      case 2:
        changed.insert(at, std::string(1 + random.below(3 * i + 2, 16), '\xff'));
        break;
      default:
        for (size_t j = at; j < changed.size() && j < at + 8; ++j)
          changed[j] = static_cast<char>(random.below(100'000 + 8 * i + j, 256));
    }
    judge(changed);
  }
  EXPECT_GT(refused, 2000);
}

TEST(TableContentsTest, SaysWhatIsWrong) {
  const auto message = [](const std::string& bytes) {
    return parse_table(bytes, "my.assay").error().message;
  };
  std::string bytes = sample_bytes();
  EXPECT_THAT(message("name: x\n"), HasSubstr("--save-table"));
  std::string version = bytes;
  version[8] = 7;
  EXPECT_THAT(message(version), HasSubstr("format version 7; this assay reads version 1"));
  std::string damaged = bytes;
  damaged.back() ^= 1;
  EXPECT_THAT(message(damaged), HasSubstr("checksum"));
  EXPECT_THAT(message(bytes.substr(0, 100)), HasSubstr("says that it has"));
  // Code that is not what was tuned.
  std::string body = body_of(bytes);
  body.back() ^= 1;
  EXPECT_THAT(message(seal_table(body)), HasSubstr("toys/toy_16 does not have the hash"));
}

TEST(TableContentsTest, WhatCannotBeReadIsNotWritten) {
  TableContents contents = sample();
  contents.problems[0].choices.clear();
  EXPECT_FALSE(table_bytes(contents));
  contents = sample();
  contents.problems[0].choices[0].kernel = 99;
  EXPECT_FALSE(table_bytes(contents));
}

}  // namespace
}  // namespace assay
