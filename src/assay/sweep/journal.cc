#include "assay/sweep/journal.h"

#include <algorithm>
#include <limits>
#include <system_error>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "assay/base/checked_line.h"
#include "assay/base/clock.h"
#include "assay/base/hash.h"
#include "assay/base/text.h"

namespace assay::sweep {
namespace {

constexpr const char* kName = "journal.jsonl";
constexpr const char* kLock = ".lock";  // Held by whoever writes the journal.
constexpr std::string_view kSchema = "assay.journal/3";
// Without checksums, and the first one's lines of problems hold their kernels; all else is the
// same, so they can be gone on with.
constexpr std::string_view kEarlierSchemas[] = {"assay.journal/1", "assay.journal/2"};

// The one in whose order kernels were built where a header of a journal from before names none.
constexpr const char* kUnnamedRanker = "roofline";

// All in which two headers differ, in words: what only one of them has, too.
std::string difference(const Json& before, const Json& now) {
  std::string names;
  const auto add = [&](const std::string& key) { names += (names.empty() ? "" : ", ") + key; };
  for (const auto& [key, value] : now.items())
    if (!before.contains(key) || before[key] != value) add(key);
  for (const auto& [key, value] : before.items())
    if (!now.contains(key)) add(key);
  return names;
}

// Empty where there is no such text.
std::string text_in(const Json& line, const char* member) {
  if (!line.is_object() || !line.contains(member) || !line[member].is_string()) return {};
  return line[member].get<std::string>();
}
std::string kind_of(const Json& line) { return text_in(line, "line"); }
std::string schema_of(const Json& line) { return text_in(line, "schema"); }

// Lines of kernels, which the line that counts them makes durable.
bool belongs_to_next(std::string_view kind) { return kind == "outcome" || kind == "lap"; }

// Not "." or "..", and not the root.
bool can_be_renamed(const std::filesystem::path& folder) {
  const std::string name = folder.filename().string();
  return !name.empty() && name != "." && name != "..";
}

std::string set_aside_name(const std::filesystem::path& folder) {
  for (int n = 1;; ++n) {
    std::filesystem::path aside = folder;
    aside += fmt::format(".old{}", n);
    std::error_code ignored;
    if (!std::filesystem::exists(aside, ignored)) return aside.string();
  }
}

}  // namespace

Status Journal::check(const std::filesystem::path& folder, IfPresent if_present,
                      std::string_view kind) {
  const std::filesystem::path path = folder / kName;
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) return {};
  if (if_present == IfPresent::refuse)
    return fail(ErrorCode::invalid_input, "{}: a run is here already; {}", path.string(),
                kind == "sweep" ? "go on with it by --resume, or move it aside by --fresh"
                                : "name another folder, or leave --output-dir out");
  if (if_present == IfPresent::fresh && !can_be_renamed(folder))
    return fail(ErrorCode::invalid_input,
                "--fresh: the folder '{}' has no name by which it could be moved aside; call it "
                "by its name, or take another one",
                folder.string());
  return FileLock::try_lock((folder / kLock).string()).map([](const FileLock&) {});
}

Result<Journal> Journal::open(const std::filesystem::path& folder, const Json& header,
                              IfPresent if_present) {
  ASSAY_TRY(check(folder, if_present, header.value("kind", "sweep")));
  const std::filesystem::path path = folder / kName;
  std::error_code error;
  const bool present = std::filesystem::exists(path, error);
  std::vector<std::string> notes;
  if (present && if_present == IfPresent::fresh) {
    // Not while somebody is writing it.
    ASSAY_TRY(auto unused, FileLock::try_lock((folder / kLock).string()));
    const std::string aside = set_aside_name(folder);
    std::filesystem::rename(folder, aside, error);
    if (error)
      return fail(ErrorCode::machine, "{}: cannot be moved aside: {}", folder.string(),
                  error.message());
    notes.push_back(fmt::format("the run that was in {} is now in {}", folder.string(), aside));
  }
  if (!present && if_present == IfPresent::resume)
    notes.push_back(fmt::format("{} holds no run to resume: starting anew", folder.string()));
  ASSAY_TRY(make_directories(folder.string()));
  ASSAY_TRY(auto lock, FileLock::try_lock((folder / kLock).string()));

  ASSAY_TRY(auto file, AppendFile::open(path.string(), true));
  Journal journal(std::move(lock), std::move(file));
  journal.notes_ = std::move(notes);
  if (present && if_present == IfPresent::resume) ASSAY_TRY(journal.read_earlier(header));
  ASSAY_TRY(const uint64_t size, journal.file_.size());
  if (size == 0) {
    journal.began_.clear();
    ASSAY_TRY(journal.add({{"schema", kSchema},
                           {"began", utc_now_iso8601()},
                           {"hash", sha256_hex(canonical(header))},
                           {"asked", header}}));
    journal.holds_work_ = false;
  }
  return journal;
}

Status Journal::check_header(const Json& line, const Json& header) {
  const std::string schema = schema_of(line);
  const bool known = schema == kSchema || std::ranges::count(kEarlierSchemas, schema) > 0;
  if (!known || !line.contains("asked"))
    return fail(ErrorCode::invalid_input,
                "{}:1: not a journal of this version ({}); start anew by --fresh", file_.path(),
                kSchema);
  Json asked = line["asked"];
  if (asked.is_object() && !asked.contains("ranker") && header.contains("ranker"))
    asked["ranker"] = kUnnamedRanker;
  if (asked != header)
    return fail(ErrorCode::invalid_input,
                "{}: that run was asked for something else (it differs in: {}); resume with "
                "the same request, or start anew by --fresh",
                file_.path(), difference(asked, header));
  began_ = line.value("began", std::string());
  checked_ = schema == kSchema;
  return {};
}

Result<Json> Journal::read_line(std::string_view text, int number) const {
  ASSAY_TRY(Json line, parse_json(text, fmt::format("{}:{}", file_.path(), number)));
  const bool checked = number == 1 ? schema_of(line) == kSchema : checked_;
  if (checked && !has_its_check(text))
    return fail(ErrorCode::invalid_input, "it is not what its checksum was made of");
  return line;
}

// outcomes: where the kernels' lines just before this one begin.
Status Journal::place(const Json& line, uint64_t at, int number, std::vector<uint64_t>& outcomes) {
  const std::string kind = kind_of(line);
  if (kind == "kernel") places_[line.value("problem", "")].proofs.push_back(at);
  if (kind == "trust") {
    const auto grade = parse_trust_grade(line.value("grade", std::string()));
    Trust trust{grade.value_or(TrustGrade::unconfined_native), line.value("reason", std::string())};
    if (!earlier_trust_ || trust.grade > earlier_trust_->grade) earlier_trust_ = std::move(trust);
  }
  if (kind == "problem" || kind == "raced") {
    const bool finished = kind == "problem";
    const auto kernels = static_cast<size_t>(line.value("kernels", uint64_t{0}));
    if (!line.contains(finished ? "record" : "result") || kernels > outcomes.size())
      return fail(ErrorCode::machine,
                  "{}:{}: the journal lacks kernels of a problem; start anew by --fresh",
                  file_.path(), number);
    const uint64_t first = kernels == 0 ? at : outcomes[outcomes.size() - kernels];
    if (finished)
      places_[line["record"].value("name", "")].finished = first;
    else
      places_[line.value("problem", "")].raced = first;
  }
  if (belongs_to_next(kind))
    outcomes.push_back(at);
  else
    outcomes.clear();
  return {};
}

Status Journal::read_earlier(const Json& header) {
  ASSAY_TRY(auto reader, LineReader::open(file_.path()));
  std::vector<uint64_t> outcomes;
  struct Torn {
    uint64_t at;
    int number;
    std::string why;
    int lines = 0;  // Whole ones that we did not write so.
  };
  std::optional<Torn> torn;
  for (int number = 1;; ++number) {
    ASSAY_TRY(const auto line, reader.next());
    if (!line) break;
    const auto parsed =
        line->whole ? read_line(line->text, number) : fail(ErrorCode::invalid_input, "torn");
    if (!parsed || (torn && belongs_to_next(kind_of(*parsed)))) {
      if (!torn) torn = Torn{line->at, number, parsed.error().message};
      if (!parsed && line->whole) ++torn->lines;
      if (torn->lines < 2) continue;
    }
    // A crash tears what was not yet durable, which is the end: one line, or the lines of the
    // kernels of a problem whose own is still to come. More than that is no crash, and what is
    // behind it may be finished problems: nothing is cut.
    if (torn)
      return fail(ErrorCode::machine,
                  "{0}:{1}: the journal is damaged before its end ({2}); it was left as it is: "
                  "{3}--fresh moves the run aside and starts anew",
                  file_.path(), torn->number, torn->why,
                  torn->number == 1 ? ""
                                    : fmt::format("`head -n {} {}` is what came before, ",
                                                  torn->number - 1, file_.path()));
    // JSON, but not of the kind that we write.
    try {
      ASSAY_TRY(number == 1 ? check_header(*parsed, header)
                            : place(*parsed, line->at, number, outcomes));
    } catch (const Json::exception&) {
      return fail(ErrorCode::machine, "{}:{}: not a line of a journal; start anew by --fresh",
                  file_.path(), number);
    }
  }
  if (!earlier_trust_ && !places_.empty())
    earlier_trust_ =
        Trust{TrustGrade::unconfined_native,
              "the run that was resumed does not say how its native code was confined"};
  if (!torn) return {};
  notes_.push_back(fmt::format("{}:{}: cut off a torn last line", file_.path(), torn->number));
  return file_.truncate(torn->at);
}

Status Journal::add(const Json& line, AppendFile::Durable durable) {
  return file_.append_line(with_check(canonical(line)), durable);
}

void Journal::withdraw() {
  std::error_code ignored;
  if (!holds_work_) std::filesystem::remove(file_.path(), ignored);
}

Status Journal::add_commitment(const std::string& problem, const std::string& commitment) {
  holds_work_ = true;
  return add({{"line", "commit"}, {"problem", problem}, {"commitment", commitment}});
}

Status Journal::add_proof(const std::string& problem, const KernelOutcome& outcome,
                          double launch_ns) {
  holds_work_ = true;
  return add({{"line", "kernel"},
              {"problem", problem},
              {"id", outcome.id},
              {"launch_ns", launch_ns},
              {"outcome", to_json(outcome)}});
}

Status Journal::add_trust(const Trust& trust) {
  return add({{"line", "trust"}, {"grade", to_string(trust.grade)}, {"reason", trust.reason}});
}

Status Journal::add_race(const std::string& problem, const std::vector<Raced>& kernels,
                         const Json& result) {
  holds_work_ = true;
  for (const Raced& kernel : kernels)
    ASSAY_TRY(add({{"line", "lap"},
                   {"problem", problem},
                   {"launch_ns", kernel.launch_ns},
                   {"launches", kernel.launches},
                   {"outcome", to_json(kernel.outcome)}},
                  AppendFile::Durable::with_next));
  return add(
      {{"line", "raced"}, {"problem", problem}, {"kernels", kernels.size()}, {"result", result}});
}

Status Journal::add_problem(const ProblemRecord& problem) {
  holds_work_ = true;
  ASSAY_TRY(const uint64_t at, file_.size());
  for (const KernelOutcome& kernel : problem.kernels)
    ASSAY_TRY(add({{"line", "outcome"}, {"problem", problem.name}, {"outcome", to_json(kernel)}},
                  AppendFile::Durable::with_next));
  ASSAY_TRY(add(
      {{"line", "problem"}, {"kernels", problem.kernels.size()}, {"record", head_json(problem)}}));
  places_[problem.name].finished = at;
  return {};
}

bool Journal::is_finished(const std::string& problem) const {
  const auto found = places_.find(problem);
  return found != places_.end() && found->second.finished;
}

Result<ProblemRecord> Journal::problem(const std::string& name) const {
  if (!is_finished(name))
    return fail(ErrorCode::not_found, "{}: {} is not finished there", file_.path(), name);
  ASSAY_TRY(auto reader, LineReader::open(file_.path(), *places_.at(name).finished));
  std::vector<KernelOutcome> kernels;
  for (;;) {
    ASSAY_TRY(const auto line, reader.next());
    if (!line) break;
    ASSAY_TRY(const auto document, parse_json_document(line->text, file_.path()));
    const JsonField root(document);
    if (const auto record = root.find("record")) {
      return root.find("kernels") ? read_problem_record(*record, std::move(kernels))
                                  : read_problem_record(*record);
    }
    ASSAY_TRY(const JsonField outcome, root.at("outcome"));
    ASSAY_TRY(kernels.emplace_back(), read_kernel_outcome(outcome));
  }
  return fail(ErrorCode::machine, "{}: it ends within {}", file_.path(), name);
}

Result<std::optional<Journal::Race>> Journal::race(const std::string& problem) const {
  const auto found = places_.find(problem);
  if (found == places_.end() || !found->second.raced) return std::optional<Race>();
  ASSAY_TRY(auto reader, LineReader::open(file_.path(), *found->second.raced));
  Race race;
  for (;;) {
    ASSAY_TRY(const auto line, reader.next());
    if (!line) break;
    ASSAY_TRY(auto document, parse_json_document(line->text, file_.path()));
    const JsonField root(document);
    if (root.find("result")) {
      race.line = std::move(document);
      return std::optional(std::move(race));
    }
    Raced& kernel = race.kernels.emplace_back();
    ASSAY_TRY(const JsonField outcome, root.at("outcome"));
    ASSAY_TRY(kernel.outcome, read_kernel_outcome(outcome));
    ASSAY_TRY(const JsonField launch_ns, root.at("launch_ns"));
    ASSAY_TRY(kernel.launch_ns, launch_ns.as_double(0));
    ASSAY_TRY(const JsonField launches, root.at("launches"));
    ASSAY_TRY(const int64_t count, launches.as_int64(1, std::numeric_limits<int>::max()));
    kernel.launches = static_cast<int>(count);
  }
  return fail(ErrorCode::machine, "{}: it ends within the race of {}", file_.path(), problem);
}

Result<std::map<std::string, Journal::Proof>> Journal::proofs(const std::string& problem) const {
  std::map<std::string, Proof> proofs;
  const auto found = places_.find(problem);
  if (found == places_.end()) return proofs;
  for (const uint64_t at : found->second.proofs) {
    ASSAY_TRY(auto reader, LineReader::open(file_.path(), at));
    ASSAY_TRY(const auto line, reader.next());
    if (!line) return fail(ErrorCode::machine, "{}: became shorter", file_.path());
    ASSAY_TRY(const auto document, parse_json_document(line->text, file_.path()));
    const JsonField root(document);
    ASSAY_TRY(const JsonField outcome, root.at("outcome"));
    Proof proof;
    ASSAY_TRY(proof.outcome, read_kernel_outcome(outcome));
    if (const auto launch_ns = root.find("launch_ns")) {
      ASSAY_TRY(proof.launch_ns, launch_ns->as_double(0));
    }
    const std::string id = proof.outcome.id;
    proofs[id] = std::move(proof);
  }
  return proofs;
}

}  // namespace assay::sweep
