#include "assay/record/record.h"

#include <array>
#include <cctype>
#include <memory>
#include <set>

#include "assay/base/file.h"
#include "assay/base/hash.h"
#include "assay/base/text.h"
#include "assay/record/compressed_text.h"

namespace assay {
namespace {

constexpr std::string_view kCompressed = ".zst";

constexpr std::array<std::pair<TrustGrade, std::string_view>, 3> kTrustGrades = {{
    {TrustGrade::device_code, "device_code"},
    {TrustGrade::confined_native, "confined_native"},
    {TrustGrade::unconfined_native, "unconfined_native"},
}};

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

std::string Condition::to_string() const {
  return fmt::format("cache={},spacing={},launch={}", cache, spacing, launch);
}

std::string RaceClass::to_string() const {
  return fmt::format("preparation={},dependent_launch={}", preparation, dependent_launch);
}

std::string_view to_string(TrustGrade grade) {
  for (const auto& [value, name] : kTrustGrades)
    if (value == grade) return name;
  return {};
}

Result<TrustGrade> parse_trust_grade(std::string_view text) {
  for (const auto& [grade, name] : kTrustGrades) {
    if (name == text) return grade;
  }
  return fail(ErrorCode::invalid_input,
              "'{}' is no trust grade; it is device_code, confined_native or unconfined_native",
              sanitize(text, 80));
}

const KernelSamples* ProcessSamples::find(std::string_view id) const {
  for (const KernelSamples& kernel : kernels) {
    if (kernel.id == id) return &kernel;
  }
  return nullptr;
}

Result<std::string> commitment_of(std::string_view seed) {
  std::string bytes;
  bytes.reserve(seed.size() / 2);
  for (std::size_t i = 0; i + 1 < seed.size(); i += 2) {
    const int high = hex_digit(seed[i]), low = hex_digit(seed[i + 1]);
    if (high < 0 || low < 0) break;
    bytes.push_back(static_cast<char>(high * 16 + low));
  }
  if (seed.empty() || bytes.size() * 2 != seed.size()) {
    return fail(ErrorCode::invalid_input, "a seed is an even number of hex digits, not '{}'",
                sanitize(seed, 80));
  }
  return sha256_hex(std::string_view(bytes));
}

bool Conclusion::is_disturbed(std::string_view id) const {
  const auto time = std::ranges::find(times, id, &Time::id);
  return time != times.end() && time->is_disturbed;
}

double Conclusion::median_us(std::string_view id) const {
  for (const Time& time : times) {
    if (time.id == id) return time.median_us;
  }
  return 0;
}

const KernelOutcome* ProblemRecord::find(std::string_view id) const {
  for (const KernelOutcome& kernel : kernels) {
    if (kernel.id == id) return &kernel;
  }
  return nullptr;
}

const Conclusion* ProblemRecord::conclusion() const {
  const Confirmation* confirmation = decisive();
  return confirmation == nullptr ? nullptr : &confirmation->conclusion;
}

const PairVerdict* ProblemRecord::headline() const {
  const Conclusion* concluded = conclusion();
  return concluded != nullptr && concluded->headline ? &*concluded->headline : nullptr;
}

const KernelOutcome* ProblemRecord::winner() const {
  const Conclusion* concluded = conclusion();
  return concluded == nullptr ? nullptr : find(concluded->winner);
}

std::string ProblemRecord::label(std::string_view id) const {
  const KernelOutcome* kernel = find(id);
  return kernel == nullptr ? std::string(id) : kernel->label();
}

std::int64_t ProblemRecord::dimension(std::string_view dimension_name,
                                      std::int64_t fallback) const {
  if (!problem.is_object()) return fallback;
  const auto found = problem.find(std::string(dimension_name));
  return found != problem.end() && found->is_number_integer() ? found->get<std::int64_t>()
                                                              : fallback;
}

const ProblemRecord* RunRecord::find(std::string_view name) const {
  for (const ProblemRecord& problem : problems) {
    if (problem.name == name) return &problem;
  }
  return nullptr;
}

Result<RunRecord> load_record(const std::string& path) {
  ASSAY_TRY(std::string text, read_file(path));
  if (path.ends_with(kCompressed)) {
    ASSAY_TRY(text, decompress(text, path, kMaxJsonBytes));
  }
  ASSAY_TRY(const JsonDocument document, parse_json_document(text, path));
  return read_record(document);
}

Result<RunRecord> read_compressed_record(const std::string& bytes, const std::string& origin) {
  ASSAY_TRY(const std::string text, decompress(bytes, origin, kMaxJsonBytes));
  ASSAY_TRY(const JsonDocument document, parse_json_document(text, origin));
  return read_record(document);
}

std::string hash_of_evidence(const RunRecord& run, const ProblemRecord& problem) {
  return hash_of_evidence(head_json(run), to_json(problem));
}

std::string hash_of_evidence(const Json& run, Json problem) {
  problem.erase("evidence_hash");
  Sha256 hash;
  hash.update_field(canonical(run));
  hash.update_field(canonical(problem));
  return hash.hex();
}

ProblemRecord headline_of(ProblemRecord problem) {
  if (problem.confirmations.size() > 1)
    problem.confirmations.erase(problem.confirmations.begin(), problem.confirmations.end() - 1);
  std::set<std::string, std::less<>> named;
  for (Confirmation& confirmation : problem.confirmations) {
    named.insert(confirmation.finalists.begin(), confirmation.finalists.end());
    named.insert({confirmation.leader, confirmation.candidate, confirmation.baseline});
    confirmation.processes.clear();
    confirmation.processes.shrink_to_fit();
  }
  std::vector<KernelOutcome> kernels;
  for (KernelOutcome& kernel : problem.kernels) {
    if (named.contains(kernel.id)) kernels.push_back(std::move(kernel));
  }
  problem.kernels = std::move(kernels);
  return problem;
}

}  // namespace assay
