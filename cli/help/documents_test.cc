// Completion and manual pages: everything that can be typed is in them, and they are what their
// readers expect. Tools that are not installed are not asked.

#include <algorithm>
#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/base/file.h"
#include "assay/base/subprocess.h"
#include "assay/base/text.h"
#include "cli/flags/command_line.h"
#include "cli/help/completion.h"
#include "cli/help/man_page.h"
#include "cli/help/reference_page.h"

namespace assay::cli {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

const CommandEntry& program() {
  static const CommandLine line;
  static const CommandEntry entry = describe(line);
  return entry;
}

const CommandEntry& command(std::string_view name) {
  return *std::ranges::find(program().commands, name, &CommandEntry::name);
}

// Every command with the flags that it has of its own.
void each(const CommandEntry& entry,
          const std::function<void(const CommandEntry&, const std::string&)>& take) {
  for (const FlagEntry& flag : entry.flags)
    for (const std::string& name : flag.names) take(entry, name);
  for (const CommandEntry& below : entry.commands) each(below, take);
}

CommandOutput run(const std::vector<std::string>& words, std::string_view input = {}) {
  SubprocessOptions options;
  options.argv = words;
  options.env = {"PATH=/usr/local/bin:/usr/bin:/bin", "LC_ALL=C.UTF-8", "HOME=/nonexistent"};
  CommandLimits limits;
  limits.timeout_ns = std::int64_t{60} * 1'000'000'000;
  limits.max_output = 16 << 20;
  limits.input = input;
  auto output = run_command(options, limits);
  EXPECT_TRUE(output.has_value()) << output.error().message;
  return output ? *output : CommandOutput();
}

bool is_installed(const std::string& tool) {
  return run({"sh", "-c", "command -v " + tool}).status.success();
}

std::string unescaped(std::string page) {
  for (std::size_t at; (at = page.find("\\-")) != std::string::npos;) page.replace(at, 2, "-");
  return page;
}

TEST(CommandTreeTest, ItIsTheProgramAsItIs) {
  EXPECT_EQ(program().name, "assay");
  EXPECT_GE(program().commands.size(), 10u);
  const CommandEntry& race = command("race");
  EXPECT_EQ(race.path, "assay race");
  EXPECT_THAT(race.example, HasSubstr("assay race"));
  ASSERT_EQ(race.arguments.size(), 1u);
  EXPECT_TRUE(race.arguments[0].several && race.arguments[0].required);
  EXPECT_TRUE(race.arguments[0].kinds.files);
  const auto flag = [](const CommandEntry& entry, std::string_view name) {
    for (const FlagEntry& one : entry.flags)
      if (std::ranges::find(one.names, name) != one.names.end()) return one;
    return FlagEntry();
  };
  EXPECT_THAT(flag(race, "--against").kinds.words, Contains("openblas"));
  EXPECT_TRUE(flag(race, "--against").kinds.files);
  EXPECT_TRUE(flag(race, "--provider").several);
  EXPECT_TRUE(flag(command("sweep"), "--provider").several);
  EXPECT_THAT(flag(command("sweep"), "--suite").kinds.words, Contains("decode"));
  EXPECT_THAT(flag(race, "--preparation").kinds.words, ::testing::ElementsAre("none", "allowed"));
  EXPECT_THAT(flag(command("report"), "--format").kinds.words, Contains("html"));
  EXPECT_EQ(flag(race, "--margin").otherwise, "1%");
  EXPECT_EQ(flag(command("load"), "--seed").range, "0 to 2147483647");
  EXPECT_TRUE(flag(race, "--watch").value.empty());
  EXPECT_EQ(flag(program(), "--color").value, "auto|always|never");
}

TEST(DocumentsTest, EveryFlagOfEveryCommandIsInAllOfThem) {
  const std::string bash = bash_completion(program()), zsh = zsh_completion(program()),
                    fish = fish_completion(program());
  int flags = 0;
  each(program(), [&](const CommandEntry& entry, const std::string& name) {
    ++flags;
    SCOPED_TRACE(entry.path + ' ' + name);
    // In bash the line of the command has them.
    const auto start = bash.find(fmt::format("    '{}') words=", entry.path));
    ASSERT_NE(start, std::string::npos);
    const std::string line = bash.substr(start, bash.find('\n', start) - start);
    EXPECT_TRUE(line.find(name + ' ') != std::string::npos ||
                line.find(name + '\'') != std::string::npos);
    EXPECT_THAT(zsh, HasSubstr("'*" + name));
    EXPECT_THAT(fish, HasSubstr(name.starts_with("--") ? " -l " + name.substr(2)
                                                       : " -s " + name.substr(1)));
  });
  EXPECT_GT(flags, 60);
  const std::string reference = commands_page(program());
  each(program(), [&](const CommandEntry& entry, const std::string& name) {
    if (name != "--help" && name != "-h")
      EXPECT_THAT(command_section(entry) + reference.substr(reference.find("## Options of every")),
                  HasSubstr('`' + name))
          << entry.path;
  });
  for (const CommandEntry& one : program().commands) {
    const std::string page = unescaped(command_page(program(), one));
    each(one, [&](const CommandEntry&, const std::string& name) {
      EXPECT_THAT(page, HasSubstr("\\fB" + name + "\\fR")) << one.path;
    });
    EXPECT_THAT(unescaped(program_page(program())), HasSubstr("\\fB" + one.name + "\\fR"));
  }
}

TEST(DocumentsTest, TheReferenceHasASectionForEachCommandAndSaysDefaultsAndRanges) {
  const std::string page = commands_page(program());
  for (const CommandEntry& one : program().commands) {
    EXPECT_THAT(page, HasSubstr("\n## " + one.path + "\n"));
    for (const CommandEntry& below : one.commands)
      EXPECT_THAT(page, HasSubstr("\n### " + below.path + "\n"));
  }
  const std::string race = command_section(command("race"));
  EXPECT_THAT(race, HasSubstr("assay race FILE... [FLAG...]"));
  EXPECT_THAT(race, HasSubstr("| `--preparation` `none\\|allowed` | allowed |"));
  EXPECT_THAT(race, HasSubstr("| `--output-dir` `DIR` | runs/\\<n\\>-\\<kernel\\> |"));
  EXPECT_THAT(command_section(command("load")), HasSubstr("From 0 to 2147483647."));
  EXPECT_THAT(page, HasSubstr("| 130 |"));
  EXPECT_THAT(page, HasSubstr("| `ASSAY_LOCK_DIR` |"));
}

TEST(DocumentsTest, ShellsCanReadTheirScripts) {
  const auto folder = TemporaryDirectory::create();
  ASSERT_TRUE(folder.has_value());
  const std::string path = folder->file("script");
  const auto check = [&](const std::string& shell, const std::string& script) {
    if (!is_installed(shell)) return;
    ASSERT_TRUE(write_file_atomic(path, script).has_value());
    const CommandOutput output = run({shell, "-n", path});
    EXPECT_TRUE(output.status.success()) << shell;
    EXPECT_THAT(output.err, IsEmpty()) << shell;
  };
  check("bash", bash_completion(program()));
  check("zsh", zsh_completion(program()));
  check("fish", fish_completion(program()));
}

// What bash offers once `words` are typed and Tab is pressed.
std::vector<std::string> offers(const std::vector<std::string>& words) {
  std::string script = bash_completion(program()) + "COMP_WORDS=(";
  for (const std::string& word : words) script += '\'' + word + "' ";
  script += fmt::format(")\nCOMP_CWORD={}\n_assay\nprintf '%s\\n' \"${{COMPREPLY[@]}}\"\n",
                        words.size() - 1);
  const CommandOutput output = run({"bash", "-s"}, script);
  EXPECT_TRUE(output.status.success());
  EXPECT_THAT(output.err, IsEmpty());
  std::vector<std::string> lines;
  for (const std::string_view line : split(trim(output.out), '\n')) lines.emplace_back(line);
  return lines;
}

TEST(DocumentsTest, BashOffersWhatFits) {
  using ::testing::ElementsAre;
  EXPECT_THAT(offers({"assay", "sw"}), ElementsAre("sweep"));
  EXPECT_THAT(offers({"assay", "--color", "always", "sw"}), ElementsAre("sweep"));
  EXPECT_THAT(offers({"assay", "sweep", "--exh"}), ElementsAre("--exhaustive"));
  EXPECT_THAT(offers({"assay", "sweep", "--js"}), ElementsAre("--json"));
  EXPECT_THAT(offers({"assay", "sweep", "--suite", "dec"}), ElementsAre("decode"));
  EXPECT_THAT(offers({"assay", "sweep", "--suite", "=", "dec"}), ElementsAre("decode"));
  EXPECT_THAT(offers({"assay", "sweep", "--provider", "openblas", "ondnn", "onednn", "nat"}),
              ElementsAre("native_cpu"));
  EXPECT_THAT(offers({"assay", "race", "my.cc", "--preparation", ""}),
              ElementsAre("none", "allowed"));
  EXPECT_THAT(offers({"assay", "race", "--color", "a"}), ElementsAre("auto", "always"));
  EXPECT_THAT(offers({"assay", "race", "/et"}), ElementsAre("/etc"));
  EXPECT_THAT(offers({"assay", "man", "compl"}), ElementsAre("completion"));
  EXPECT_THAT(offers({"assay", "sweep", "--threads", ""}), ElementsAre(""));
}

TEST(DocumentsTest, FishOffersWhatFits) {
  if (!is_installed("fish")) GTEST_SKIP() << "fish is not installed";
  const auto folder = TemporaryDirectory::create();
  ASSERT_TRUE(folder.has_value());
  const std::string path = folder->file("assay.fish");
  ASSERT_TRUE(write_file_atomic(path, fish_completion(program())).has_value());
  const auto offered = [&](const std::string& typed) {
    return run({"fish", "--no-config", "-c",
                fmt::format("source {}; complete -C '{}'", path, typed)})
        .out;
  };
  EXPECT_THAT(offered("assay sw"), HasSubstr("sweep\t"));
  EXPECT_THAT(offered("assay race --again"), HasSubstr("--against\t"));
  EXPECT_THAT(offered("assay sweep --suite dec"), HasSubstr("decode"));
  EXPECT_THAT(offered("assay sweep --again"), Not(HasSubstr("--against")));
}

TEST(DocumentsTest, ManualPagesFormatWithoutWarnings) {
  if (!is_installed("groff")) GTEST_SKIP() << "groff is not installed";
  const auto format = [&](const std::string& page) {
    const CommandOutput output = run({"groff", "-man", "-ww", "-Tascii", "-P-cbou"}, page);
    EXPECT_TRUE(output.status.success());
    EXPECT_THAT(output.err, IsEmpty());
    return output.out;
  };
  const std::string all = format(program_page(program()));
  EXPECT_THAT(all, HasSubstr("assay race my_gemm.cc --shape m=16,n=4096,k=1024,dtype=f32"));
  EXPECT_THAT(all, HasSubstr("130"));
  for (const CommandEntry& one : program().commands) {
    const std::string text = format(command_page(program(), one));
    EXPECT_THAT(text, HasSubstr(one.example)) << one.path;
    each(one, [&](const CommandEntry&, const std::string& name) {
      EXPECT_THAT(text, HasSubstr(name)) << one.path;
    });
  }
}

}  // namespace
}  // namespace assay::cli
