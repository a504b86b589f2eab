// What one word of a command line, a config or a file says: targets, conditions, quantities,
// types, flags for compilers.

#include <cmath>

#include "assay/device/target.h"
#include "assay/measure/condition.h"
#include "assay/stats/verdict.h"
#include "cli/flags/quantities.h"
#include "providers/cpp_source/flags.h"
#include "providers/cuda_source/flags.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/samples.h"

namespace assay {
namespace {

void target(std::string_view text) {
  fuzz::is_read(Target::parse_known(text));
  const auto read = Target::parse(text);
  if (!fuzz::is_read(read)) return;
  const auto again = Target::parse(read->to_string());
  if (fuzz::is_read_again(again)) fuzz::expect(*again == *read, "a target changes");
  fuzz::expect(read->covers(*read), "a target does not cover itself");
}

void condition(std::string_view text) {
  for (const measure::Place place : {measure::Place::cpu, measure::Place::gpu}) {
    const auto asked = measure::parse_condition(text, place);
    if (!fuzz::is_read(asked)) continue;
    const auto made = measure::condition_for(fuzz::sample_problem(), *asked);
    const auto again = measure::condition_from_json(measure::to_json(made));
    if (fuzz::is_read_again(again)) fuzz::expect(*again == made, "a condition changes");
  }
}

void quantities(const std::string& text) {
  const auto sane = [](const Result<double>& number) {
    if (fuzz::is_read(number))
      fuzz::expect(std::isfinite(*number) && *number >= 0, "a quantity that is none");
  };
  sane(cli::parse_fraction(text, "--flag"));
  sane(cli::parse_seconds(text, "--flag"));
  if (const auto size = cli::parse_bytes(text, "--flag"); fuzz::is_read(size))
    fuzz::expect(*size >= 0, "a size below zero");
  if (const auto named = cli::parse_named_fraction(text, "--flag"); fuzz::is_read(named))
    sane(named->second);
}

// No flag that is taken names a file to run or write, or takes the next one as its value.
void compiler_flags(std::string_view text) {
  constexpr std::string_view kNever[] = {"-o",  "-x",       "-B",       "-fplugin", "-wrapper",
                                         "-Wl", "-Wa",      "-Wp",      "-specs",   "--specs",
                                         "@",   "-imacros", "-include", "-save",    "-Xclang"};
  for (const auto& taken : {cpp_source::check_flag(text), cuda_source::check_flag(text)}) {
    if (!taken) {
      fuzz::expect_readable(taken.error());
      continue;
    }
    fuzz::expect(text.starts_with('-') && text.find('\0') == std::string_view::npos,
                 "a word that is no flag passes as one");
    for (const std::string_view never : kNever)
      fuzz::expect(!text.starts_with(never), "a flag passes that runs code or names files");
  }
}

}  // namespace

ASSAY_FUZZ_TARGET(words) {
  target(bytes);
  condition(bytes);
  quantities(std::string(bytes));
  compiler_flags(bytes);
  fuzz::is_read(parse_dtype(bytes));
  fuzz::is_read(stats::parse_word(bytes));
}

}  // namespace assay
