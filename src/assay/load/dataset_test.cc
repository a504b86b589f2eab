#include "assay/load/dataset.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "assay/base/file.h"

namespace assay::load {
namespace {

std::string file_of(const TemporaryDirectory& folder, std::string_view text) {
  const std::string path = folder.file("data.jsonl");
  EXPECT_TRUE(write_file_atomic(path, text));
  return path;
}

std::string prompt(const Dataset& dataset, std::int64_t number) {
  return dataset.at(number)[0].messages.back()["content"];
}

std::int64_t words(const std::string& text) { return std::ranges::count(text, ' '); }

TEST(Dataset, OneSeedGivesTheSamePrompts) {
  const RandomOptions options{{50, 10, 0}, {20, 0, 0.5}, 8, 2};
  const auto one = random_dataset(options, WordText(), 3),
             same = random_dataset(options, WordText(), 3),
             other = random_dataset(options, WordText(), 4);
  int different = 0;
  for (std::int64_t i = 0; i < 20; ++i) {
    EXPECT_EQ(prompt(*one, i), prompt(*same, i));
    EXPECT_EQ(one->at(i)[0].output_tokens, same->at(i)[0].output_tokens);
    EXPECT_EQ(words(prompt(*one, i)), one->at(i)[0].input_tokens);
    EXPECT_GE(one->at(i)[0].output_tokens, 10);
    EXPECT_LE(one->at(i)[0].output_tokens, 30);
    different += prompt(*one, i) != prompt(*other, i);
  }
  EXPECT_EQ(different, 20);
}

// Words that cost more than a token still add up to what was asked.
TEST(Dataset, TokensAreCountedByTheirCounter) {
  const auto cost = [](const std::string& text) -> Result<std::int64_t> {
    return std::ranges::count(text, ' ') + std::ranges::count(text, 'w');
  };
  const WordText text = *WordText::counted(cost, "w counts twice");
  for (std::uint64_t i = 0; i < 50; ++i) EXPECT_EQ(*cost(text.make({1, i}, 37)), 37);
  EXPECT_FALSE(WordText::counted([](const std::string&) -> Result<std::int64_t> { return 0; }, ""));
}

TEST(Dataset, LinesOfPromptsMessagesAndTurns) {
  const auto folder = TemporaryDirectory::create();
  const auto read = jsonl_dataset(file_of(*folder, R"({"prompt": "one"}
{"messages": [{"role": "system", "content": "s"}, {"role": "user", "content": "two"}], "output_tokens": 5}

{"turns": ["three", {"content": "four", "think_s": 0.5}]}
)"),
                                  9);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(prompt(**read, 0), "one");
  EXPECT_EQ((*read)->at(0)[0].output_tokens, 9);
  EXPECT_EQ((*read)->at(1)[0].output_tokens, 5);
  EXPECT_EQ((*read)->at(2).size(), 2U);
  EXPECT_EQ((*read)->at(2)[1].think_s, 0.5);
  EXPECT_EQ(prompt(**read, 3), "one");
}

TEST(Dataset, WhatIsWrongIsToldWithItsLine) {
  const auto folder = TemporaryDirectory::create();
  for (const auto& [text, expected] : std::vector<std::pair<std::string, std::string>>{
           {"{\"prompt\": \"a\"}\n{\"prompt\": 3}\n", "line 2"},
           {"{\"turns\": []}\n", "no turn"},
           {"{\"turns\": [{\"content\": \"a\", \"role\": \"assistant\"}]}\n", "the user's"},
           {"\n\n", "no line has a prompt"},
           {"{\"promt\": \"a\"}\n", "prompt"},
           {"[\n", "line 1"}}) {
    const auto read = jsonl_dataset(file_of(*folder, text), 1);
    ASSERT_FALSE(read) << text;
    EXPECT_EQ(read.error().code, ErrorCode::invalid_input);
    EXPECT_NE(read.error().message.find(expected), std::string::npos) << read.error().message;
  }
}

TEST(Dataset, BlocksOfATraceAreShared) {
  const auto folder = TemporaryDirectory::create();
  const auto read = trace_dataset(
      file_of(*folder,
              R"({"timestamp": 1000, "input_length": 600, "output_length": 5, "hash_ids": [1, 2]}
{"timestamp": 3000, "input_length": 700, "output_length": 6, "hash_ids": [1, 3]}
)"),
      2, WordText(), 1);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(words(prompt(**read, 0)), 600);
  const std::string first = prompt(**read, 0), second = prompt(**read, 1);
  const auto differs = std::ranges::mismatch(first, second).in1 - first.begin();
  EXPECT_GE(words(first.substr(0, static_cast<std::size_t>(differs))), 512);
  EXPECT_EQ(*(*read)->arrival_s(1), 1);
  EXPECT_FALSE((*read)->arrival_s(2));
}

}  // namespace
}  // namespace assay::load
