#include "cli/show/race_text.h"

#include <algorithm>
#include <set>

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

std::string refused_text(const std::vector<FileRefusals>& files, const report::TextStyle& style) {
  std::set<std::string> problems;
  for (const FileRefusals& file : files)
    for (const auto& [problem, sentences] : file.problems) problems.insert(problem);
  std::string out;
  for (const std::string& problem : problems) {
    out += sanitize(problem, 200) + '\n';
    const bool all = is_refused_by_all(files, problem);
    for (const FileRefusals& file : files) {
      const auto found = file.problems.find(problem);
      if (found == file.problems.end()) continue;
      const std::string why = found->second.empty()
                                  ? "its constraints leave none of its tunables' values"
                                  : join(found->second, "; ");
      const std::string name = sanitize(file.file, 200);
      out += line_text(all ? RaceLine{"verdict", fmt::format("none: {} was refused: {}", name, why)}
                           : RaceLine{"refused", fmt::format("{} takes no part: {}", name, why)},
                       style);
    }
  }
  return out;
}

std::string evidence_text(const ProblemRecord& problem, const report::TextStyle&) {
  std::string out;
  for (const KernelOutcome& kernel : problem.kernels) {
    if (kernel.role != KernelRole::user) continue;
    if (const auto* failure = std::get_if<ending::BuildFailure>(&kernel.ending)) {
      // Its first line stands in the verdict.
      const std::string_view message = trim(failure->message);
      const size_t end = message.find('\n');
      return end == std::string_view::npos ? out : out + quoted_lines(message.substr(end));
    }
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

bool all_refused(const RunRecord& record, const std::vector<UserFile>& mine) {
  bool some = false;
  for (const ProblemRecord& problem : record.problems) {
    for (const KernelOutcome& kernel : problem.kernels) {
      if (std::ranges::none_of(mine, [&](const UserFile& file) { return is_of(kernel, file); }))
        continue;
      if (!std::holds_alternative<ending::Refusal>(kernel.ending)) return false;
      some = true;
    }
  }
  return some;
}

}  // namespace assay::cli
