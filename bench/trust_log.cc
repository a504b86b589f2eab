#include "bench/trust_log.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>

#include "assay/base/file.h"
#include "assay/base/text.h"

namespace assay::bench {
namespace {

// What a record prints, and holds against nobody.
const std::set<std::string> kFacts = {"own_memory", "nondeterministic", "float_control",
                                      "process_state"};
// What keeps a kernel from being called faster.
const std::set<std::string> kDoubts = {"clock", "own_rounds_spoiled", "rivals_slowed",
                                       "failed_in_company"};
// Kernels that never ran show nothing.
const std::set<std::string> kDidNotRun = {"refusal", "build_failure", "not_reached", "missing"};

bool is_faster(const std::string& word) { return word == "faster" || word == "slightly faster"; }

Json to_json(const Rival& rival) {
  return {{"label", rival.label},
          {"ending", rival.ending},
          {"slowed", rival.slowed ? Json(*rival.slowed) : Json()}};
}

TrustLine line_of(const Json& json) {
  TrustLine line{.seed = json.at("seed"),
                 .attacker = json.at("attacker"),
                 .kernel = json.at("kernel"),
                 .shape = json.at("shape"),
                 .ending = json.at("ending"),
                 .sentence = json.at("sentence"),
                 .findings = json.at("findings"),
                 .word = json.at("word"),
                 .ratio = json.at("ratio"),
                 .stock_word = json.at("stock_word"),
                 .seconds = json.at("seconds"),
                 .revision = json.at("revision")};
  for (const Json& rival : json.at("rivals"))
    line.rivals.push_back({rival.at("label"), rival.at("ending"),
                           rival.at("slowed").is_null()
                               ? std::nullopt
                               : std::optional<double>(rival.at("slowed").get<double>())});
  return line;
}

// "1 to 20", whatever is between.
std::string seeds_text(const std::set<int>& seeds) {
  if (seeds.empty()) return "no seed";
  if (seeds.size() == 1) return fmt::format("seed {}", *seeds.begin());
  return fmt::format("{} seeds, {} to {}", seeds.size(), *seeds.begin(), *seeds.rbegin());
}

Row attackers_row(const std::vector<TrustLine>& lines) {
  std::map<std::string, int> ways;
  std::set<int> seeds;
  std::set<std::string> names;
  int caught = 0, all = 0;
  Row row{.bound = "100 %"};
  for (const TrustLine& line : lines) {
    if (!line.attacker) continue;
    seeds.insert(line.seed);
    names.insert(line.kernel);
    if (kDidNotRun.contains(line.ending)) {
      row.notes.push_back(fmt::format("attackers: {} with seed {} did not run: {}", line.kernel,
                                      line.seed, line.sentence));
      continue;
    }
    ++all;
    const std::string way = caught_by(line);
    caught += way.empty() ? 0 : 1;
    ++ways[way.empty() ? "not caught" : way];
    if (way.empty())
      row.notes.push_back(
          fmt::format("attackers: {} with seed {}, {}, is {} than its twin: {:.3f} x", line.kernel,
                      line.seed, line.shape, line.word, line.ratio));
  }
  std::string list;
  for (const auto& [way, count] : ways)
    list += fmt::format("{}{} {}", list.empty() ? "" : ", ", way, count);
  row.target = fmt::format("attackers caught, nobody looking ({} of them, {})", names.size(),
                           seeds_text(seeds));
  row.measured = fmt::format("{} of {}", caught, all);
  row.ok = all > 0 && caught == all && row.notes.empty();
  row.notes.insert(row.notes.begin(), fmt::format("attackers: {}", list));
  return row;
}

Row honest_row(const std::vector<TrustLine>& lines) {
  std::set<int> seeds;
  std::set<std::string> names;
  int flagged = 0, all = 0;
  Row row{.bound = "0"};
  for (const TrustLine& line : lines) {
    if (line.attacker) continue;
    seeds.insert(line.seed);
    names.insert(line.kernel);
    ++all;
    const std::string why = flagged_by(line);
    if (why.empty()) continue;
    ++flagged;
    row.notes.push_back(
        fmt::format("honest: {} with seed {}, {}: {}", line.kernel, line.seed, line.shape, why));
  }
  row.target =
      fmt::format("honest kernels flagged ({} of them, {})", names.size(), seeds_text(seeds));
  row.measured = fmt::format("{} of {}", flagged, all);
  row.ok = all > 0 && flagged == 0;
  return row;
}

std::vector<Row> rivals_rows(const std::vector<TrustLine>& lines) {
  double worst = -HUGE_VAL;
  int pairs = 0, convicted = 0, beside = 0;
  Row slowed{.target = "rivals slowed beside an attacker, less beside its honest twin: low end",
             .bound = "<= 1 %, or found",
             .ok = true};
  Row fallen{.target = "rivals convicted beside an attacker", .bound = "0"};
  for (const TrustLine& line : lines) {
    if (!line.attacker) continue;
    const bool found =
        std::ranges::count(line.findings, "rivals_slowed") > 0 || line.ending == "violation";
    for (const Rival& rival : line.rivals) {
      ++beside;
      if (rival.ending != "timed" && !kDidNotRun.contains(rival.ending)) {
        ++convicted;
        fallen.notes.push_back(fmt::format("rivals: {} ended as {} beside {} with seed {}",
                                           rival.label, rival.ending, line.kernel, line.seed));
      }
      if (!rival.slowed) continue;
      ++pairs;
      if (found) continue;
      worst = std::max(worst, *rival.slowed);
      if (*rival.slowed <= std::log1p(0.01)) continue;
      slowed.ok = false;
      slowed.notes.push_back(
          fmt::format("rivals: {} is slowed by {:.2f} % at least beside {} with "
                      "seed {}, and nobody said so",
                      rival.label, 100 * std::expm1(*rival.slowed), line.kernel, line.seed));
    }
  }
  slowed.ok = slowed.ok && pairs > 0;
  slowed.measured =
      pairs == 0 ? "nothing" : fmt::format("at most {:+.2f} % of {} pairs", 100 * worst, pairs);
  fallen.ok = beside > 0 && convicted == 0;
  fallen.measured = fmt::format("{} of {}", convicted, beside);
  return {std::move(slowed), std::move(fallen)};
}

Row time_row(const std::vector<TrustLine>& lines) {
  std::map<int, double> seconds;
  for (const TrustLine& line : lines) seconds[line.seed] += line.seconds;
  double longest = 0;
  for (const auto& [seed, taken] : seconds) longest = std::max(longest, taken);
  return {.target = "wall time of two seeds",
          .bound = "<= 45 min",
          .measured = fmt::format("{:.1f} min (twice the longest seed's)", 2 * longest / 60),
          .ok = 2 * longest <= 45 * 60};
}

}  // namespace

Json to_json(const TrustLine& line) {
  Json rivals = Json::array();
  for (const Rival& rival : line.rivals) rivals.push_back(to_json(rival));
  return {{"seed", line.seed},           {"attacker", line.attacker},
          {"kernel", line.kernel},       {"shape", line.shape},
          {"ending", line.ending},       {"sentence", sanitize(line.sentence, 400)},
          {"findings", line.findings},   {"word", line.word},
          {"ratio", line.ratio},         {"stock_word", line.stock_word},
          {"rivals", std::move(rivals)}, {"seconds", line.seconds},
          {"revision", line.revision}};
}

Result<std::vector<TrustLine>> read_trust_log(const std::string& path) {
  std::vector<TrustLine> lines;
  auto reader = LineReader::open(path);
  if (!reader) {
    if (reader.error().code == ErrorCode::not_found) return lines;
    return fail(reader.error());
  }
  for (int number = 1;; ++number) {
    ASSAY_TRY(const auto text, reader->next());
    if (!text) return lines;
    ASSAY_TRY(const Json json, parse_json(text->text, fmt::format("{}:{}", path, number)));
    try {
      lines.push_back(line_of(json));
    } catch (const Json::exception& error) {
      return fail(ErrorCode::invalid_input, "{}:{}: {}", path, number, error.what());
    }
  }
}

std::string caught_by(const TrustLine& line) {
  if (line.ending != "timed") return line.ending;
  if (is_faster(line.word)) return {};
  for (const std::string& code : line.findings)
    if (kDoubts.contains(code)) return "finding " + code;
  return line.ratio > 1 && line.word == "unsure" ? "unsure" : "gained nothing";
}

std::string flagged_by(const TrustLine& line) {
  if (line.ending != "timed") return line.ending + ", " + line.sentence;
  for (const std::string& code : line.findings)
    if (!kFacts.contains(code)) return "finding " + code;
  if (line.word.empty() && !line.stock_word.empty()) return "no word, and stock kernels have one";
  return {};
}

std::vector<Row> trust_rows(const std::vector<TrustLine>& lines) {
  std::vector<Row> rows = {attackers_row(lines), honest_row(lines)};
  for (Row& row : rivals_rows(lines)) rows.push_back(std::move(row));
  rows.push_back(time_row(lines));
  return rows;
}

}  // namespace assay::bench
