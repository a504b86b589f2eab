#include "assay/watch/timed_outputs.h"

#include <algorithm>
#include <utility>

#include "assay/measure/output_digest.h"

namespace assay::sweep {
namespace {

// More than any kernel's launches go round.
constexpr size_t kMostPlaces = 4096;

}  // namespace

std::optional<TimedOutputs> TimedOutputs::at(std::vector<uint64_t> places, size_t bytes,
                                             size_t plans) {
  if (places.empty() || places.size() > kMostPlaces || bytes == 0) return std::nullopt;
  std::vector<uint64_t> sorted = places;
  std::ranges::sort(sorted);
  for (size_t i = 0; i + 1 < sorted.size(); ++i)
    if (sorted[i + 1] - sorted[i] < bytes) return std::nullopt;
  if (sorted.front() == 0 || sorted.back() > UINT64_MAX - bytes) return std::nullopt;
  TimedOutputs outputs;
  outputs.places_ = std::move(places);
  outputs.bytes_ = bytes;
  outputs.plans_ = plans;
  return outputs;
}

std::optional<TimedOutputs::Stretch> TimedOutputs::read_stretch(const BurstMoments::Stretch& told,
                                                                std::set<uint64_t>& used) {
  auto launches = read_told<ToldLaunch>(told.started.pulse.told);
  const auto digest = read_told<ToldDigest>(told.looked);
  if (!launches || !digest || digest->size() != 1) return std::nullopt;
  const bool leads_in = used.empty() && !launches->empty() && launches->front().seed == kUntimed;
  for (const ToldLaunch& launch : *launches) {
    if (launch.plan >= plans_ || !used.insert(place_of(launch.plan)).second) return std::nullopt;
    plans_used_.push_back(launch.plan);
  }
  if (leads_in) launches->erase(launches->begin());
  if (launches->empty()) return std::nullopt;
  for (size_t place = 0; place < launches->size(); ++place)
    if ((*launches)[place].seed != seed_of_launch(told.ready.answer, place)) return std::nullopt;
  return Stretch{std::move(*launches), digest->front()};
}

bool TimedOutputs::hear(const BurstMoments& moments, int launches) {
  stretches_.clear();
  plans_used_.clear();
  std::set<uint64_t> used;
  size_t count = 0;
  for (const BurstMoments::Stretch& told : moments.stretches) {
    auto stretch = read_stretch(told, used);
    if (!stretch) return false;
    count += stretch->launches.size();
    stretches_.push_back(std::move(*stretch));
  }
  return std::cmp_equal(count, launches);
}

bool PlanTurns::take(const std::vector<uint64_t>& plans) {
  for (const uint64_t plan : plans) {
    if (plan >= last_used_.size()) return false;
    const uint64_t last = last_used_[plan];
    const auto newer =
        std::ranges::count_if(last_used_, [&](uint64_t other) { return other > last; });
    if (last > 0 && std::cmp_less(newer + 1, last_used_.size() / 2)) return false;
  }
  for (const uint64_t plan : plans) last_used_[plan] = ++time_;
  return true;
}

std::vector<ToldLaunch> TimedOutputs::launches() const {
  std::vector<ToldLaunch> all;
  for (const Stretch& stretch : stretches_)
    all.insert(all.end(), stretch.launches.begin(), stretch.launches.end());
  return all;
}

Result<bool> TimedOutputs::changed(OutputMemory& memory) const {
  for (const Stretch& stretch : stretches_) {
    measure::OutputDigest digest(stretch.digest.drawn);
    Status read;
    measure::for_each_part(stretch.digest.drawn, stretch.launches.size(), bytes_,
                           [&](const measure::OutputPart& part) {
                             if (!read) return;
                             const uint64_t plan = stretch.launches[part.output].plan;
                             const auto bytes =
                                 memory.read(plan, place_of(plan), part.offset, part.bytes);
                             if (bytes)
                               digest.add(*bytes);
                             else
                               read = fail(bytes.error());
                           });
    if (!read) return fail(read.error());
    if (digest.value() != stretch.digest.digest) return true;
  }
  return false;
}

Result<std::vector<std::byte>> TimedOutputs::read(OutputMemory& memory,
                                                  const ToldLaunch& launch) const {
  return memory.read(launch.plan, place_of(launch.plan), 0, bytes_);
}

}  // namespace assay::sweep
