#include "assay/worker/cpu/turn.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "assay/base/clock.h"
#include "assay/base/random.h"
#include "assay/measure/flush.h"
#include "assay/measure/output_digest.h"
#include "assay/process/set_turns.h"

namespace assay::sweep {

WorkerProblem::Turn::Turn(WorkerProblem& problem, OpenKernel& kernel, int launches, uint64_t seed)
    : problem_(problem), kernel_(kernel), wanted_(static_cast<size_t>(std::max(1, launches))) {
  const auto secret = secret_seed();
  key_ = secret ? seed_from(*secret, fmt::format("burst {}", seed)) : seed;
  const bool leads_in = problem_.is_warm() || (wanted_ > 1 && problem_.threads_ == 1);
  chosen_ = problem_.turns_->choose(leads_in ? wanted_ + 1 : wanted_, kernel_.outputs, key_);
  leads_in_ = leads_in && chosen_.size() > 1;
  used_.reserve(chosen_.size());  // No allocation while the clock runs.
  told_.reserve(chosen_.size());
}

Status WorkerProblem::Turn::bind() {
  for (const size_t s : chosen_) ASSAY_TRY(problem_.bind(kernel_, s));
  return {};
}

WorkerProblem::Turn::~Turn() {
  for (const size_t s : used_)
    problem_.sets_->cool(problem_.set_of(s), kernel_.panels->sets[problem_.set_of(s)]);
  problem_.cool_what_is_kept();
}

Result<bool> WorkerProblem::Turn::lead_in() {
  if (!leads_in_) return false;
  const size_t led_by = take();
  problem_.sets_->renew(problem_.set_of(led_by), seed_of_launch(key_, 0));
  give_inputs(led_by);
  ahead_ = {{led_by, kUntimed}};
  ASSAY_TRY(draw()->launch(*problem_.stream_));
  ASSAY_TRY(problem_.stream_->synchronize());
  problem_.launched_ = true;
  led_in_ns_ = monotonic_ns();
  return true;
}

Result<bool> WorkerProblem::Turn::make_cold() {
  if (chosen_.empty()) return false;
  if (led_in_ns_ == 0) led_in_ns_ = monotonic_ns();
  if (problem_.is_warm()) {
    take();
    rehearse();
    return true;
  }
  left_ = std::exchange(chosen_, {});
  rehearse();
  // Whoever ran in a user's process since these were last flushed may have read them.
  if (leads_in_ || problem_.copies_) forget_lead_in();
  approach_ns_ = monotonic_ns() - led_in_ns_;
  if (problem_.approach_ && problem_.approach_ns_ > 0)
    ASSAY_TRY(problem_.approach_->end(led_in_ns_ + problem_.approach_ns_));
  if (problem_.threads_ == 1) equalise_outputs();
  return true;
}

Status WorkerProblem::Turn::make_ready(uint64_t key) {
  // In which order sets are taken is another secret than what they hold.
  key_ = measure::draw_unknown();
  told_.clear();
  for (const size_t s : left_) {
    const uint64_t seed = seed_of_launch(key, told_.size());
    problem_.sets_->renew(problem_.set_of(s), seed);
    give_inputs(s);
    told_.push_back({s, seed});
  }
  ahead_.insert(ahead_.end(), told_.begin(), told_.end());
  return {};
}

Plan* WorkerProblem::Turn::draw() {
  if (left_.empty()) return nullptr;
  const size_t s = draw_one(left_, key_);
  used_.push_back(s);
  return &*kernel_.plans[s];
}

std::span<const std::byte> WorkerProblem::Turn::told_at_stop() {
  problem_.launched_ = true;
  ahead_.clear();
  digest_.drawn = measure::draw_unknown();
  measure::OutputDigest digest(digest_.drawn);
  const size_t output_bytes = problem_.outputs_.bytes;
  measure::for_each_part(
      digest_.drawn, told_.size(), output_bytes, [&](const measure::OutputPart& part) {
        digest.add(written_by(told_[part.output].plan).subspan(part.offset, part.bytes));
      });
  digest_.digest = digest.value();
  return as_told(digest_);
}

// What makes inputs lies in caches then, whatever the kernel before has read: that takes as long
// for all kernels.
void WorkerProblem::Turn::rehearse() {
  problem_.sets_->renew(problem_.set_of(left_.front()), measure::draw_unknown() | 1);
}

// What the launch of this plan finds in outputs that it also reads: as cold as inputs are.
void WorkerProblem::Turn::give_inputs(size_t plan) {
  const OutputPlaces& outputs = problem_.outputs_;
  const std::span<std::byte> piece = kernel_.buffers->at(plan % kernel_.outputs);
  outputs.give(problem_.sets_->data(problem_.set_of(plan)), piece.data());
  // An input that was put there has brought its own gaps.
  if (std::ranges::any_of(outputs.places, &OutputPlaces::Place::read))
    problem_.gaps_.poison(piece, kernel_.gaps_seed);
  if (problem_.condition_.cache != measure::Cache::cold) return;
  for (const OutputPlaces::Place& place : outputs.places)
    if (place.read) measure::flush_from_caches(piece.subspan(place.offset, place.bytes));
}

// Nobody times it: it may have read whatever comes next, and so may have who worked for it until
// threads were at rest.
void WorkerProblem::Turn::forget_lead_in() {
  for (const size_t s : left_)
    problem_.sets_->make_cold(problem_.set_of(s), kernel_.panels->sets[problem_.set_of(s)]);
  problem_.cool_what_is_kept();
}

// Whatever ran before, outputs lie where those of all kernels do: with the operands.
void WorkerProblem::Turn::equalise_outputs() {
  const bool cold = problem_.condition_.cache == measure::Cache::cold;
  for (const size_t s : left_) {
    const std::span<const std::byte> output = written_by(s);
    if (cold)
      measure::flush_from_caches(output);
    else
      measure::read_into_caches(output);
  }
}

std::span<const std::byte> WorkerProblem::Turn::written_by(size_t plan) const {
  return kernel_.buffers->at(plan % kernel_.outputs);
}

// In the order in which they were chosen: whoever looks from outside keeps turns by what is told,
// and takes a set that comes too soon by that order for a choice of the kernel's.
size_t WorkerProblem::Turn::take() {
  left_ = {chosen_.front()};
  chosen_.erase(chosen_.begin());
  return left_.front();
}

}  // namespace assay::sweep
