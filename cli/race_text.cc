#include "cli/race_text.h"

#include <algorithm>

#include <fmt/format.h>

#include "assay/base/text.h"
#include "assay/report/width.h"

namespace assay::cli {
namespace {

constexpr int kLabel = 10;
constexpr size_t kEvidenceLines = 20;
constexpr size_t kLineBytes = 16384;

std::string quoted_lines(std::string_view text) {
  std::string out;
  size_t count = 0;
  for (const std::string_view line : split(trim(text), '\n')) {
    if (++count > kEvidenceLines) return out + "    | ...\n";
    out += fmt::format("    | {}\n", sanitize(line, 400));
  }
  return out;
}

}  // namespace

std::string line_text(const RaceLine& line, const report::TextStyle& style) {
  return report::wrap(report::pad(line.label, kLabel - 1) + ' ' + sanitize(line.text, kLineBytes),
                      style.width, kLabel);
}

std::string refused_text(const std::map<std::string, std::vector<std::string>>& refused,
                         const std::string& kernel, const report::TextStyle& style) {
  std::string out;
  for (const auto& [problem, sentences] : refused) {
    out += sanitize(problem, 200) + '\n';
    out +=
        line_text({"verdict", fmt::format("none: {} was refused: {}", sanitize(kernel, 200),
                                          sentences.empty()
                                              ? "its constraints leave none of its tunables' values"
                                              : join(sentences, "; "))},
                  style);
  }
  return out;
}

std::string evidence_text(const ProblemRecord& problem, const report::TextStyle&) {
  std::string out;
  for (const KernelOutcome& kernel : problem.kernels) {
    if (kernel.role != KernelRole::user) continue;
    if (const auto* failure = std::get_if<ending::BuildFailure>(&kernel.ending))
      return out + quoted_lines(failure->message);
    if (const auto* crash = std::get_if<ending::Crash>(&kernel.ending))
      if (!trim(crash->stderr_tail).empty()) return out + quoted_lines(crash->stderr_tail);
  }
  return out;
}

std::string warning_text(const Environment& environment, const report::TextStyle& style) {
  std::string out;
  for (const std::string& warning : environment.warnings)
    out += line_text({"warning", sanitize(warning, 400)}, style);
  return out;
}

bool all_stood(const RunRecord& record, const std::vector<UserFile>& mine) {
  for (const ProblemRecord& problem : record.problems) {
    if (problem.winner() == nullptr) return false;
    for (const UserFile& file : mine) {
      // Of a family with tunables it is enough that some point stands.
      bool stands = false;
      for (const KernelOutcome& kernel : problem.kernels)
        stands |= is_of(kernel, file) && is_timed(kernel.ending);
      if (!stands) return false;
    }
  }
  return true;
}

}  // namespace assay::cli
