#include "cli/load/result_flags.h"

#include <array>
#include <filesystem>

#include "assay/base/file.h"
#include "assay/base/text.h"
#include "cli/flags/number.h"

namespace assay::cli {
namespace {

// What vLLM calls them, and what we do.
constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kFigures = {
    {{"ttft", "ttft_ms"}, {"tpot", "tpot_ms"}, {"itl", "itl_gap_ms"}, {"e2el", "e2e_ms"}}};

}  // namespace

void ResultFlags::declare(Flags& app) {
  app.set_group(FlagGroup::measuring);
  app.add_option("--metric-percentiles", percents_, "Further percentiles of latencies: 75,99.9")
      .type_name("PERCENT,...");
  app.add_option("--percentile-metrics", figures_,
                 "Which latencies have those: ttft,tpot,itl,e2el, or our keys (default: all)")
      .type_name("NAME,...");
  app.set_group(FlagGroup::output);
  app.add_option("--metadata", metadata_, "A text that the record has as well")
      .type_name("NAME=TEXT")
      .several_words(true);
  app.add_option("--result-filename", file_, "Gets the record, too, below --output-dir if given")
      .type_name("FILE");
  app.add_flag("--append-result", appends_, "Add the record to that file, as one line");
}

Result<Json> ResultFlags::metadata() const {
  Json all = Json::object();
  for (const std::string& text : metadata_) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0)
      return fail(ErrorCode::invalid_input, "--metadata {}: write NAME=TEXT", sanitize(text, 100));
    all[sanitize(text.substr(0, equals), 100)] = sanitize(text.substr(equals + 1), 1000);
  }
  return all;
}

Result<load::Percentiles> ResultFlags::percentiles() const {
  load::Percentiles all;
  if (percents_.empty() && !figures_.empty())
    return fail(ErrorCode::invalid_input,
                "--percentile-metrics says which latencies: give --metric-percentiles as well");
  if (percents_.empty()) return all;
  for (const std::string_view text : split(percents_, ',')) {
    ASSAY_TRY(const double percent,
              parse_number(std::string(trim(text)), "--metric-percentiles", 0, 100));
    all.percents.push_back(percent);
  }
  if (figures_.empty()) return all;
  for (const std::string_view text : split(figures_, ',')) {
    const std::string_view name = trim(text);
    const auto* known = std::ranges::find(kFigures, name, [](auto& each) { return each.first; });
    const std::string key(known == kFigures.end() ? name : known->second);
    if (!key.ends_with("_ms"))
      return fail(ErrorCode::invalid_input,
                  "--percentile-metrics {}: write ttft, tpot, itl, e2el or a key such as ttfo_ms",
                  sanitize(name, 60));
    all.keys.push_back(key);
  }
  return all;
}

Status ResultFlags::check() const {
  if (appends_ && file_.empty())
    return fail(ErrorCode::invalid_input, "--append-result needs --result-filename to add to");
  ASSAY_TRY(metadata());
  ASSAY_TRY(percentiles());
  return {};
}

Status ResultFlags::write(const Json& record, const std::string& output_dir) const {
  if (file_.empty()) return {};
  const std::string path = (std::filesystem::path(output_dir) / file_).string();
  if (!appends_) return write_file_atomic(path, dump_pretty(record));
  ASSAY_TRY(AppendFile file, AppendFile::open(path, false));
  return file.append_line(canonical(record));
}

}  // namespace assay::cli
