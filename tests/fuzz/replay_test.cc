// Every input of the corpus, and some that are short, by every compiler.

#include <algorithm>
#include <filesystem>

#include <gtest/gtest.h>

#include "assay/base/file.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/messages.h"

namespace assay::fuzz {

void broken(std::string_view sentence) { ADD_FAILURE() << sentence; }

namespace {

namespace fs = std::filesystem;

class Corpus : public ::testing::TestWithParam<Target> {};

TEST_P(Corpus, HoldsItsProperty) {
  const Target& target = GetParam();
  std::vector<fs::path> files;
  for (const auto& file : fs::directory_iterator(fs::path(ASSAY_FUZZ_CORPUS) / target.name))
    files.push_back(file.path());
  std::sort(files.begin(), files.end());
  ASSERT_FALSE(files.empty());
  const long before = checks;
  for (const fs::path& file : files) {
    SCOPED_TRACE(file.string());
    const auto bytes = read_file(file.string());
    ASSERT_TRUE(bytes) << bytes.error().message;
    target.run(*bytes);
    // Cut short, as by a full disk or a process that ended.
    target.run(std::string_view(*bytes).substr(0, bytes->size() / 2));
  }
  target.run("");
  EXPECT_GT(checks, before) << "no input gets as far as a property";
}

INSTANTIATE_TEST_SUITE_P(, Corpus, ::testing::ValuesIn(targets()),
                         [](const auto& target) { return std::string(target.param.name); });

TEST(CorpusFolders, EachIsATargets) {
  for (const auto& folder : fs::directory_iterator(ASSAY_FUZZ_CORPUS)) {
    const std::string name = folder.path().filename().string();
    EXPECT_TRUE(std::ranges::any_of(targets(), [&](const Target& t) { return t.name == name; }))
        << name;
  }
}

// A file of the corpus that is named after a message, and holds one.
struct Sample {
  Json fields;
  size_t files = 0;
};
Sample sample_of(std::string name) {
  std::ranges::replace(name, ' ', '_');
  const auto bytes = read_file((fs::path(ASSAY_FUZZ_CORPUS) / "messages" / name).string());
  const auto json = bytes ? parse_json(*bytes, name) : Result<Json>(fail(bytes.error()));
  EXPECT_TRUE(json) << json.error().message;
  return json ? Sample{(*json)["fields"], json->value("files", size_t{0})} : Sample{};
}

TEST(CorpusMessages, HasEachMessage) {
  for (const std::string& name : message_names()) {
    const Sample sample = sample_of(name);
    EXPECT_TRUE(read_message(name, sample.fields, sample.files)) << name;
  }
}

TEST(CorpusMessages, EachHasAllOfItsFieldsAndNoOthers) {
  for (const std::string& name : message_names()) {
    const Sample sample = sample_of(name);
    for (const auto& [key, value] : sample.fields.items()) {
      Json without = sample.fields;
      without.erase(key);
      EXPECT_FALSE(read_message(name, without, sample.files)) << name << " without " << key;
    }
    Json more = sample.fields;
    more["bonus"] = 1;
    EXPECT_FALSE(read_message(name, more, sample.files)) << name;
    EXPECT_FALSE(read_message(name, sample.fields, sample.files + 1)) << name;
  }
}

}  // namespace
}  // namespace assay::fuzz
