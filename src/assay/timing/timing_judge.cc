// The part of TimingProcess that judges what bursts left behind.

#include <algorithm>
#include <utility>

#include "assay/op/outputs.h"
#include "assay/timing/bound_advice.h"
#include "assay/timing/endings.h"
#include "assay/timing/line_errors.h"
#include "assay/timing/timing_process.h"

namespace assay::sweep {

// Of one open kernel: as the system shows it, or if it does not, as the process hands it out.
class TimingProcess::Memory final : public OutputMemory {
 public:
  Memory(Child& worker, int handle, double timeout_seconds)
      : worker_(worker), handle_(handle), timeout_seconds_(timeout_seconds) {}

  Result<std::vector<std::byte>> read(size_t plan, uint64_t address, size_t offset,
                                      size_t bytes) override {
    if (worker_.shows_memory()) return worker_.read_memory(address + offset, bytes);
    auto answer =
        worker_.call(process::Collect{.handle = handle_, .choice = plan}, timeout_seconds_);
    if (!answer) {
      failure = answer.error();
      return fail(as_error(answer.error(), "reading an output"));
    }
    if (answer->files.empty()) return fail(ErrorCode::internal, "an output is missing");
    ASSAY_TRY(const auto output, MappedFile::map_read_only(answer->files[0], Seal::fixed_size));
    if (output.size() < bytes || offset > output.size() - bytes)
      return fail(ErrorCode::internal, "an output of another length");
    const auto part = output.bytes().subspan(offset, bytes);
    return std::vector<std::byte>(part.begin(), part.end());
  }

  std::optional<CallFailure> failure;  // Why it was not handed out.

 private:
  Child& worker_;
  int handle_;
  double timeout_seconds_;
};

std::optional<TimedOutputs> TimingProcess::outputs_at(std::vector<uint64_t> places) const {
  const size_t bytes = OutputPlaces::of(site_.problem).bytes;
  return TimedOutputs::at(std::move(places), bytes, static_cast<size_t>(sets_));
}

void TimingProcess::forget_outputs(size_t candidate) {
  turns_.forget();
  if (const auto outputs = outputs_.find(candidate); outputs != outputs_.end())
    outputs->second.forget();
}

Result<std::optional<size_t>> TimingProcess::find_late_work() {
  // Stock kernels and ours are looked at where one of their outputs is judged.
  if (!last_ || member_ == 0 || !worker_->shows_memory() || !is_open(*last_)) return std::nullopt;
  Memory memory(*worker_, handles_.at(*last_), site_.trial_seconds);
  const auto changed = outputs_.at(*last_).changed(memory);
  // What cannot be read is no more: the next call tells how it ended.
  return changed && *changed ? last_ : std::nullopt;
}

CallResult<std::optional<TimingProcess::Looked>> TimingProcess::look_on_cores(size_t index) {
  const TimedOutputs& outputs = outputs_.at(index);
  const std::vector<ToldLaunch> all = outputs.launches();
  if (all.empty()) return std::optional<Looked>();
  Memory memory(*worker_, handles_.at(index), site_.trial_seconds);
  const auto failed = [&](const Error& error) {
    return tl::unexpected<CallFailure>(memory.failure ? *memory.failure : CallFailure(error));
  };
  Looked looked;
  const bool is_users = field_.candidates[index].outcome.role == KernelRole::user;
  const size_t drawn = random_() % all.size();
  for (size_t i = 0; i < all.size(); ++i) {
    if (!is_users && i != drawn) continue;
    const auto output = outputs.read(memory, all[i]);
    if (!output) return failed(output.error());
    auto file = create_sealed_memfd("assay-output", *output);
    if (!file) return failed(file.error());
    const bool warm = site_.condition.cache == measure::Cache::warm;
    looked.outputs.push_back({{warm ? 0 : all[i].plan, all[i].seed}, {{}, file->get()}});
    looked.files.push_back(std::move(*file));
  }
  // Behind the copies: what was late for them shows here.
  const auto changed = outputs.changed(memory);
  if (!changed) return failed(changed.error());
  if (*changed) looked.late = kOutputChanged;
  return std::optional(std::move(looked));
}

CallResult<std::optional<TimingProcess::Looked>> TimingProcess::look_at_outputs(size_t index) {
  if (is_on_cores()) return look_on_cores(index);
  auto answer = worker_->call(
      process::Collect{handles_.at(index), random_() >> 1, site_.processes.referee_sees_gpu()},
      site_.trial_seconds);
  if (!answer) {
    const auto* error = std::get_if<Error>(&answer.error());
    if (error != nullptr && error->code == ErrorCode::not_found) return std::optional<Looked>();
    return tl::unexpected(std::move(answer.error()));
  }
  if (answer->launch == 0)
    return tl::unexpected<CallFailure>(worker_->dismiss("an output of no launch"));
  Looked looked;
  looked.outputs.push_back(
      {{answer->set, answer->launch}, seen_output(answer->output, answer->files)});
  looked.files = answer->files.take();
  return std::optional(std::move(looked));
}

Status TimingProcess::judge(const Instances& instances, size_t index, bool launch_again) {
  if (!is_open(index)) return {};
  auto looked = look_at_outputs(index);
  Candidate& candidate = field_.candidates[index];
  const auto fell = [&](const CallFailure& failure) -> Status {
    if (is_interruption(failure)) return fail(std::get<Error>(failure));
    if (!worker_->alive()) return recover({index}, ending_of(failure, "collect"));
    candidate.outcome.ending = ending_of(failure, "collect");
    handles_.erase(index);
    return {};
  };
  if (!looked) return fell(looked.error());
  if (!*looked) {
    // It was timed in a worker that is gone, and its outputs with it: once more, here.
    if (!launch_again) return {};
    BurstRound round;
    ASSAY_TRY(call_bursts({index}, random_() >> 1, "race", round));
    return judge(instances, index, false);
  }
  if (const std::string& late = (*looked)->late; !late.empty()) {
    worker_->dismiss(kWorkWentOn);
    return recover({index}, late_work(late));
  }
  // No other user's code has run in that process.
  if (candidate.outcome.role == KernelRole::user)
    if (const std::string changed = worker_->find_changed_code(); !changed.empty()) {
      worker_->dismiss("its code was changed");
      return recover({index},
                     ending::Violation{"patched_code", "while it was timed, it " + changed});
    }
  const auto told = worker_->call(process::FindTrespasses{handles_.at(index)}, site_.trial_seconds);
  if (!told) return fell(told.error());
  if (!told->trespass.empty())
    candidate.outcome.ending =
        ending::Violation{"writes_outside", "while it was timed: " + told->trespass};
  std::optional<Check> wrong;
  for (const auto& [timed, output] : (*looked)->outputs) {
    ASSAY_TRY(const Check check, instances.check(0, output, timed, candidate.error_bound));
    if (candidate.outcome.proof) {
      candidate.outcome.proof->launches += 1;
      if (check.right) add_line_errors(*candidate.outcome.proof, check);
    }
    if (!check.right && !wrong) wrong = check;
  }
  if (launch_again && worker_->alive() && (wrong || !told->beside_inputs.empty())) {
    // All share the inputs: who changed them, or wrote beside them, need not be this one.
    ASSAY_TRY(const auto violation, look_at_inputs());
    if (violation || !told->beside_inputs.empty()) {
      ASSAY_TRY(find_changer());
      return judge(instances, index, false);
    }
  }
  if (wrong && candidate.alive())
    candidate.outcome.ending =
        ending::Mismatch{"an output of a timed launch is wrong: " + wrong->first_wrong +
                         (wrong->within_normwise == true ? bound_advice(site_.problem) : "") +
                         cancelling_advice(site_.problem, *wrong, std::nullopt)};
  if (!candidate.alive()) handles_.erase(index);
  return {};
}

Result<std::optional<ending::Violation>> TimingProcess::look_at_inputs() {
  ASSAY_TRY(const auto answer,
            ask(*worker_, process::LookAtInputs{}, kOpenSeconds, "looking at the inputs"));
  if (!answer.trespass.empty())
    return ending::Violation{"writes_outside", "while it was timed: " + answer.trespass};
  if (answer.intact) return std::nullopt;
  return ending::Violation{"inputs_changed", "wrote to an input while it was timed"};
}

// Some kernel changed the inputs of all while it was timed, or wrote beside them. In a new worker,
// which looks after every burst, it shows whose doing that is: within as many rounds as it took,
// and some, since it may count its calls. Afterwards everybody has run on inputs that are as they
// should be.
Status TimingProcess::find_changer() {
  one_by_one_ = true;
  const std::vector<size_t> who = all_open();
  ASSAY_TRY(load_and_open(who));
  const int rounds = 2 * calls_ / std::max(1, static_cast<int>(one_by_one() ? who.size() : 1)) + 8;
  bool found = false;
  for (int round = 0; round < rounds && !found; ++round) {
    for (const size_t candidate : who) {
      if (!is_open(candidate) || found) continue;
      BurstRound alone;
      alone.complete = true;
      ASSAY_TRY(call_bursts({candidate}, random_() >> 1, "race", alone));
      if (!alone.complete) continue;
      ASSAY_TRY(const auto violation, look_at_inputs());
      if (!violation) continue;
      found = true;
      worker_->dismiss("inputs that were changed");
      ASSAY_TRY(recover({candidate}, *violation));
    }
  }
  for (const size_t candidate : who) {
    BurstRound alone;
    if (is_open(candidate)) ASSAY_TRY(call_bursts({candidate}, random_() >> 1, "race", alone));
  }
  return {};
}

}  // namespace assay::sweep
