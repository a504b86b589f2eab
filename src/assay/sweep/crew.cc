#include "assay/sweep/crew.h"

#include <algorithm>
#include <thread>
#include <unistd.h>

#include <fmt/format.h>

#include "assay/base/file.h"
#include "assay/base/subprocess.h"
#include "assay/base/text.h"
#include "assay/base/visible_gpus.h"
#include "assay/process/guest_process.h"
#include "assay/process/messages.h"

namespace assay::sweep {
namespace {

// Of the machine's memory, what workers may keep between problems: the first touch of new pages
// took a third of a sweep's time where a hypervisor hands them out.
constexpr double kRunnersShare = 1.0 / 8;
constexpr double kProversShare = 1.0 / 64;    // Of each process that helps the runner prove.
constexpr double kConfirmersShare = 1.0 / 4;  // Of all together.
constexpr double kContextBytes = 0x1p29;      // Of a GPU, by a process that has done nothing yet.
constexpr double kStartSeconds = 60;  // Loading libraries from a cold disk, users' compilers aside.

// A process of a GPU sees that GPU alone, and so does all that it starts: a library that takes
// "the first GPU" takes this one, and a candidate cannot reach another.
std::vector<std::string> gpu_environment(const Request& request) {
  std::vector<std::string> environment = request.caller.environment;
  if (request.venue.is_gpu()) set_variable(environment, kVisibleGpus, request.venue.gpu);
  return environment;
}

}  // namespace

// Thread pools must sleep between bursts, and use the cores they are given; between the launches of
// one burst they may spin, as they do in a caller's loop: for a fraction of a millisecond, where
// OpenBLAS would spin for 2^28 cycles and keep every other kernel waiting. Libraries read this when
// they are mapped, so it is set when the worker is executed.
std::vector<std::string> worker_environment(const Request& request) {
  std::vector<std::string> environment = gpu_environment(request);
  const auto set = [&](std::string_view name, std::string_view value) {
    set_variable(environment, name, value);
  };
  const std::string threads = fmt::to_string(std::max(1, request.venue.threads));
  set("OMP_WAIT_POLICY", "passive");
  set("GOMP_SPINCOUNT", "10000");        // Pauses: 0.1 to 0.5 ms.
  set("KMP_BLOCKTIME", "1");             // Milliseconds.
  set("OPENBLAS_THREAD_TIMEOUT", "20");  // 2^20 cycles: 0.2 to 0.5 ms.
  set("OMP_DYNAMIC", "false");
  set("OMP_NUM_THREADS", threads);
  set("OPENBLAS_NUM_THREADS", threads);
  set("MKL_NUM_THREADS", threads);
  set("BLIS_NUM_THREADS", threads);
  return environment;
}

process::Init worker_init(const Request& request, const input::PackedSources& sources) {
  process::Init init;
  init.venue = request.venue;
  init.venue.threads = std::max(0, request.venue.threads);
  init.providers = request.pool.providers;
  init.kernels = sources.json;
  init.files.lend(sources.bytes.get());
  init.cache = request.keep.cache.string();
  init.folder = request.keep.folder.string();
  init.parent = ::getpid();
  init.counts = request.effort.count_events;
  init.cxx = request.pool.cxx;
  init.compile_timeout_seconds = request.limits.compile_seconds;
  init.compile_memory_bytes = compiler_memory(request.limits.memory_bytes);
  return init;
}

Result<std::unique_ptr<Child>> start_process(const ChildOptions& options) {
  ASSAY_TRY(auto started, ChildProcess::start(options));
  return std::make_unique<ChildProcess>(std::move(started));
}

Crew::~Crew() { dismiss(); }

Result<const input::PackedSources*> Crew::sources() {
  if (!sources_) {
    ASSAY_TRY(sources_, input::pack(request_.pool.kernels));
  }
  return &*sources_;
}

Result<std::unique_ptr<Child>> Crew::start_worker(const WorkerKind& kind) {
  ChildOptions options;
  options.role = "worker";
  options.lets_others_run = true;
  options.program = request_.caller.program;
  options.environment = worker_environment(request_);
  // Of processes that run candidates: what measures ceilings fills three caches, and some are
  // large.
  options.memory_limit_bytes = kind.confined ? request_.limits.memory_bytes : 0;
  options.cancel_fd = request_.caller.cancel_fd;
  options.pulses = kind.confined;
  options.guard = kind.confined ? rules_of(request_.venue).guard : ChildOptions::Guard::present;
  // Confined workers may be another user, who must find it there.
  if (kind.confined) (void)make_directories(request_.keep.cache.string());
  ASSAY_TRY(auto child, start_(options));

  ASSAY_TRY(const input::PackedSources* const packed, sources());
  process::Init init = worker_init(request_, *packed);
  init.kept_share = kind.kept_share;
  init.pin = kind.pinned;
  init.confine = kind.confined;
  init.watch = !kind.confined;
  init.pulses = options.pulses;
  if (kind.copies_code) init.code = code_;
  auto ready = ask(*child, init, kStartSeconds, "starting a worker");
  if (!ready) {
    // It was there when the run began.
    if (request_.venue.is_gpu() && !facts_.target.empty() &&
        ready.error().code == ErrorCode::unsupported)
      ready.error().code = ErrorCode::device_lost;
    return fail(std::move(ready).error());
  }
  for (const auto& waits : ready->waiting)
    if (waits.file >= request_.pool.kernels.size())
      return fail(ErrorCode::internal, "a worker names file {} of {}", waits.file,
                  request_.pool.kernels.size());
  facts_ = std::move(*ready);
  if (kind.confined) {
    process::Confinement& confinement = facts_.confinement;
    // To look at a GPU's process takes 20 ms, and what users brought cannot reach its code.
    confinement.code_is_watched = confinement.native_guests && child->remember_code();
    native_guests_ = confinement.native_guests;
    if (on_confined_) ASSAY_TRY(on_confined_(confinement));
  }
  return child;
}

// The index-th of `workers`, which tasks side by side may ask for: others may come while one
// starts.
Result<Child*> Crew::worker_at(std::vector<std::unique_ptr<Child>>& workers, size_t index,
                               const WorkerKind& kind) {
  if (workers.size() <= index) workers.resize(index + 1);
  if (!workers[index] || !workers[index]->alive()) {
    ASSAY_TRY(auto started, start_worker(kind));
    workers[index] = std::move(started);
  }
  return workers[index].get();
}

Result<Child*> Crew::confirmer(size_t index) {
  leaving_.clear();
  return worker_at(confirmers_, index,
                   {.copies_code = rules_of(request_.venue).copies_code,
                    .kept_share = kConfirmersShare / static_cast<double>(most_confirmers())});
}

Result<Child*> Crew::member(size_t company, size_t index) {
  if (index > 0) return worker_at(guests_[company], index - 1, {});
  return company == kRace ? runner() : confirmer(company - 1);
}

std::vector<std::function<Status()>> Crew::starts(size_t provers) {
  std::vector<std::function<Status()>> tasks;
  for (size_t i = 0; i < provers; ++i)
    tasks.push_back([this, i] { return prover(i).map([](Child*) {}); });
  if (!confirmers_prove()) return tasks;
  const size_t wanted = std::min(confirmers_at_once(kContextBytes),
                                 static_cast<size_t>(std::max(1, request_.effort.processes)));
  for (size_t i = std::max<size_t>(provers, 1) - 1; i < wanted; ++i)
    tasks.push_back([this, i] { return confirmer(i).map([](Child*) {}); });
  return tasks;
}

void Crew::dismiss_confirmers() {
  const auto leave = [&](std::vector<std::unique_ptr<Child>>& children) {
    for (auto& child : children) {
      if (!child) continue;
      child->begin_to_end();
      leaving_.push_back(std::move(child));
    }
    children.clear();
  };
  leave(confirmers_);
  for (auto& [company, guests] : guests_)
    if (company != kRace) leave(guests);
}

size_t Crew::most_confirmers() const {
  constexpr size_t kMost = 8;
  const auto cores = request_.venue.is_cpu() ? static_cast<size_t>(std::max(1, facts_.threads))
                                             : std::thread::hardware_concurrency() / 2;
  return std::clamp<size_t>(cores, 1, kMost);
}

size_t Crew::confirmers_at_once(double bytes_each) const {
  constexpr double kMemoryShare = 1.0 / 4;
  const double room = static_cast<double>(facts_.memory_bytes) * kMemoryShare / bytes_each;
  const size_t most = most_confirmers();
  return room < 1 ? 1 : room < static_cast<double>(most) ? static_cast<size_t>(room) : most;
}

Result<Child*> Crew::builder() {
  if (!builder_ || !builder_->alive()) {
    ASSAY_TRY(builder_, start_worker({.confined = false}));
  }
  return builder_.get();
}

Status Crew::bring(Child& worker, size_t file) {
  const auto brought = worker.call(process::Bring{file}, request_.limits.trial_seconds);
  if (brought) return {};
  if (const auto* error = std::get_if<Error>(&brought.error())) return fail(*error);
  Error error = as_error(brought.error(), "while it was loaded and said what it offers");
  return fail(ErrorCode::invalid_input, "{}: {}", sanitize(request_.pool.kernels[file].text(), 300),
              error.message);
}

Result<Child*> Crew::discoverer() {
  ASSAY_TRY(Child* const builds, builder());
  if (facts_.waiting.empty()) return builds;
  ASSAY_TRY(Child* const runs, guest());
  for (size_t i = 0; i < facts_.waiting.size(); ++i)
    if (i == 0 || facts_.waiting[i].file != facts_.waiting[i - 1].file)
      ASSAY_TRY(bring(*runs, facts_.waiting[i].file));
  return runs;
}

Result<Child*> Crew::builder_of(const std::string& provider, const std::string& family) {
  ASSAY_TRY(Child* const builds, builder());
  const bool runs_code = std::any_of(
      facts_.waiting.begin(), facts_.waiting.end(),
      [&](const auto& waits) { return waits.provider == provider && waits.family == family; });
  return runs_code ? guest() : builds;
}

Result<Child*> Crew::guest() {
  if (!guest_ || !guest_->alive()) {
    ASSAY_TRY(guest_, start_worker({.pinned = false}));
  }
  return guest_.get();
}

Result<Child*> Crew::runner() {
  leaving_.clear();
  if (!runner_ || !runner_->alive()) {
    ASSAY_TRY(runner_, start_worker({.kept_share = kRunnersShare}));
  }
  return runner_.get();
}

Result<Child*> Crew::prover(size_t index) {
  if (index == 0) return runner();
  // Processes take seconds to reach a GPU: one context after the other.
  if (confirmers_prove()) return confirmer(index - 1);
  return worker_at(provers_, index - 1, {.pinned = false, .kept_share = kProversShare});
}

Result<Child*> Crew::referee() {
  if (!referee_ || !referee_->alive()) {
    ChildOptions options;
    options.role = "referee";
    options.program = request_.caller.program;
    options.environment = gpu_environment(request_);
    options.cancel_fd = request_.caller.cancel_fd;
    ASSAY_TRY(referee_, start_(options));
  }
  return referee_.get();
}

Status Crew::open_referees_gpu() {
  if (request_.venue.is_cpu() || referees_gpu_ != RefereesGpu::none) return {};
  ASSAY_TRY(Child * judge, referee());
  const auto opened =
      judge->call(process::OpenGpu{request_.venue.gpu, request_.venue.cuda_driver}, kStartSeconds);
  referees_gpu_ = opened ? RefereesGpu::opened : RefereesGpu::unseen;
  if (opened || judge->alive()) return {};
  return fail(as_error(opened.error(), "giving the referee the GPU"));
}

Status Crew::show_gpu_to_referee() {
  if (referees_gpu_ != RefereesGpu::opened) return {};
  referees_gpu_ = RefereesGpu::unseen;
  ASSAY_TRY(Child * worker, runner());
  ASSAY_TRY(Child * judge, referee());
  const auto shared = worker->call(process::ShareWord{}, kStartSeconds);
  if (!shared) {
    if (worker->alive() && !is_interruption(shared.error())) return {};
    return fail(as_error(shared.error(), "sharing memory of the GPU"));
  }
  const auto seen = judge->call(process::ViewWord{shared->memory, shared->word}, kStartSeconds);
  if (seen) referees_gpu_ = RefereesGpu::seen;
  if (seen || (judge->alive() && !is_interruption(seen.error()))) return {};
  return fail(as_error(seen.error(), "looking at memory of the GPU"));
}

void Crew::dismiss() {
  // All at once: each takes its time to leave a GPU.
  for (const auto* one : {&builder_, &guest_, &runner_, &referee_})
    if (*one) (*one)->begin_to_end();
  std::vector<const std::vector<std::unique_ptr<Child>>*> all = {&provers_, &confirmers_,
                                                                 &leaving_};
  for (const auto& [company, guests] : guests_) all.push_back(&guests);
  for (const auto* many : all)
    for (const auto& child : *many)
      if (child) child->begin_to_end();
  builder_.reset();
  guest_.reset();
  runner_.reset();
  referee_.reset();
  provers_.clear();
  confirmers_.clear();
  leaving_.clear();
  guests_.clear();
}

}  // namespace assay::sweep
