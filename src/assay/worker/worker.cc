#include "assay/worker/worker.h"

#include <algorithm>
#include <cmath>
#include <fcntl.h>
#include <optional>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

#include "assay/base/clock.h"
#include "assay/base/fd.h"
#include "assay/base/forked.h"
#include "assay/base/text.h"
#include "assay/device/cpu/cpu_device.h"
#include "assay/device/cuda/selection.h"
#include "assay/kernel/export.h"
#include "assay/measure/ceilings.h"
#include "assay/process/confine.h"
#include "assay/process/descriptors.h"
#include "assay/process/guard.h"
#include "assay/process/guest_process.h"
#include "assay/process/messages.h"
#include "assay/verify/conformance.h"
#include "assay/worker/armed_code.h"
#include "assay/worker/code_copies.h"
#include "assay/worker/gpu/ceilings.h"
#include "assay/worker/gpu/timer.h"
#include "assay/worker/gpu/watch.h"
#include "assay/worker/kernels.h"
#include "assay/worker/manners.h"
#include "assay/worker/own_pages.h"
#include "assay/worker/rankers.h"
#include "assay/worker/runs.h"

namespace assay::sweep {
namespace {

constexpr size_t kMostGuestErrors = size_t{1} << 18;

class Worker {
 public:
  Worker(const std::vector<std::unique_ptr<Provider>>& providers, const CatalogSetup& setup,
         const std::vector<std::unique_ptr<Ranker>>& rankers, Surroundings place)
      : setup_(setup), place_(std::move(place)), kernels_(providers, loads_), rankers_(rankers) {}

  Result<process::Reply> handle(process::ReadRequest request) {
    const auto ask_own = [&] { return process::WorkerRequests::answer(*this, std::move(request)); };
    const bool is_of_problem = process::ProblemRequests::has(request.what);
    if (is_of_problem && !runs_) return fail(ErrorCode::internal, "a worker that has not begun");
    // What a plug-in does when it is asked something is seen and put back, too.
    auto reply = is_of_problem ? process::ProblemRequests::answer(*runs_, std::move(request))
                 : confined_   ? loads_.around("", ask_own)
                               : ask_own();
    // What was said on the way to an error goes with the next answer.
    if (reply) reply->notes = std::exchange(notes_, {});
    return reply;
  }

  Result<process::Init::Answer> answer(process::Init asked) {
    ASSAY_TRY(open_device(asked));
    threads_ = device_->threads();
    runs_.emplace(
        *device_, gpu_, threads_,
        [this](const process::BuiltKernel& kernel) { return candidate(kernel); }, armed_, loads_,
        asked.pulses ? PulseSender(process::kPulseFd, process::kQuestionFd) : PulseSender());
    cache_ = std::make_unique<ArtifactCache>(
        asked.cache, Log([this](Level, std::string_view text) { notes_.emplace_back(text); }));
    context_.cache = cache_.get();
    context_.cxx = asked.cxx;
    context_.timeout_seconds = asked.compile_timeout_seconds;
    context_.memory_bytes = asked.compile_memory_bytes;
    context_.run_guest = &run_confined;

    process::Init::Answer answer;
    ASSAY_TRY(answer.providers, kernels_.add_providers(asked.providers));
    kernels_.add(setup_);
    if (asked.files.size() != 1) return fail(ErrorCode::internal, "what users brought is missing");
    ASSAY_TRY(const auto brought, input::unpack(asked.kernels, asked.files[0]));
    ASSAY_TRY(answer.waiting, kernels_.add_sources(brought));
    answer.fingerprint = device_->fingerprint();
    if (gpu_ != nullptr && asked.watch) watch_gpu(asked, answer.fingerprint.details);
    answer.target = device_->target().to_string();
    answer.threads = threads_;
    answer.last_level_cache_bytes = device_->last_level_cache_bytes();
    answer.memory_bytes = device_->memory_bytes();
    ASSAY_TRY(answer.confinement, give_up_rights(asked));
    return answer;
  }

  // For a process that was started for this alone: it has no device, and no rights from here on.
  Result<process::Guest::Answer> answer(const process::Guest& asked) {
    if (device_) return fail(ErrorCode::internal, "a guest is no program for this process");
    GuestProgram program = asked.program;
    if (program.argv.empty()) return fail(ErrorCode::internal, "a guest is a program");
    // This process's own, from here on: without rights it could not set one for the program.
    limit_address_space(std::exchange(program.memory_bytes, 0));
    // Another user could not run what lies below root's own folder, say. Then it stays this one,
    // without rights, where it can write to nothing and reach nobody.
    const std::string closed = closed_folder(program.argv.front());
    if (!closed.empty() && ::geteuid() == 0 && !(place_.own_processes && place_.read_only))
      return fail(
          ErrorCode::unsupported,
          "'{}' lies below '{}', which no other user may enter, and without namespaces ({}) "
          "nothing that runs a user's code is run as root; use one that others may run",
          sanitize(program.argv.front(), 300), sanitize(closed, 300), place_.shared);
    (void)confine(true, place_, {}, closed.empty() ? "/" : closed);
    ASSAY_TRY(const CommandOutput output, run_here(program));
    return process::Guest::Answer{.code = output.status.code,
                                  .signal = output.status.signal,
                                  .timed_out = output.timed_out,
                                  .truncated = output.truncated,
                                  .out = sanitize(output.out, program.most_output, Newlines::keep),
                                  .err = sanitize(output.err, kMostGuestErrors, Newlines::keep)};
  }

  Result<process::Done> answer(const process::Bring& asked) {
    ASSAY_TRY(kernels_.bring_file(asked.file));
    return process::Done{};
  }

  Result<process::Discover::Answer> answer(const process::Discover& asked) {
    return kernels_.discover(asked, device_->target());
  }

  Result<process::Rank::Answer> answer(const process::Rank& asked) {
    if (!asked.target) return rankers_.rank(asked, facts_of(*device_));
    ASSAY_TRY(const Target target, Target::parse(*asked.target));
    return rankers_.rank(asked, facts_of(target));
  }

  Result<process::FindRanker::Answer> answer(const process::FindRanker& asked) {
    return rankers_.find(asked.ranker);
  }

  Result<process::FindCached::Answer> answer(const process::FindCached& asked) {
    const ArtifactCache finished = cache_->without_building();
    const CompileContext looking = looking_into(finished);
    process::FindCached::Answer answer;
    for (const Json& row : asked.rows) {
      ASSAY_TRY(const Kernel kernel, kernels_.find(row));
      answer.cached.push_back(
          kernel.compile(*asked.problem, device_->target(), looking).has_value());
    }
    return answer;
  }

  Result<process::Compile::Answer> answer(const process::Compile& asked) {
    ASSAY_TRY(const Kernel kernel, kernels_.find(asked.row));
    ASSAY_TRY(auto artifact, kernel.compile(*asked.problem, device_->target(), context_));
    return process::Compile::Answer{std::move(artifact)};
  }

  // What the cache has is answered; the rest goes there, side by side. Nothing is said of what
  // fails: compile says it.
  Result<process::Prebuild::Answer> answer(const process::Prebuild& asked) {
    const ArtifactCache finished = cache_->without_building();
    const CompileContext looking = looking_into(finished);
    process::Prebuild::Answer answer;
    std::vector<size_t> missing;
    for (size_t i = 0; i < asked.rows.size(); ++i) {
      ASSAY_TRY(const Kernel kernel, kernels_.find(asked.rows[i]));
      auto artifact = kernel.compile(*asked.problem, device_->target(), looking);
      auto& built = answer.kernels.emplace_back();
      if (artifact)
        built.artifact = std::move(*artifact);
      else
        missing.push_back(i);
    }
    // Of what failed, less than 0.
    const std::vector<double> took = for_each_forked(missing.size(), [&](size_t i) {
      const int64_t start = monotonic_ns();
      const auto kernel = kernels_.find(asked.rows[missing[i]]);
      const bool built = kernel && kernel->compile(*asked.problem, device_->target(), context_);
      const double spent = static_cast<double>(monotonic_ns() - start) * 1e-9;
      return built ? spent : -spent;
    });
    for (size_t i = 0; i < missing.size(); ++i) {
      answer.kernels[missing[i]].seconds = std::abs(took[i]);
      answer.kernels[missing[i]].failed = took[i] < 0;
    }
    return answer;
  }

  Result<process::ExportKernel::Answer> answer(const process::ExportKernel& asked) {
    const Problem& problem = *asked.problem;
    ASSAY_TRY(const Kernel kernel, kernels_.find(asked.row));
    ASSAY_TRY(const Artifact artifact, kernel.compile(problem, device_->target(), context_));
    ASSAY_TRY(
        KernelExport made,
        export_kernel(kernel, problem,
                      {.target = device_->target(), .threads = threads_, .artifact = &artifact}));
    return process::ExportKernel::Answer{std::move(made)};
  }

  // One check of conformance.h, with its problem where it has one.
  Result<process::Conform::Answer> answer(const process::Conform& asked) {
    const auto checks = verify::conformance_checks();
    const auto check = std::ranges::find(checks, asked.check_name,
                                         [](const auto& one) { return std::string(one.name); });
    if (check == checks.end())
      return fail(ErrorCode::internal, "there is no check '{}'", asked.check_name);
    if (check->per_problem && !asked.problem)
      return fail(ErrorCode::internal, "a check of problems without a problem");
    verify::ConformanceResult result =
        check->run({.catalog = kernels_.catalog(),
                    .device = *device_,
                    .context = context_,
                    .at_rest = [this] { return scheduler_.wait_until_quiet(kRestNs); }},
                   check->per_problem ? &**asked.problem : nullptr);
    return process::Conform::Answer{std::move(result.faults),
                                    result.looked_at,
                                    {result.ran.begin(), result.ran.end()},
                                    std::move(result.refusals)};
  }

  Result<process::Manners::Answer> answer(const process::Manners&) {
    auto faults = manners_.find_faults(scheduler_);
    for (const Finding& finding : loads_.all()) faults.push_back("it " + finding.sentence);
    // A GPU's driver may arm what it likes.
    if (const auto armed = armed_.find_more(); gpu_ == nullptr && !armed.empty())
      faults.push_back("it " + armed);
    return process::Manners::Answer{std::move(faults)};
  }

  Result<process::MeasureTimer::Answer> answer(const process::MeasureTimer&) {
    if (gpu_ == nullptr) return process::MeasureTimer::Answer{measure::measure_timer()};
    ASSAY_TRY(const auto facts, measure_gpu_timer(*gpu_));
    return process::MeasureTimer::Answer{facts};
  }

  Result<process::MeasureCeilings::Answer> answer(const process::MeasureCeilings&) {
    constexpr double kSeconds = 0.12;
    process::MeasureCeilings::Answer answer;
    if (gpu_ != nullptr) {
      ASSAY_TRY(const auto ceilings, gpu_ceilings(*gpu_, cache_path_));
      for (const Ceiling& ceiling : ceilings) answer.readings.push_back({ceiling, ceiling.value});
    } else {
      answer.readings =
          measure::measure_ceilings(threads_, device_->last_level_cache_bytes(), kSeconds);
    }
    return answer;
  }

  // How the GPU has been (record/gpu_window.h), in the process that launches no candidate.
  Result<process::ReadGpuWindow::Answer> answer(const process::ReadGpuWindow&) {
    process::ReadGpuWindow::Answer answer;
    if (watch_)
      answer.window = watch_->take();
    else
      answer.window.unwatched = why_unwatched_;
    return answer;
  }

  WorkerRuns& runs() { return *runs_; }  // Once it has begun.

 private:
  // This machine's cores, or the GPU whose UUID was asked for.
  Status open_device(const process::Init& asked) {
    if (asked.venue.is_cpu()) {
      cpu::Options options;
      options.threads = asked.venue.threads;
      options.pin = asked.pin;
      options.kept_share = asked.kept_share;
      ASSAY_TRY(device_, cpu::open(options));
      return {};
    }
    ASSAY_TRY(auto opened, cuda::open_pinned(asked.venue.cuda_driver, asked.venue.gpu));
    gpu_ = opened.get();
    device_ = std::move(opened);
    return {};
  }

  void watch_gpu(const process::Init& asked, Json& details) {
    const auto nvml = cuda::Nvml::open("");
    if (!nvml) {
      why_unwatched_ = nvml.error().message;
      return;
    }
    details["driver_package"] = (*nvml)->driver_version();
    watch_ = std::make_unique<GpuWatch>(*nvml, gpu_->gpu().uuid, asked.parent);
  }

  // Last of all: what was read and loaded until here may have been this user's alone.
  Result<process::Confinement> give_up_rights(const process::Init& asked) {
    Protected harness;
    harness.parent = asked.parent;
    harness.own_code = true;
    harness.counts = asked.counts;
    harness.devices = gpu_ != nullptr;
    for (const std::string& path : {asked.cache, asked.folder})
      if (!path.empty()) harness.paths.push_back(path);
    confined_ = asked.confine;
    if (confined_) kernels_.admit_guests();
    cache_path_ = asked.cache;
    cache_folder_.reset(::open(cache_path_.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    copy_code(asked.code);
    keep_page_table();
    process::Confinement confinement = confine(confined_, place_, harness, cache_path_);
    confinement.native_guests = gpu_ == nullptr || kernels_.has_native_guests();
    if (!confinement.other_user) cache_folder_.reset();
    return confinement;
  }

  // The cache as it can be reached by a user who may not enter the folders above it.
  Artifact reachable(Artifact artifact) const {
    const std::string file = artifact.file.string();
    if (cache_folder_ && file.starts_with(cache_path_ + '/'))
      artifact.file =
          fmt::format("/proc/self/fd/{}{}", cache_folder_.get(), file.substr(cache_path_.size()));
    return artifact;
  }

  CompileContext looking_into(const ArtifactCache& finished) const {
    CompileContext looking = context_;
    looking.cache = &finished;
    return looking;
  }

  Result<std::pair<Kernel, Artifact>> candidate(const process::BuiltKernel& built) {
    ASSAY_TRY(Kernel kernel, kernels_.find(built.row));
    return std::pair(std::move(kernel), reachable(built.artifact));
  }

  const CatalogSetup& setup_;
  Surroundings place_;
  bool confined_ = false;  // Users' code may run here from now on.
  std::string cache_path_;
  UniqueFd cache_folder_;  // Open where this process has become another user.
  std::unique_ptr<Device> device_;
  cuda::CudaDevice* gpu_ = nullptr;  // The device, where it is a GPU.
  std::vector<std::string> notes_;   // For the user, with the next answer.
  std::unique_ptr<GpuWatch> watch_;  // Of the GPU, in a process that runs no candidates.
  std::string why_unwatched_ = "nobody looked";
  std::unique_ptr<ArtifactCache> cache_;
  CompileContext context_;
  int threads_ = 1;
  const Manners manners_ = Manners::look();
  const ArmedCode armed_ = ArmedCode::look();
  measure::SchedulerWatch scheduler_;
  LoadWatch loads_;
  WorkerKernels kernels_;
  WorkerRankers rankers_;
  std::optional<WorkerRuns> runs_;  // Once there is a device.
};

}  // namespace

Status worker_main(const std::vector<std::unique_ptr<Provider>>& providers,
                   const CatalogSetup& setup, const std::vector<std::unique_ptr<Ranker>>& rankers) {
  ASSAY_TRY(Surroundings place, stand_guard());
  if (place.is_guard) return {};
  MessageChannel channel{UniqueFd(process::kChannelFd)};
  Worker worker(providers, setup, rankers, std::move(place));
  process::serve(channel,
                 [&](process::ReadRequest request) { return worker.handle(std::move(request)); });
  return {};
}

Status profile_main(const std::vector<std::unique_ptr<Provider>>& providers, const Json& json) {
  const CatalogSetup setup;
  const std::vector<std::unique_ptr<Ranker>> rankers;
  Worker worker(providers, setup, rankers, Surroundings{});
  ASSAY_TRY(auto script, process::Codec<process::ProfileScript>::read(json));
  UniqueFd sources(::open(script.sources.c_str(), O_RDONLY | O_CLOEXEC));
  if (!sources) return fail(ErrorCode::not_found, "there is no file '{}'", script.sources);
  script.init.files.add(std::move(sources));
  ASSAY_TRY(worker.answer(std::move(script.init)).map([](const auto&) {}));
  const Problem& problem = *script.problem;
  ASSAY_TRY(const Operation* operation, find_operation(problem.operation()));
  ASSAY_TRY(const auto instance, operation->make_instance(problem, InputKind::uniform, 1));
  process::Load load{.problem = problem, .instances = 1};
  for (size_t i = 0; i < problem.operands().size(); ++i) {
    if (problem.operands()[i].access == Access::write) continue;
    ASSAY_TRY(auto file, instance->input_file(i));
    load.files.add(std::move(file));
  }
  WorkerRuns& runs = worker.runs();
  ASSAY_TRY(runs.answer(std::move(load)).map([](const auto&) {}));
  ASSAY_TRY(runs.answer(script.rotate).map([](const auto&) {}));
  ASSAY_TRY(const auto opened, runs.answer(script.open));
  return runs.answer(process::ProfileLaunches{opened.handle, script.launches}).map([](const auto&) {
  });
}

}  // namespace assay::sweep
