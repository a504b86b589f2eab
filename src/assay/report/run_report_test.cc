#include "assay/report/run_report.h"

#include <algorithm>
#include <random>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/base/text.h"
#include "assay/record/testing/sample_record.h"
#include "assay/report/document.h"
#include "assay/report/log_axis.h"
#include "assay/report/sweep_report.h"

namespace assay::report {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// What an XML parser would refuse of a page: tags that do not match, bare <, & or quotes in
// attributes. Empty where there is nothing.
std::string malformed(std::string_view page) {
  std::vector<std::string> open;
  page.remove_prefix(std::min(page.size(), page.find("<html")));
  while (!page.empty()) {
    const std::size_t at = page.find_first_of("<&");
    if (at == std::string_view::npos) break;
    page.remove_prefix(at);
    if (page[0] == '&') {
      const std::string_view entity = page.substr(0, page.find(';') + 1);
      if (entity != "&amp;" && entity != "&lt;" && entity != "&gt;" && entity != "&quot;" &&
          entity != "&#39;")
        return "entity at " + std::string(page.substr(0, 40));
      page.remove_prefix(entity.size());
      continue;
    }
    // The tag's end, quoted text skipped.
    char quote = 0;
    std::size_t end = 1;
    for (; end < page.size(); ++end) {
      const char c = page[end];
      if (quote != 0) {
        if (c == '<') return "< in an attribute: " + std::string(page.substr(0, 80));
        if (c == quote) quote = 0;
      } else if (c == '"' || c == '\'') {
        quote = c;
      } else if (c == '>' || c == '<') {
        break;
      }
    }
    if (end >= page.size() || page[end] != '>')
      return "a tag without end: " + std::string(page.substr(0, 80));
    const std::string_view tag = page.substr(1, end - 1);
    page.remove_prefix(end + 1);
    const bool closes = tag.starts_with('/');
    const std::string name(
        tag.substr(closes ? 1 : 0, tag.find_first_of(" /", 1) - (closes ? 1 : 0)));
    if (name.empty()) return "an empty tag";
    if (closes) {
      if (open.empty() || open.back() != name) return "</" + name + "> closes another tag";
      open.pop_back();
    } else if (!tag.ends_with('/')) {
      open.push_back(name);
    }
  }
  return open.empty() ? std::string() : "<" + open.back() + "> is left open";
}

// Without the places where lines may break.
std::string unbroken(std::string page) {
  constexpr std::string_view kBreak = "<wbr/>";
  for (std::size_t at; (at = page.find(kBreak)) != std::string::npos;)
    page.erase(at, kBreak.size());
  return page;
}

RunRecord whole_record() {
  RunRecord record = assay::testing::make_record();
  record.environment.ceilings.push_back({"flops_f32", 1.1e11, "flop/s", 1, "", ""});
  record.environment.warnings = {"steal time 3 %"};
  ProblemRecord& problem = record.problems[0];
  problem.kernels.push_back(problem.kernels[0]);
  problem.kernels.back().id = "crashed";
  problem.kernels.back().name = "skinny.w16";
  problem.kernels.back().ending = ending::Crash{11, 0, "verify", "stack smashed"};
  problem.kernels[0].findings = {{"denormals_flushed", "bf16 dot products flush"}};
  record.problems[1].confirmations.clear();
  record.problems[1].no_winner = "no finalist survived its confirmation";
  return record;
}

TEST(RunReportTest, ThePageHoldsAllThatTheRecordSays) {
  const std::string written = run_html(whole_record(), {"runs/0412/record.json"});
  EXPECT_EQ(malformed(written), "");
  const std::string page = unbroken(written);
  for (const char* said :
       {"assay: sweep decode", "m1_qkv", "mine/skinny", "1.100", "faster", "would show",
        "crashed while it was proven (SIGSEGV)", "denormals_flushed", "steal time 3 %",
        "divisibility", "k=100 is not a multiple of 8", "no finalist survived its confirmation",
        "Some CPU", "/usr/lib/libopenblas.so.0", "flops_f32", "assay sweep",
        "runs/0412/record.json", "native code ran in the process that timed it",
        "0000000000000000000000000000000000000000000000000000000000000011"})
    EXPECT_THAT(page, HasSubstr(said));
  const RunRecord record = whole_record();
  EXPECT_THAT(page, HasSubstr(record.problems[0].confirmations[0].processes[6].seed_commitment));
  EXPECT_THAT(page, Not(HasSubstr("{{")));
}

TEST(RunReportTest, ASignThatIsAnotherOneUnderAnotherConditionIsMarked) {
  const RunRecord record = testing::make_record();
  const auto isolated = [](double us_of_mine) {
    using testing::SampleKernel;
    RunRecord run = testing::make_record({testing::make_problem(
        "m1_qkv", {SampleKernel{"mine", "skinny", KernelRole::ours, us_of_mine, 64},
                   SampleKernel{"openblas", "gemm", KernelRole::stock, 10, 0}})});
    run.problems[0].condition.spacing = "isolated";
    return run;
  };
  const auto shown = [&](const RunRecord& beside) {
    return run_markdown(record, {"", std::span(&beside, 1)});
  };
  const std::string flipped = shown(isolated(11));
  EXPECT_THAT(flipped, HasSubstr("1 of 1 signs are another one there"));
  EXPECT_THAT(flipped, HasSubstr("| flips |"));
  EXPECT_THAT(flipped, HasSubstr("isolated"));
  EXPECT_THAT(shown(isolated(9)), HasSubstr("No sign is another one there"));
  EXPECT_THAT(shown(isolated(9)), HasSubstr("| the same |"));
  EXPECT_THAT(shown(isolated(10)), HasSubstr("| open |"));
  EXPECT_THAT(shown(record), HasSubstr("No run given beside this one"))
      << "the same condition is no other one";
  RunRecord without = isolated(11);
  without.problems[0].confirmations[0].finalists.pop_back();
  EXPECT_THAT(shown(without), HasSubstr("No run given beside this one"));
  EXPECT_THAT(run_markdown(record), Not(HasSubstr("Under other conditions")));
  const RunRecord beside = isolated(11);
  EXPECT_EQ(malformed(run_html(record, {"", std::span(&beside, 1)})), "");
}

TEST(RunReportTest, ThePageNeedsNothingBesideIt) {
  RunRecord record = whole_record();
  record.environment.device.name = "https://example.com/x.js";
  const std::string page = run_html(record);
  for (const char* reaches :
       {"<script", "<link", "<img", "<iframe", "<object", "src=", "@import", "url("})
    EXPECT_THAT(page, Not(HasSubstr(reaches)));
  // Every reference is to a place in the page.
  for (std::size_t at = 0; (at = page.find("href=", at)) != std::string::npos; ++at)
    EXPECT_EQ(page.substr(at, 7), "href=\"#");
}

TEST(RunReportTest, LightAndDark) {
  EXPECT_THAT(run_html(whole_record()), HasSubstr("prefers-color-scheme: dark"));
}

TEST(RunReportTest, EveryShapeHasItsBarWithItsInterval) {
  const std::string page = run_html(whole_record());
  EXPECT_THAT(page, HasSubstr("aria-label=\"m1_qkv: 1.100 [1.099 1.101] faster\""));
  EXPECT_THAT(page, HasSubstr("class=\"bar good\""));
  EXPECT_THAT(page, HasSubstr("class=\"bar bad\""));
  EXPECT_THAT(page, HasSubstr("Without an interval: m4_up."));
}

TEST(RunReportTest, TheRooflineHasCeilingsAndMarks) {
  const std::string page = run_html(whole_record());
  EXPECT_THAT(page, HasSubstr("read 343 GB/s"));
  EXPECT_THAT(page, HasSubstr("flops_f32 110 GFLOP/s"));
  EXPECT_THAT(page, HasSubstr("class=\"mark ours winner\""));
  EXPECT_THAT(page, HasSubstr("class=\"mark stock\""));
}

TEST(RunReportTest, NamesOfCeilingsThatNearlyTouchStandSideBySide) {
  const auto places = [](double second) {
    RunRecord record = whole_record();
    record.environment.ceilings.push_back({"flops_f64", second, "flop/s", 1, "", ""});
    std::string& key = record.problems[0].key;
    key.replace(key.find("a=f32"), 5, "a=f64");
    const std::string page = run_html(record);
    const std::string name = "class=\"roof-name\" x=\"";
    std::vector<std::string> found;
    for (size_t at = page.find(name); at != std::string::npos; at = page.find(name, at + 1))
      found.push_back(page.substr(at + name.size(), 7));
    return found;
  };
  EXPECT_THAT(places(1.05e11), ::testing::ElementsAre("100.00%", "70.00%\""));
  EXPECT_THAT(places(1e9), ::testing::ElementsAre("100.00%", "100.00%"));
}

TEST(RunReportTest, OnlyCeilingsOfTypesThatRacedAreDrawn) {
  RunRecord record = whole_record();
  record.environment.ceilings.push_back({"flops_f64", 1e9, "flop/s", 1, "", ""});
  EXPECT_THAT(run_html(record), Not(HasSubstr("flops_f64 1.00 GFLOP/s</text>")));
}

TEST(RunReportTest, WhatWasPartlyCachedStandsOnTheRoof) {
  RunRecord record = whole_record();
  EXPECT_THAT(run_html(record), HasSubstr(", above the roof"));
  for (Ceiling& ceiling : record.environment.ceilings) ceiling.value *= 100;
  EXPECT_THAT(run_html(record), Not(HasSubstr(", above the roof")));
}

// Text of users, with what each way of writing must not let through.
constexpr const char* kHostile =
    "<script>alert(1)</script>\"'&amp;]]>--> {{style}} [x](javascript:y) \x1b[2J\u202e\u2066|`*";

RunRecord hostile_record() {
  RunRecord record = whole_record();
  const std::string text = kHostile;
  record.id = record.kind = record.options.suite = record.created = text;
  record.trust_reason = record.options.filter = text;
  record.command_line = {"assay", "sweep", text, "```\n</pre>"};
  record.findings = {{text, text}};
  record.environment.device = {text, text, text, {{text, text}}};
  record.environment.libraries = {{text, text, text, text}};
  record.environment.warnings = {text};
  record.environment.ceilings[0].name = text;
  for (ProblemRecord& problem : record.problems) {
    problem.name += text;
    problem.no_winner = text;
    problem.refusals[text] = {3, text};
    for (KernelOutcome& kernel : problem.kernels) {
      kernel.name = kernel.provider = text;
      kernel.findings = {{text, text}};
    }
  }
  record.problems[2].kernels.back().ending = ending::Mismatch{text};
  return record;
}

TEST(RunReportTest, HostileTextStaysText) {
  const std::string page = run_html(hostile_record(), {kHostile});
  EXPECT_EQ(malformed(page), "");
  EXPECT_THAT(page, Not(HasSubstr("<script")));
  EXPECT_THAT(page, HasSubstr("&lt;script&gt;alert(1)"));
  EXPECT_THAT(page, HasSubstr("{{style}}")) << "a slot's name in a value is text";
  RunRecord without_code = hostile_record();  // Where it stands as it is, behind a fence.
  without_code.command_line = {"assay"};
  const std::string markdown = run_markdown(without_code, {kHostile});
  EXPECT_THAT(markdown, HasSubstr("\\<script"));
  EXPECT_THAT(markdown, Not(HasSubstr("[x](")));
  const std::string csv = sweep_csv(hostile_record());
  for (const std::string& text : {page, markdown, csv}) {
    EXPECT_THAT(text, Not(HasSubstr("\x1b")));
    EXPECT_THAT(text, Not(HasSubstr("\u202e")));
    EXPECT_THAT(text, Not(HasSubstr("\u2066")));
  }
}

TEST(RunReportTest, CellsOfACsvAreNoFormulas) {
  RunRecord record = whole_record();
  record.problems[1].no_winner = "=HYPERLINK(\"http://x\")";
  EXPECT_THAT(sweep_csv(record), HasSubstr("\"'=HYPERLINK("));
}

TEST(RunReportTest, MarkdownHoldsTheSameSections) {
  const std::string text = run_markdown(whole_record(), {"runs/0412/record.json"});
  EXPECT_TRUE(text.starts_with("# assay report: sweep decode\n"));
  EXPECT_THAT(text, HasSubstr("| shape | role | kernel | us | rate | of ceiling | err | verdict |\n"
                              "|---|---|---|---:|---:|---|---:|---|\n"));
  EXPECT_THAT(text, HasSubstr("| m1\\_qkv | winner | mine/skinny | 9.09 | 233 GB/s | 68 % read | "
                              "0.31 | faster than best stock 1.100 [1.099 1.101] |\n"));
  for (const char* section :
       {"## Every interval", "## How every kernel ended", "## Refusals by reason", "## Findings",
        "## Environment", "## Evidence", "```\nassay sweep\n```"})
    EXPECT_THAT(text, HasSubstr(section));
}

TEST(RunReportTest, ReportsAreKnownAgain) {
  EXPECT_TRUE(is_report(run_html(whole_record())));
  EXPECT_TRUE(is_report(run_markdown(whole_record())));
  EXPECT_TRUE(is_report(sweep_csv(whole_record())));
  EXPECT_FALSE(is_report("my notes"));
  EXPECT_FALSE(is_report(""));
}

TEST(RunReportTest, ARunWithoutAnythingIsAReportToo) {
  const RunRecord nothing;
  EXPECT_EQ(malformed(run_html(nothing)), "");
  EXPECT_THAT(run_html(nothing), HasSubstr("this run makes no claim"));
  EXPECT_FALSE(run_markdown(nothing).empty());
}

TEST(RunReportTest, OfVeryManyKernelsTheSlowestAreCounted) {
  RunRecord record = whole_record();
  ProblemRecord& problem = record.problems[0];
  while (problem.kernels.size() < 1000) {
    problem.kernels.push_back(problem.kernels[0]);
    problem.kernels.back().id = fmt::format("more{}", problem.kernels.size());
  }
  const std::string page = run_html(record);
  EXPECT_THAT(page, HasSubstr("600 slower ones are not shown"));
  EXPECT_THAT(page, HasSubstr("crashed while it was proven")) << "what fell is never left out";
}

// Every field of a record set to something else that a record may hold, one after the other.
class Mutator {
 public:
  explicit Mutator(std::uint64_t seed) : random_(seed) {}

  void mutate(Json& value) {
    std::vector<Json*> all;
    collect(value, all);
    for (int edits = 1 + static_cast<int>(random_() % 4); edits > 0; --edits)
      change(*all[random_() % all.size()]);
  }

 private:
  static void collect(Json& value, std::vector<Json*>& all) {
    if (value.is_structured()) {
      for (Json& item : value) collect(item, all);
    } else {
      all.push_back(&value);
    }
  }

  void change(Json& value) {
    static const double kNumbers[] = {0, 1e-300, 0.5, 1, 1e300, 3, 7e8};
    if (value.is_number_integer())
      value =
          static_cast<std::int64_t>(kNumbers[random_() % 7] < 1e6 ? kNumbers[random_() % 4] : 9);
    else if (value.is_number_float())
      value = kNumbers[random_() % 7];
    else if (value.is_string())
      value = random_() % 2 == 0 ? std::string() : std::string(kHostile);
    else
      value = nullptr;
  }

  std::mt19937_64 random_;
};

TEST(RunReportTest, EveryRecordThatReadsCanBeShown) {
  const Json whole = to_json(hostile_record()), plain = to_json(whole_record());
  int shown = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    Json json = seed % 4 == 0 ? whole : plain;
    Mutator(seed).mutate(json);
    const auto document = parse_json_document(canonical(json), "record.json");
    ASSERT_TRUE(document.has_value());
    const auto record = read_record(*document);
    if (!record) continue;
    ++shown;
    EXPECT_EQ(malformed(run_html(*record)), "") << "seed " << seed;
    EXPECT_FALSE(run_markdown(*record).empty());
    EXPECT_FALSE(sweep_csv(*record).empty());
    EXPECT_FALSE(
        sweep_text(*record, {.style = {}, .only = {}, .record_path = {}, .next = {}, .why = true})
            .empty());
  }
  EXPECT_GT(shown, 100) << "most mutations must leave a record";
}

TEST(DocumentTest, LinesBreakBetweenWordsOfANameAndWithinLongRuns) {
  EXPECT_EQ(html_breakable("a_b/c d"), "a_<wbr/>b/<wbr/>c d");
  EXPECT_EQ(html_breakable("0123456789abcdef0123"), "0123456789abcdef<wbr/>0123");
  EXPECT_EQ(html_breakable("x_"), "x_");
  EXPECT_EQ(html_breakable("<_&"), "&lt;_<wbr/>&amp;");
  const std::string wide = "\u884c\u5217\u884c\u5217\u884c\u5217\u884c\u5217";
  EXPECT_EQ(unbroken(html_breakable(wide)), wide);
  EXPECT_EQ(html_breakable(wide).find("<wbr/>") % 3, 0u) << "never within a character";
}

TEST(DocumentTest, SlotsAreFilledOnce) {
  const Slot slots[] = {{"a", "{{b}}"}, {"b", "two"}};
  EXPECT_EQ(fill("1 {{a}} {{b}} {{c}} {{", slots), "1 {{b}} two  {{");
}

TEST(LogAxisTest, PlacesAndTicks) {
  const LogAxis axis(0.1, 10);
  EXPECT_NEAR(axis.percent_of(1), 50, 1e-9);
  EXPECT_EQ(axis.percent_of(0.01), 0);
  EXPECT_EQ(axis.percent_of(1e9), 100);
  EXPECT_EQ(axis.ticks({1, 1.05, 5, 20}, 10), (std::vector<double>{1, 5}));
}

}  // namespace
}  // namespace assay::report
