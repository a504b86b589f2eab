#include "assay/sweep/worker.h"

#include <algorithm>
#include <cmath>
#include <fcntl.h>
#include <map>
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
#include "assay/record/record.h"
#include "assay/sweep/armed_code.h"
#include "assay/sweep/card_ceilings.h"
#include "assay/sweep/card_timer.h"
#include "assay/sweep/card_watch.h"
#include "assay/sweep/code_copies.h"
#include "assay/sweep/confine.h"
#include "assay/sweep/guard.h"
#include "assay/sweep/guest_process.h"
#include "assay/sweep/own_pages.h"
#include "assay/sweep/protocol.h"
#include "assay/sweep/worker_kernels.h"
#include "assay/sweep/worker_manners.h"
#include "assay/sweep/worker_rankers.h"
#include "assay/sweep/worker_runs.h"
#include "assay/verify/conformance.h"

namespace assay::sweep {
namespace {

constexpr size_t kMostGuestErrors = size_t{1} << 18;

class Worker {
 public:
  Worker(const std::vector<std::unique_ptr<Provider>>& providers, const CatalogSetup& setup,
         const std::vector<std::unique_ptr<Ranker>>& rankers, Surroundings place)
      : setup_(setup), place_(std::move(place)), kernels_(providers, loads_), rankers_(rankers) {}

  Result<Answer> handle(Message& message) {
    using Method = Result<Answer> (Worker::*)(Message&);
    static const std::map<std::string_view, Method> kMethods = {{"init", &Worker::init},
                                                                {"discover", &Worker::discover},
                                                                {"rank", &Worker::rank},
                                                                {"cached", &Worker::cached},
                                                                {"rankers", &Worker::list_rankers},
                                                                {"compile", &Worker::compile},
                                                                {"prebuild", &Worker::prebuild},
                                                                {"bring", &Worker::bring_file},
                                                                {"export", &Worker::export_source},
                                                                {"conform", &Worker::conform},
                                                                {"manners", &Worker::manners},
                                                                {"timer", &Worker::timer},
                                                                {"ceilings", &Worker::ceilings},
                                                                {"card", &Worker::card},
                                                                {"guest", &Worker::run_guest}};
    ASSAY_TRY(const std::string what, text(message.json, "do"));
    const auto own = kMethods.find(what);
    const auto of_problem = runs_ ? WorkerRuns::find_method(what) : nullptr;
    if (own == kMethods.end() && of_problem == nullptr)
      return fail(ErrorCode::internal, "a worker cannot '{}'", what);
    const auto ask_own = [&] { return (this->*own->second)(message); };
    // What a plug-in does when it is asked something is seen and put back, too.
    auto answer = of_problem != nullptr ? (*runs_.*of_problem)(message)
                  : confined_           ? loads_.around("", ask_own)
                                        : ask_own();
    // What was said on the way to an error goes with the next answer.
    if (answer && !notes_.empty()) answer->json["notes"] = std::exchange(notes_, {});
    return answer;
  }

 private:
  Result<Answer> init(Message& message) {
    const Json& json = message.json;
    ASSAY_TRY(open_device(json));
    threads_ = device_->threads();
    runs_.emplace(
        *device_, card_, threads_, [this](const Json& named) { return candidate(named); }, armed_,
        loads_, PulseSender(json.value("pulses", false) ? kPulseFd : -1));
    cache_ = std::make_unique<ArtifactCache>(
        json.value("cache", std::string()),
        Log([this](Level, std::string_view text) { notes_.emplace_back(text); }));
    context_.cache = cache_.get();
    context_.cxx = json.value("cxx", std::string("c++"));
    context_.timeout_seconds = number_or(json, "compile_timeout", context_.timeout_seconds);
    context_.memory_bytes = whole_or<int64_t>(json, "compile_memory", 0);
    context_.run_guest = &run_confined;

    Answer answer;
    ASSAY_TRY(answer.json["providers"],
              kernels_.add_providers(json.value("providers", Json::array())));
    kernels_.add(setup_);
    if (message.fds.empty()) return fail(ErrorCode::internal, "what users brought is missing");
    ASSAY_TRY(const Json* sources, member(json, "kernels"));
    ASSAY_TRY(const auto brought, input::unpack(*sources, message.fds.front().get()));
    ASSAY_TRY(answer.json["waiting"], kernels_.add_sources(brought));
    answer.json["fingerprint"] = {{"kind", device_->fingerprint().kind},
                                  {"name", device_->fingerprint().name},
                                  {"id", device_->fingerprint().id},
                                  {"details", device_->fingerprint().details}};
    if (card_ != nullptr && json.value("watch", !json.value("confine", false)))
      watch_card(json, answer.json["fingerprint"]["details"]);
    answer.json["target"] = device_->target().to_string();
    answer.json["threads"] = threads_;
    answer.json["last_level_cache_bytes"] = device_->last_level_cache_bytes();
    answer.json["memory_bytes"] = device_->memory_bytes();
    ASSAY_TRY(const Confinement confinement, give_up_rights(json));
    answer.json["confinement"] = to_json(confinement);
    return answer;
  }

  // For a process that was started for this alone: it has no device, and no rights from here on.
  Result<Answer> run_guest(Message& message) {
    if (device_) return fail(ErrorCode::internal, "a guest is no program for this process");
    const Json& json = message.json;
    GuestProgram program;
    for (const Json& word : json.value("argv", Json::array()))
      if (word.is_string()) program.argv.push_back(word.get<std::string>());
    ASSAY_TRY(program.input, text(json, "input"));
    program.timeout_seconds = number_or(json, "timeout", program.timeout_seconds);
    limit_address_space(whole_or<int64_t>(json, "memory", 0));
    program.most_output = whole_or<size_t>(json, "most_output", 1 << 20);
    if (program.argv.empty()) return fail(ErrorCode::internal, "a guest is a program");
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
    Answer answer;
    answer.json = {{"code", output.status.code},
                   {"signal", output.status.signal},
                   {"timed_out", output.timed_out},
                   {"truncated", output.truncated},
                   {"out", sanitize(output.out, program.most_output, Newlines::keep)},
                   {"err", sanitize(output.err, kMostGuestErrors, Newlines::keep)}};
    return answer;
  }

  // This machine's cores, or the card whose UUID was asked for.
  Status open_device(const Json& json) {
    const std::string uuid = json.value("device", std::string());
    if (uuid.empty()) {
      cpu::Options options;
      options.threads = whole_or(json, "threads", 0);
      options.pin = json.value("pin", true);
      options.kept_share = number_or(json, "kept_share", 0);
      ASSAY_TRY(device_, cpu::open(options));
      return {};
    }
    ASSAY_TRY(auto opened, cuda::open_pinned(json.value("cuda_driver", std::string()), uuid));
    card_ = opened.get();
    device_ = std::move(opened);
    return {};
  }

  void watch_card(const Json& json, Json& details) {
    const auto nvml = cuda::Nvml::open(json.value("nvml", std::string()));
    if (!nvml) {
      why_unwatched_ = nvml.error().message;
      return;
    }
    details["driver_package"] = (*nvml)->driver_version();
    watch_ = std::make_unique<CardWatch>(*nvml, card_->card().uuid, whole_or(json, "parent", -1));
  }

  // Last of all: what was read and loaded until here may have been this user's alone.
  Result<Confinement> give_up_rights(const Json& json) {
    Protected harness;
    harness.parent = whole_or(json, "parent", -1);
    harness.own_code = true;
    harness.counts = json.value("counts", false);
    for (const char* key : {"cache", "folder"})
      if (std::string path = json.value(key, std::string()); !path.empty())
        harness.paths.push_back(std::move(path));
    confined_ = json.value("confine", false);
    if (confined_) kernels_.admit_guests();
    cache_path_ = json.value("cache", std::string());
    cache_folder_.reset(::open(cache_path_.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    copy_code(json.value("code", Json()));
    keep_page_table();
    Confinement confinement = confine(confined_, place_, harness, cache_path_);
    confinement.native_guests = card_ == nullptr || kernels_.has_native_guests();
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

  Result<Answer> bring_file(Message& message) {
    ASSAY_TRY(const int64_t file, integer(message.json, "file"));
    ASSAY_TRY(kernels_.bring_file(file));
    return Answer{};
  }

  Result<Answer> discover(Message& message) {
    Answer answer;
    ASSAY_TRY(answer.json, kernels_.discover(message.json, device_->target()));
    return answer;
  }

  Result<Answer> rank(Message& message) {
    ASSAY_TRY(const Problem problem, problem_from(message.json));
    Answer answer;
    DeviceFacts facts = facts_of(*device_);
    if (message.json.contains("target")) {
      ASSAY_TRY(const std::string target, text(message.json, "target"));
      ASSAY_TRY(const Target parsed, Target::parse(target));
      facts = facts_of(parsed);
    }
    ASSAY_TRY(answer.json["rankings"], rankers_.rank(message.json, problem, facts));
    return answer;
  }

  Result<Answer> list_rankers(Message& message) {
    Answer answer;
    ASSAY_TRY(answer.json["rankers"], rankers_.list(message.json));
    return answer;
  }

  Result<Answer> cached(Message& message) {
    ASSAY_TRY(const Problem problem, problem_from(message.json));
    ASSAY_TRY(const Json* rows, member(message.json, "rows"));
    const ArtifactCache finished = cache_->without_building();
    CompileContext looking = context_;
    looking.cache = &finished;
    Answer answer;
    Json& there = answer.json["cached"] = Json::array();
    for (const Json& row : *rows) {
      ASSAY_TRY(const Kernel kernel, kernels_.find(row));
      there.push_back(kernel.compile(problem, device_->target(), looking).has_value());
    }
    return answer;
  }

  Result<Kernel> kernel_from(const Json& json) {
    ASSAY_TRY(const Json* row, member(json, "row"));
    return kernels_.find(*row);
  }

  Result<Answer> compile(Message& message) {
    ASSAY_TRY(const Problem problem, problem_from(message.json));
    ASSAY_TRY(const Kernel kernel, kernel_from(message.json));
    ASSAY_TRY(const Artifact artifact, kernel.compile(problem, device_->target(), context_));
    Answer answer;
    answer.json["artifact"] = artifact.to_json();
    return answer;
  }

  // What the cache has is answered; the rest goes there, side by side. Nothing is said of what
  // fails: compile says it.
  Result<Answer> prebuild(Message& message) {
    ASSAY_TRY(const Problem problem, problem_from(message.json));
    ASSAY_TRY(const Json* rows, member(message.json, "rows"));
    Answer answer;
    Json& artifacts = answer.json["artifacts"] = Json::array();
    const ArtifactCache finished = cache_->without_building();
    CompileContext looking = context_;
    looking.cache = &finished;
    std::vector<size_t> missing;
    for (size_t i = 0; i < rows->size(); ++i) {
      ASSAY_TRY(const Kernel kernel, kernels_.find((*rows)[i]));
      const auto artifact = kernel.compile(problem, device_->target(), looking);
      artifacts.push_back(artifact ? artifact->to_json() : Json());
      if (!artifact) missing.push_back(i);
    }
    std::vector<double> seconds(rows->size());
    std::vector<bool> failed(rows->size());
    // Of what failed, less than 0.
    const std::vector<double> took = for_each_forked(missing.size(), [&](size_t i) {
      const int64_t start = monotonic_ns();
      const auto kernel = kernels_.find((*rows)[missing[i]]);
      const bool built = kernel && kernel->compile(problem, device_->target(), context_);
      const double spent = static_cast<double>(monotonic_ns() - start) * 1e-9;
      return built ? spent : -spent;
    });
    for (size_t i = 0; i < missing.size(); ++i) {
      seconds[missing[i]] = std::abs(took[i]);
      failed[missing[i]] = took[i] < 0;
    }
    answer.json["seconds"] = seconds;
    answer.json["failed"] = failed;
    return answer;
  }

  Result<Answer> export_source(Message& message) {
    ASSAY_TRY(const Problem problem, problem_from(message.json));
    ASSAY_TRY(const Kernel kernel, kernel_from(message.json));
    ASSAY_TRY(const Artifact artifact, kernel.compile(problem, device_->target(), context_));
    ASSAY_TRY(
        const KernelExport made,
        export_kernel(kernel, problem,
                      {.target = device_->target(), .threads = threads_, .artifact = &artifact}));
    Answer answer;
    answer.json["export"] = made.to_json();
    return answer;
  }

  Result<std::pair<Kernel, Artifact>> candidate(const Json& json) {
    ASSAY_TRY(Kernel kernel, kernel_from(json));
    ASSAY_TRY(const Json* artifact, member(json, "artifact"));
    ASSAY_TRY(Artifact compiled, Artifact::from_json(*artifact));
    return std::pair(std::move(kernel), reachable(std::move(compiled)));
  }

  // One check of conformance.h, with its problem where it has one.
  Result<Answer> conform(Message& message) {
    ASSAY_TRY(const std::string name, text(message.json, "check"));
    const auto checks = verify::conformance_checks();
    const auto check = std::find_if(checks.begin(), checks.end(),
                                    [&](const auto& one) { return one.name == name; });
    if (check == checks.end()) return fail(ErrorCode::internal, "there is no check '{}'", name);
    std::optional<Problem> problem;
    if (check->per_problem) {
      ASSAY_TRY(problem, problem_from(message.json));
    }
    const verify::ConformanceResult result =
        check->run({.catalog = kernels_.catalog(),
                    .device = *device_,
                    .context = context_,
                    .at_rest = [this] { return scheduler_.wait_until_quiet(kRestNs); }},
                   problem ? &*problem : nullptr);
    Answer answer;
    answer.json = {{"faults", result.faults},
                   {"looked_at", result.looked_at},
                   {"ran", result.ran},
                   {"refusals", result.refusals.to_json()}};
    return answer;
  }

  Result<Answer> manners(Message&) {
    Answer answer;
    auto faults = manners_.find_faults(scheduler_);
    for (const Finding& finding : loads_.all()) faults.push_back("it " + finding.sentence);
    // A card's driver may arm what it likes.
    if (const auto armed = armed_.find_more(); card_ == nullptr && !armed.empty())
      faults.push_back("it " + armed);
    answer.json["faults"] = std::move(faults);
    return answer;
  }

  Result<Answer> timer(Message&) {
    measure::TimerFacts facts;
    if (card_ != nullptr) {
      ASSAY_TRY(facts, measure_card_timer(*card_));
    } else {
      facts = measure::measure_timer();
    }
    Answer answer;
    answer.json = {{"tick_ns", facts.tick_ns},
                   {"read_ns", facts.read_ns},
                   {"empty_burst_ns", facts.empty_burst_ns}};
    return answer;
  }

  Result<Answer> ceilings(Message&) {
    constexpr double kSeconds = 0.12;
    Answer answer;
    Json& list = answer.json["ceilings"] = Json::array();
    std::vector<measure::Reading> readings;
    if (card_ != nullptr) {
      ASSAY_TRY(const auto ceilings, card_ceilings(*card_, cache_path_));
      for (const Ceiling& ceiling : ceilings) readings.push_back({ceiling, ceiling.value});
    } else {
      readings = measure::measure_ceilings(threads_, device_->last_level_cache_bytes(), kSeconds);
    }
    for (const auto& [ceiling, largest] : readings)
      list.push_back({{"name", ceiling.name},
                      {"value", ceiling.value},
                      {"largest", largest},
                      {"unit", ceiling.unit},
                      {"threads", ceiling.threads},
                      {"from", ceiling.from},
                      {"until", ceiling.until}});
    return answer;
  }

  // How the card has been (record/card_window.h), in the process that launches no candidate.
  Result<Answer> card(Message&) {
    Answer answer;
    if (watch_)
      answer.json = assay::to_json(watch_->take());
    else
      answer.json["unwatched"] = why_unwatched_;
    return answer;
  }

  const CatalogSetup& setup_;
  Surroundings place_;
  bool confined_ = false;  // Users' code may run here from now on.
  std::string cache_path_;
  UniqueFd cache_folder_;  // Open where this process has become another user.
  std::unique_ptr<Device> device_;
  cuda::CudaDevice* card_ = nullptr;  // The device, where it is a card.
  std::vector<std::string> notes_;    // For the user, with the next answer.
  std::unique_ptr<CardWatch> watch_;  // Of the card, in a process that runs no candidates.
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
  MessageChannel channel{UniqueFd(kChannelFd)};
  Worker worker(providers, setup, rankers, std::move(place));
  serve(channel, [&](Message& message) { return worker.handle(message); });
  return {};
}

Status profile_main(const std::vector<std::unique_ptr<Provider>>& providers, const Json& script) {
  const CatalogSetup setup;
  const std::vector<std::unique_ptr<Ranker>> rankers;
  Worker worker(providers, setup, rankers, Surroundings{});
  const auto ask = [&](const char* what, Json json, std::vector<UniqueFd> fds = {}) {
    json["do"] = what;
    Message message{std::move(json), std::move(fds)};
    return worker.handle(message);
  };
  ASSAY_TRY(const Json* init, member(script, "init"));
  ASSAY_TRY(const std::string sources, text(script, "sources"));
  std::vector<UniqueFd> brought;
  brought.emplace_back(::open(sources.c_str(), O_RDONLY | O_CLOEXEC));
  if (!brought.front()) return fail(ErrorCode::not_found, "there is no file '{}'", sources);
  ASSAY_TRY(ask("init", *init, std::move(brought)).map([](const Answer&) {}));
  ASSAY_TRY(const Problem problem, problem_from(script));
  ASSAY_TRY(const Operation* operation, find_operation(problem.operation()));
  ASSAY_TRY(const auto instance, operation->make_instance(problem, InputKind::uniform, 1));
  std::vector<UniqueFd> inputs;
  for (size_t i = 0; i < problem.operands().size(); ++i) {
    if (problem.operands()[i].access == Access::write) continue;
    ASSAY_TRY(auto file, instance->input_file(i));
    inputs.push_back(std::move(file));
  }
  Json load = script;
  load["instances"] = 1;
  ASSAY_TRY(ask("load", std::move(load), std::move(inputs)).map([](const Answer&) {}));
  Json rotate = script;
  rotate["key"] = 1u;  // Nothing is claimed of what is profiled.
  ASSAY_TRY(ask("rotate", std::move(rotate)).map([](const Answer&) {}));
  ASSAY_TRY(const Answer opened, ask("open", script));
  Json launches = script;
  launches["handle"] = opened.json["handle"];
  return ask("profile", std::move(launches)).map([](const Answer&) {});
}

}  // namespace assay::sweep
