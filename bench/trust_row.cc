// Attackers beside their honest twin and a stock kernel, and honest kernels beside stock ones, with
// nobody looking: who is caught, who is flagged, and what becomes of their rivals.

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "assay/base/clock.h"
#include "assay/base/file.h"
#include "assay/base/random.h"
#include "assay/base/version.h"
#include "assay/record/doubts.h"
#include "assay/stats/interval.h"
#include "bench/runs.h"
#include "bench/trust_log.h"

namespace assay::bench {
namespace {

constexpr double kSeconds = 1.5;              // Of timing, for each race.
constexpr size_t kHonestInARace = 8;          // So many processes are a company.
constexpr const char* kRaceFolder = "trust";  // Of each race in turn.
constexpr int kRoundsOfSeeds = 1000003;       // So that no two seeds share a shape.

const std::string kFolder = std::string(ASSAY_TESTS_FOLDER) + "/";

Result<std::vector<std::string>> names_in(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& file : std::filesystem::directory_iterator(kFolder + folder, error))
    if (file.path().extension() == ".cc") names.push_back(file.path().stem().string());
  if (error || names.empty())
    return fail(ErrorCode::missing, "there are no kernels in '{}{}'", kFolder, folder);
  std::ranges::sort(names);
  return names;
}

// Within the sizes for which attackers have made ready, and never the one that they know.
gemm::Shape shape_for(int seed, size_t index) {
  const CounterRandom random{static_cast<uint64_t>(seed), kRoundsOfSeeds};
  const auto between = [&](uint64_t which, int64_t least, int64_t most) {
    return least + static_cast<int64_t>(
                       random.below(3 * index + which, static_cast<uint64_t>(most - least + 1)));
  };
  return {.m = between(0, 4, 12),
          .n = between(1, 48, 160),
          .k = between(2, 96, 320),
          .layout = "tt",
          .constant = {"b"}};
}

std::string text_of(const gemm::Shape& shape) {
  return fmt::format("m={},n={},k={}", shape.m, shape.n, shape.k);
}

Result<RunRecord> race(const Context& context, const std::string& name,
                       const std::vector<std::string>& files, const gemm::Shape& shape) {
  sweep::Request request = make_request(context, name, {"cpp_source", "libxsmm", "openblas"});
  request.pool.filter = "provider == 'cpp_source' or default == true";
  ASSAY_TRY(request.pool.kernels, read_sources(files));
  request.effort.exhaustive = true;
  request.effort.budget_seconds = kSeconds;
  request.limits.trial_seconds = 10;
  request.effort.most_processes = request.effort.processes;
  ASSAY_TRY(request.question.problems.emplace_back(), gemm::problem(shape));
  return run(request);
}

const KernelOutcome* find_family(const ProblemRecord& problem, const std::string& family) {
  for (const KernelOutcome& kernel : problem.kernels)
    if (kernel.provider == "cpp_source" && kernel.metadata.member("family") == family)
      return &kernel;
  return nullptr;
}

std::vector<const KernelOutcome*> stock_of(const ProblemRecord& problem) {
  std::vector<const KernelOutcome*> stock;
  for (const KernelOutcome& kernel : problem.kernels)
    if (kernel.role == KernelRole::stock) stock.push_back(&kernel);
  return stock;
}

// What the record says of one kernel, but for words.
TrustLine line_of(const ProblemRecord& problem, const KernelOutcome* kernel) {
  TrustLine line;
  line.ending = kernel == nullptr ? "missing" : std::string(ending_name(kernel->ending));
  line.revision = build_info().revision;
  if (kernel == nullptr) return line;
  line.sentence = ending_sentence(kernel->ending);
  for (const Finding& finding : kernel->findings) line.findings.push_back(finding.code);
  for (const Finding& finding : problem.findings) line.findings.push_back(finding.code);
  return line;
}

void say_words(TrustLine& line, const RunRecord& record, const std::string& kernel,
               const std::string& other) {
  const auto pair = judge_pair(record.problems[0], record.options, kernel, other);
  if (!pair || !pair->verdict.has_interval()) return;
  line.word = stats::to_string(pair->verdict.word);
  line.ratio = pair->verdict.ratio;
}

// Of a rival, beside the one company and beside the other: process by process.
std::optional<double> slowed_more(const ProblemRecord& beside, const ProblemRecord& twins,
                                  const std::string& id) {
  if (beside.decisive() == nullptr || twins.decisive() == nullptr) return std::nullopt;
  const auto first = slowdowns(*beside.decisive(), id), second = slowdowns(*twins.decisive(), id);
  std::vector<double> differences;
  for (size_t i = 0; i < std::min(first.size(), second.size()); ++i)
    if (first[i] && second[i]) differences.push_back(*first[i] - *second[i]);
  const auto interval = stats::student_interval(differences);
  return interval ? std::optional(interval->low) : std::nullopt;
}

// Do what attackers do but for their attacks: the time of the faster one is what those have to
// beat. How code looks at its operands and where it lies moves its time by some percent.
const std::vector<std::string> kTwins = {"plain", "looking"};

std::vector<std::string> twin_files() {
  std::vector<std::string> files;
  for (const std::string& twin : kTwins) files.push_back(kFolder + "attacks/twins/" + twin + ".cc");
  return files;
}

// The weakest word against a twin.
void say_word_against_twins(TrustLine& line, const RunRecord& record, const std::string& kernel) {
  std::optional<Pair> weakest;
  for (const std::string& name : kTwins) {
    const KernelOutcome* const twin = find_family(record.problems[0], name);
    if (twin == nullptr) continue;
    auto pair = judge_pair(record.problems[0], record.options, kernel, twin->id);
    if (pair && pair->verdict.has_interval() &&
        (!weakest || pair->verdict.ratio < weakest->verdict.ratio))
      weakest = std::move(pair);
  }
  if (!weakest) return;
  line.word = stats::to_string(weakest->verdict.word);
  line.ratio = weakest->verdict.ratio;
}

Result<TrustLine> race_attacker(const Context& context, const std::string& name,
                                const gemm::Shape& shape) {
  std::vector<std::string> files = twin_files();
  files.push_back(kFolder + "attacks/kernels/" + name + ".cc");
  ASSAY_TRY(const RunRecord record, race(context, kRaceFolder, files, shape));
  const ProblemRecord& problem = record.problems[0];
  const KernelOutcome* const kernel = find_family(problem, name.substr(3));
  TrustLine line = line_of(problem, kernel);
  if (kernel != nullptr) say_word_against_twins(line, record, kernel->id);
  std::optional<RunRecord> twins;
  if (line.ending == "timed") {
    files.back() = files.front();  // A twin in the attacker's place.
    ASSAY_TRY(twins, race(context, "trust_twins", files, shape));
  }
  for (const KernelOutcome& rival : problem.kernels) {
    if (&rival == kernel) continue;
    const bool is_stock = rival.role == KernelRole::stock;
    line.rivals.push_back(
        {rival.label(), std::string(ending_name(rival.ending)),
         twins && is_stock ? slowed_more(problem, twins->problems[0], rival.id) : std::nullopt});
  }
  return line;
}

Result<std::vector<TrustLine>> race_honest(const Context& context,
                                           const std::vector<std::string>& names,
                                           const gemm::Shape& shape) {
  std::vector<std::string> files;
  for (const std::string& name : names) files.push_back(kFolder + "attacks/honest/" + name + ".cc");
  ASSAY_TRY(const RunRecord record, race(context, kRaceFolder, files, shape));
  const ProblemRecord& problem = record.problems[0];
  const auto stock = stock_of(problem);
  std::vector<TrustLine> lines;
  for (const std::string& name : names) {
    const KernelOutcome* const kernel = find_family(problem, name);
    TrustLine line = line_of(problem, kernel);
    if (kernel != nullptr && !stock.empty()) say_words(line, record, kernel->id, stock[0]->id);
    if (stock.size() > 1) {
      TrustLine among;
      say_words(among, record, stock[1]->id, stock[0]->id);
      line.stock_word = among.word;
    }
    for (const KernelOutcome* const rival : stock)
      line.rivals.push_back({rival->label(), std::string(ending_name(rival->ending)), {}});
    lines.push_back(std::move(line));
  }
  return lines;
}

// Kernels that are raced together: one attacker, or several honest ones.
struct Race {
  int seed = 0;
  bool attackers = false;
  std::vector<std::string> names;
  gemm::Shape shape;
};

void add_races(std::vector<Race>& races, int seed, bool attackers,
               const std::vector<std::string>& names) {
  const size_t size = attackers ? 1 : kHonestInARace;
  for (size_t i = 0; i < names.size(); i += size) {
    const auto first = names.begin() + static_cast<int64_t>(i);
    const auto last = names.begin() + static_cast<int64_t>(std::min(i + size, names.size()));
    races.push_back({seed, attackers, {first, last}, shape_for(seed, attackers ? i : 1000 + i)});
  }
}

// The record of a race whose word is wrong outlives the next race, which takes its folder.
Status keep_if_wrong(const Context& context, const TrustLine& line) {
  const bool wrong = line.attacker ? caught_by(line).empty() : !flagged_by(line).empty();
  if (!wrong) return {};
  const auto kept = context.folder / fmt::format("kept_{}_seed_{}.json", line.kernel, line.seed);
  std::error_code error;
  std::filesystem::copy_file(context.folder / kRaceFolder / "record.json", kept,
                             std::filesystem::copy_options::overwrite_existing, error);
  if (error)
    return fail(ErrorCode::machine, "cannot copy a record to '{}': {}", kept.string(),
                error.message());
  return {};
}

Result<std::vector<TrustLine>> lines_of(const Context& context, const Race& one) {
  const int64_t start = monotonic_ns();
  std::vector<TrustLine> lines;
  if (one.attackers) {
    ASSAY_TRY(lines.emplace_back(), race_attacker(context, one.names[0], one.shape));
  } else {
    ASSAY_TRY(lines, race_honest(context, one.names, one.shape));
  }
  const double seconds = static_cast<double>(monotonic_ns() - start) * 1e-9;
  for (size_t i = 0; i < lines.size(); ++i) {
    lines[i].seed = one.seed;
    lines[i].attacker = one.attackers;
    lines[i].kernel = one.names[i];
    lines[i].shape = text_of(one.shape);
    lines[i].seconds = seconds / static_cast<double>(lines.size());
    ASSAY_TRY(keep_if_wrong(context, lines[i]));
  }
  return lines;
}

}  // namespace

Result<std::vector<Row>> measure_trust(const Context& context) {
  ASSAY_TRY(const auto attackers, names_in("attacks/kernels"));
  ASSAY_TRY(const auto honest, names_in("attacks/honest"));
  std::vector<Race> races;
  for (int seed = context.trust_seeds.first; seed <= context.trust_seeds.second; ++seed) {
    add_races(races, seed, true, attackers);
    add_races(races, seed, false, honest);
  }
  const std::string path = context.trust_log.string();
  ASSAY_TRY(auto lines, read_trust_log(path));
  ASSAY_TRY(auto log, AppendFile::open(path, true));
  std::set<std::pair<int, std::string>> known;
  for (const TrustLine& line : lines) known.emplace(line.seed, line.kernel);
  const auto [share, shares] = context.trust_share;
  for (size_t i = static_cast<size_t>(share) - 1; i < races.size();
       i += static_cast<size_t>(shares)) {
    const Race& one = races[i];
    const auto is_known = [&](const std::string& name) { return known.contains({one.seed, name}); };
    if (std::ranges::all_of(one.names, is_known)) continue;
    ASSAY_TRY(const auto found, lines_of(context, one));
    for (const TrustLine& line : found) {
      ASSAY_TRY(log.append_line(to_json(line).dump()));
      lines.push_back(line);
    }
  }
  return trust_rows(lines);
}

}  // namespace assay::bench
