// The documents that people read: links lead somewhere, commands that are named exist and all are
// listed, and sentences are short.

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <regex>
#include <set>
#include <sstream>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/base/file.h"
#include "cli/flags/command_line.h"
#include "cli/flags/command_tree.h"
#include "cli/help/reference_page.h"

namespace assay::cli {
namespace {

using ::testing::Gt;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

namespace fs = std::filesystem;

struct Document {
  fs::path path;
  std::string text;   // As it stands.
  std::string prose;  // Without blocks of code.
};

std::string without_code(const std::string& text) {
  std::istringstream in(text);
  std::string prose;
  bool in_code = false;
  for (std::string line; std::getline(in, line);) {
    const auto first = line.find_first_not_of(' ');
    if (first != std::string::npos && line.compare(first, 3, "```") == 0)
      in_code = !in_code;
    else if (!in_code)
      prose += line + '\n';
  }
  return prose;
}

std::vector<Document> documents() {
  const char* root = std::getenv("ASSAY_SOURCE_DIR");
  std::vector<Document> found;
  if (root == nullptr) return found;
  const auto add = [&](const fs::path& path) {
    auto text = read_file(path.string());
    ASSERT_TRUE(text.has_value()) << path;
    std::string prose = without_code(*text);
    found.push_back({path, std::move(*text), std::move(prose)});
  };
  for (const auto& entry : fs::directory_iterator(root))
    if (entry.path().extension() == ".md") add(entry.path());
  for (const char* folder : {"docs", "examples", "providers", "rankers", "python", "results"})
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(root) / folder))
      if (entry.path().extension() == ".md") add(entry.path());
  return found;
}

// As pages name the headings of a document: "## The words" is "the-words".
std::set<std::string> anchors(const Document& document) {
  std::set<std::string> names;
  std::istringstream in(document.prose);
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with('#')) continue;
    std::string name;
    for (const char c : line.substr(std::min(line.size(), line.find_first_not_of("# ")))) {
      const auto byte = static_cast<unsigned char>(c);
      if (std::isalnum(byte) != 0 || c == '-' || c == '_')
        name += static_cast<char>(std::tolower(byte));
      else if (c == ' ')
        name += '-';
    }
    names.insert(name);
  }
  return names;
}

std::vector<std::string> matches(const std::string& text, const std::regex& pattern) {
  std::vector<std::string> found;
  for (std::sregex_iterator at(text.begin(), text.end(), pattern), end; at != end; ++at)
    found.push_back((*at)[1]);
  return found;
}

TEST(HandbookTest, LinksLeadSomewhere) {
  const std::vector<Document> all = documents();
  ASSERT_THAT(all.size(), Gt(30u));
  const std::regex link(R"(\]\(([^)\s]+)\))");
  int seen = 0;
  for (const Document& document : all) {
    for (const std::string& target : matches(document.prose, link)) {
      if (target.find("://") != std::string::npos) continue;
      ++seen;
      SCOPED_TRACE(document.path.string() + " links to " + target);
      const auto hash = target.find('#');
      const std::string file = target.substr(0, hash);
      const fs::path path = file.empty() ? document.path : document.path.parent_path() / file;
      EXPECT_TRUE(fs::exists(path));
      if (hash == std::string::npos) continue;
      const auto other = std::ranges::find_if(
          all, [&](const Document& one) { return fs::weakly_canonical(path) == one.path; });
      ASSERT_NE(other, all.end()) << "of an anchor in no document";
      EXPECT_TRUE(anchors(*other).contains(target.substr(hash + 1)));
    }
  }
  EXPECT_GT(seen, 100);
}

TEST(HandbookTest, CommandsThatItNamesExistAndAllAreListed) {
  const CommandLine line;
  const CommandEntry program = describe(line);
  std::set<std::string> names;
  for (const CommandEntry& command : program.commands) names.insert(command.name);
  const std::regex command(R"(`assay ([a-z]+))");
  std::string listed;
  for (const Document& document : documents()) {
    if (document.path.parent_path().filename() == "docs" &&
        document.path.filename() == "commands.md")
      listed = document.prose;
    for (const std::string& name : matches(document.prose, command))
      EXPECT_TRUE(names.contains(name)) << document.path << " names `assay " << name << '`';
  }
  for (const std::string& name : names) EXPECT_THAT(listed, HasSubstr("assay " + name));
}

TEST(HandbookTest, TheReferenceOfCommandsIsWhatTheProgramPrints) {
  const char* root = std::getenv("ASSAY_SOURCE_DIR");
  ASSERT_NE(root, nullptr);
  const auto page = read_file((fs::path(root) / "docs/reference/commands.md").string());
  ASSERT_TRUE(page.has_value());
  const CommandLine line;
  EXPECT_EQ(*page, commands_page(describe(line))) << "run scripts/make-reference";
}

// Words of each sentence of what is read through: no tables, no lists of figures.
TEST(HandbookTest, AtMostThreeInAHundredSentencesAreLong) {
  const std::regex code(R"(`[^`]*`)"), target(R"(\]\([^)]*\))"), word(R"([\w'-]+)");
  const std::regex end(R"([.!?:]\s+(?=[A-Z*\[(]))");
  int sentences = 0;
  std::vector<std::string> too_long;
  for (const Document& document : documents()) {
    const fs::path folder = document.path.parent_path();
    const bool is_read_through =
        folder.filename() == "docs" || folder == std::getenv("ASSAY_SOURCE_DIR");
    if (!is_read_through || document.path.filename() == "CHANGELOG.md") continue;
    std::istringstream in(document.prose);
    for (std::string line; std::getline(in, line);) {
      if (line.starts_with('|') || line.starts_with('#')) continue;
      line = std::regex_replace(std::regex_replace(line, code, "X"), target, "]");
      for (std::sregex_token_iterator at(line.begin(), line.end(), end, -1), none; at != none;
           ++at) {
        const std::string sentence = *at;
        const auto words =
            std::distance(std::sregex_iterator(sentence.begin(), sentence.end(), word), {});
        if (words < 3) continue;
        ++sentences;
        if (words > 30)
          too_long.push_back(
              fmt::format("{} ({} words): {}", document.path.filename().string(), words, sentence));
      }
    }
  }
  EXPECT_GT(sentences, 1000);
  EXPECT_LE(static_cast<double>(too_long.size()), 0.03 * sentences)
      << ::testing::PrintToString(too_long);
}

}  // namespace
}  // namespace assay::cli
