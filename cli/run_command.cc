#include <algorithm>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "assay/base/text.h"
#include "assay/report/words.h"
#include "cli/exit_code.h"
#include "cli/problem_flags.h"
#include "cli/race_options.h"
#include "cli/race_text.h"
#include "cli/show_run.h"
#include "cli/user_files.h"

namespace assay::cli {
namespace {

constexpr size_t kShortestId = 8;

bool is_id_prefix(const std::string& word) {
  return word.size() >= kShortestId &&
         word.find_first_not_of("0123456789abcdef") == std::string::npos;
}

bool names(const std::string& word, const KernelMetadata& metadata) {
  return word == metadata.name() || word == metadata.provider() + '/' + metadata.name() ||
         (is_id_prefix(word) && metadata.id().starts_with(word));
}

std::string family_part(const std::string& word) { return word.substr(word.rfind('/') + 1); }

// Names of the kernels of the family that is meant, FAMILY or PROVIDER/FAMILY.
std::vector<std::string> members_of(const std::string& word, const sweep::Discovery& found) {
  std::vector<std::string> members;
  for (const sweep::DiscoveredRow& row : found.rows) {
    const KernelMetadata& metadata = row.metadata;
    if (word == metadata.family() || word == metadata.provider() + '/' + metadata.family())
      members.push_back(metadata.name());
  }
  return members;
}

std::string kernels_text(size_t count) {
  return fmt::format("{} kernel{}", count, count == 1 ? "" : "s");
}

std::string first_of(const std::vector<std::string>& names) {
  constexpr size_t kShown = 8;
  const std::vector<std::string> first(
      names.begin(), names.begin() + static_cast<std::ptrdiff_t>(std::min(kShown, names.size())));
  return sanitize(join(first, ", "), 2000) +
         (names.size() > kShown ? fmt::format(" and {} more (assay kernels)", names.size() - kShown)
                                : "");
}

class RunCommand : public Command {
 public:
  const char* name() const override { return "run"; }
  const char* summary() const override {
    return "One kernel on one shape: compile, prove, time. No claim";
  }
  const char* example() const override {
    return "assay run openblas/sgemm --shape m=64,n=1024,k=1024,dtype=f32";
  }

  void declare(CLI::App& app) override {
    app.add_option("kernel", kernel_,
                   "Its name, PROVIDER/NAME, or the first digits of its id (assay kernels)")
        ->required()
        ->type_name("KERNEL");
    problems_.declare_shape(app);
    app.add_option("--kernels", files_, "Manifests or sources of your own, to find it in")
        ->type_name("FILE")
        ->allow_extra_args(false);
    app.add_option("--output-dir", folder_,
                   "Where the record goes (default: runs/<n>-run-<kernel>)")
        ->type_name("DIR");
    options_.declare(app, false);
  }

  Result<int> run(Context& context) override {
    ASSAY_TRY(sweep::Request request, options_.make_request(context, "run"));
    if (problems_.empty())
      return fail(ErrorCode::invalid_input,
                  "run: on which shape? Give --shape m=16,n=4096,k=4096,dtype=f32");
    ASSAY_TRY(problems_.fill(request, ""));
    ASSAY_TRY(read_user_files(files_).map([](const auto&) {}));
    request.kernels = files_;
    request.confirm = false;
    request.folder = folder_;
    ASSAY_TRY(const DeviceLock held, hold_device(context, request));
    ASSAY_TRY(const KernelMetadata metadata, find(request));
    narrow(request, metadata);
    if (folder_.empty()) request.folder = next_run_folder("run-" + file_name(metadata.name()));
    ASSAY_TRY(const FinishedRun run, run_request(context, request, Keep::everything));
    const int code = exit_code_of(run.record);
    context.console.result(context.console.json()
                               ? dump_pretty(summary_json(run.record, run.files, code))
                               : text(context.console, run));
    return code;
  }

 private:
  static std::string file_name(const std::string& kernel) {
    std::string safe = kernel.substr(0, 60);
    for (char& c : safe)
      if (!matches_name_rule(std::string_view(&c, 1)) && c != '.') c = '_';
    return safe;
  }

  // The kernel that is meant, among those that can take the first problem.
  Result<KernelMetadata> find(const sweep::Request& request) const {
    const Problem& problem = request.problems.front();
    ASSAY_TRY(const sweep::Discovery found, sweep::discover(request, &problem, ""));
    std::vector<const KernelMetadata*> matches;
    std::vector<std::string> known;
    for (const sweep::DiscoveredRow& row : found.rows) {
      known.push_back(row.metadata.provider() + '/' + row.metadata.name());
      if (names(kernel_, row.metadata)) matches.push_back(&row.metadata);
    }
    if (matches.size() == 1) return *matches.front();
    if (matches.size() > 1) {
      std::vector<std::string> ids;
      for (size_t i = 0; i < matches.size() && i < 5; ++i)
        ids.push_back(fmt::format("{} ({}/{})", matches[i]->id().substr(0, 12),
                                  matches[i]->provider(), matches[i]->name()));
      return fail(ErrorCode::invalid_input, "'{}' fits {} kernels; name one by its id: {}",
                  sanitize(kernel_, 200), matches.size(), join(ids, ", "));
    }
    if (const auto members = members_of(kernel_, found); !members.empty())
      return fail(ErrorCode::invalid_input, "'{}' is a family of {}; name one: {}",
                  sanitize(kernel_, 200), kernels_text(members.size()), first_of(members));
    // It may exist and not be able to.
    ASSAY_TRY(const sweep::Discovery all, sweep::discover(request, nullptr, ""));
    for (const sweep::DiscoveredRow& row : all.rows) {
      if (!names(kernel_, row.metadata)) continue;
      return fail(ErrorCode::unsupported,
                  "{}/{} cannot take {}; `assay kernels --shape ... --filter \"name == '{}'\" "
                  "--why` says why",
                  row.metadata.provider(), row.metadata.name(), problem.name(),
                  row.metadata.name());
    }
    if (const auto members = members_of(kernel_, all); !members.empty())
      return fail(
          ErrorCode::unsupported,
          "'{}' is a family of {}, and none of them can take {}; `assay kernels --shape ... "
          "--filter \"family == '{}'\" --why` says why",
          sanitize(kernel_, 200), kernels_text(members.size()), problem.name(),
          sanitize(family_part(kernel_), 200));
    return fail(ErrorCode::not_found, "no kernel is called '{}'{}; `assay kernels` lists them",
                sanitize(kernel_, 200), did_you_mean(kernel_, known));
  }

  static void narrow(sweep::Request& request, const KernelMetadata& metadata) {
    request.filter =
        fmt::format("provider == '{}' and family == '{}'", metadata.provider(), metadata.family());
    if (metadata.name().find('\'') == std::string::npos)
      request.filter += fmt::format(" and name == '{}'", metadata.name());
    const bool built_in =
        std::any_of(request.providers.begin(), request.providers.end(),
                    [&](const auto& provider) { return provider.name == metadata.provider(); });
    if (built_in)
      std::erase_if(request.providers,
                    [&](const auto& provider) { return provider.name != metadata.provider(); });
  }

  static int exit_code_of(const RunRecord& record) {
    bool launched = false, timed = true;
    for (const ProblemRecord& problem : record.problems) {
      bool any = false;
      for (const KernelOutcome& kernel : problem.kernels) {
        launched |= !std::holds_alternative<ending::Refusal>(kernel.ending) &&
                    !std::holds_alternative<ending::BuildFailure>(kernel.ending);
        any |= is_timed(kernel.ending);
      }
      timed &= any;
    }
    return timed ? kDone : launched ? kRefuted : kNothingRan;
  }

  static std::string text(const Console& console, const FinishedRun& run) {
    const report::TextStyle style{console.width_out(), console.colour_out()};
    std::string out;
    for (const ProblemRecord& problem : run.record.problems) {
      out += problem.name + '\n';
      if (problem.kernels.empty())
        out += line_text({"refused", "by its rule; `assay kernels --why` says why"}, style);
      for (const KernelOutcome& kernel : problem.kernels) out += text(problem, kernel, style);
      out += evidence_text(problem, style);
    }
    return out + line_text({"record", run.files.record + "   (one kernel alone: no claim)"}, style);
  }

  static std::string text(const ProblemRecord& problem, const KernelOutcome& kernel,
                          const report::TextStyle& style) {
    std::string out = line_text({"kernel", fmt::format("{}   id {}", sanitize(kernel.label(), 240),
                                                       kernel.id.substr(0, 12))},
                                style);
    std::string built = kernel.artifact_hash.empty() ? "no"
                        : kernel.build_seconds > 0   ? format_duration(kernel.build_seconds)
                                                     : "nothing to compile";
    if (kernel.workspace_bytes > 0)
      built +=
          fmt::format(", workspace {}", format_bytes(static_cast<double>(kernel.workspace_bytes)));
    if (kernel.prepared_bytes > 0)
      built += fmt::format(", prepared {} in {}",
                           format_bytes(static_cast<double>(kernel.prepared_bytes)),
                           format_duration(kernel.prepare_seconds));
    out += line_text({"ready", built}, style);
    if (kernel.proof)
      out += line_text(
          {"proven",
           fmt::format("{}: {} kinds of input, error at most {:.2f} of the budget, {}",
                       kernel.proof->right ? "right" : "wrong", kernel.proof->checks.size(),
                       kernel.proof->max_error, sanitize(kernel.proof->method, 200))},
          style);
    if (!is_timed(kernel.ending))
      return out + line_text({"ending", ending_sentence(kernel.ending)}, style);
    if (kernel.race && kernel.race->median_us > 0) {
      const double us = kernel.race->median_us;
      out += line_text({"timed", fmt::format("{} us median of {} rounds ({} clean)   {}   {}",
                                             report::microseconds(us), kernel.race->rounds,
                                             kernel.race->clean_rounds,
                                             format_si(problem.flops / us * 1e6, "FLOP/s"),
                                             format_si(problem.bytes / us * 1e6, "B/s"))},
                       style);
    }
    for (const Finding& finding : kernel.findings)
      out += line_text({"finding", fmt::format("{}: {}", sanitize(finding.code, 80),
                                               sanitize(finding.sentence, 400))},
                       style);
    return out;
  }

  std::string kernel_, folder_;
  std::vector<std::string> files_;
  ProblemFlags problems_;
  RaceOptions options_;
};

}  // namespace

std::unique_ptr<Command> make_run_command() { return std::make_unique<RunCommand>(); }

}  // namespace assay::cli
