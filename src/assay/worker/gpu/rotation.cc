// The operand sets that launches on a GPU go round, and what a chain needs besides.
#include <algorithm>

#include "assay/measure/cold_probe.h"
#include "assay/process/set_turns.h"
#include "assay/worker/gpu/open_kernel.h"
#include "assay/worker/gpu/probe.h"
#include "assay/worker/input_places.h"

namespace assay::sweep {
namespace {

constexpr int kMostRotated = 256;
// Constants repeat within these sets, each time beside activations of their own: a burst has half
// of them for its launches.
constexpr int kWantedSets = 64;
constexpr double kSetsBytes = 1 << 30;  // Of what does not repeat.

// So many bytes displace all else from the GPU's cache.
double caches(const cuda::CudaDevice& device) {
  return kCacheMultiple * static_cast<double>(device.last_level_cache_bytes());
}

bool is_constant(const Operand& operand) { return operand.lifetime == Lifetime::constant; }

}  // namespace

// Whether sets beyond the first `places_` have it where those have it. Of warm operands what varies
// is shared by launches between which it can be written: by a producer, or by us.
bool GpuProblem::is_shared(size_t operand) const {
  if (is_constant(problem_.operands()[operand])) return true;
  return is_alone() || (condition_.cache == measure::Cache::warm &&
                        operand == operation_.varied_operand(problem_));
}

// How many operand sets there are, and in how many places shared operands lie.
GpuProblem::Rotation GpuProblem::plan_rotation() const {
  // One set of operands, over and over, with outputs of their own.
  if (condition_.cache == measure::Cache::warm) return {1, kWantedSets};
  const auto operands = problem_.operands();
  double cold_bytes = 0, set_bytes = 0, own_bytes = 0;
  for (const Operand& operand : operands) {
    const auto bytes = static_cast<double>(operand.span_bytes);
    if (is_input(operand)) set_bytes += bytes;
    if (measure::is_cold(operand, condition_)) cold_bytes += bytes;
    // In a chain a producer reads what it writes from somewhere.
    if (!is_constant(operand))
      own_bytes += condition_.spacing == measure::Spacing::chain ? 2 * bytes : bytes;
  }
  int places = kLeastSets;
  if (cold_bytes > 0) {
    const double wanted = caches(device_) / cold_bytes;
    const double room = static_cast<double>(device_.memory_bytes()) / 4 / set_bytes;
    places = std::max(places, static_cast<int>(std::min({wanted + 1, room, double{kMostRotated}})));
  }
  places += places % 2;
  const double room = kSetsBytes / std::max(own_bytes, 1.0);
  const int sets = static_cast<int>(std::min(room, double{kWantedSets}));
  return {places, std::max(1, sets / places) * places};
}

Status GpuProblem::make_rotation(const measure::Condition& condition, uint64_t key) {
  if (instances_.empty()) return fail(ErrorCode::internal, "no inputs to rotate");
  condition_ = condition;
  key_ = key;
  const bool chained = condition.spacing == measure::Spacing::chain;
  const size_t produced = operation_.varied_operand(problem_);
  if (chained && produced >= problem_.operands().size())
    return fail(ErrorCode::unsupported, "no operand varies: there is nothing to chain by");
  // It is written where sets have it, and such an operand lies in the kernel's output.
  if (chained && problem_.operands()[produced].access != Access::read)
    return fail(ErrorCode::unsupported, "{} is read and written: there is nothing to chain by",
                problem_.operands()[produced].role);
  ASSAY_TRY(lay_out_sets(plan_rotation()));
  ASSAY_TRY(fill_sets());
  turns_ = std::make_unique<SetTurns>(places_);
  if (!chain_) {
    ASSAY_TRY(chain_, GpuChain::create(device_));
  }
  if (chained) ASSAY_TRY(begin_chain());
  if (condition.cache != measure::Cache::warm && !elsewhere_) {
    ASSAY_TRY(elsewhere_, device_.allocate(static_cast<size_t>(caches(device_)), {}));
    ASSAY_TRY(clear_cache());  // Loads the code: behind a closed gate that would wait for ever.
  }
  ASSAY_TRY(cold_doubt_, probe_cold());
  const auto& driver = *device_.driver();
  return driver.check(driver.call().reset_persisting_l2(), "resetting persisting cache lines");
}

// Where each operand of each set lies, and in a chain what its producer reads.
Status GpuProblem::lay_out_sets(const Rotation& rotation) {
  const auto operands = problem_.operands();
  const InputSet& source = instances_.front();
  const auto count = static_cast<size_t>(rotation.sets);
  places_ = static_cast<size_t>(rotation.places);
  sets_.assign(count, Set{});
  std::vector<size_t> sizes;
  std::vector<void**> owners;  // Of the pieces, by size.
  const auto want = [&](void*& owner, size_t operand) {
    sizes.push_back(source.host[operand].size());
    owners.push_back(&owner);
  };
  for (size_t s = 0; s < count; ++s) {
    sets_[s].data.assign(operands.size(), nullptr);
    for (size_t i = 0; i < operands.size(); ++i)
      if (source.index[i] != kNowhere && (s < places_ || !is_shared(i))) want(sets_[s].data[i], i);
  }
  if (condition_.spacing == measure::Spacing::chain) {
    for (size_t s = 0; s < count; ++s) want(sets_[s].staged, operation_.varied_operand(problem_));
  }
  ASSAY_TRY(auto arena, GpuArena::allocate(*zones_, sizes, next_seed()));
  rotation_ = std::make_unique<GpuArena>(std::move(arena));
  for (size_t piece = 0; piece < owners.size(); ++piece) *owners[piece] = rotation_->at(piece).data;
  for (size_t s = 0; s < count; ++s) {
    Set& set = sets_[s];
    for (size_t i = 0; i < operands.size(); ++i)
      if (source.index[i] != kNowhere && set.data[i] == nullptr)
        set.data[i] = sets_[s % places_].data[i];
  }
  return {};
}

// Constants have numbers of their own at each place. What varies is made before each burst; what
// lies between strided elements of it is as in the instance.
Status GpuProblem::fill_sets() {
  const InputSet& source = instances_.front();
  const auto operands = problem_.operands();
  const auto for_each_own = [&](const auto& use) -> Status {
    for (size_t s = 0; s < sets_.size(); ++s)
      for (size_t i = 0; i < operands.size(); ++i)
        if (sets_[s].data[i] != nullptr && (s < places_ || !is_shared(i))) ASSAY_TRY(use(s, i));
    return {};
  };
  ASSAY_TRY(for_each_own([&](size_t s, size_t i) {
    return device_.copy_in(sets_[s].data[i], source.host[i].bytes());
  }));
  for (const Set& set : sets_)
    if (set.staged != nullptr)
      ASSAY_TRY(
          device_.copy_in(set.staged, source.host[operation_.varied_operand(problem_)].bytes()));
  const auto& driver = *device_.driver();
  ASSAY_TRY(driver.check(driver.call().context_synchronize(), "waiting for copies to the GPU"));
  return for_each_own([&](size_t s, size_t i) -> Status {
    if (varies(operands[i])) return {};
    ASSAY_TRY(renew(sets_[s].data[i], i, seeds_of(s, 0)));
    sets_[s].digest.resize(operands.size());
    ASSAY_TRY(sets_[s].digest[i], digest_->of(*stream_, sets_[s].data[i], source.host[i].size()));
    return {};
  });
}

// Why the first set's operands may not come from memory in a burst: after all other sets were read
// and the cache was cleared, as it is before each burst. Sets of a few KB displace nothing.
Result<std::string> GpuProblem::probe_cold() {
  const auto operands = problem_.operands();
  std::vector<size_t> cold;
  for (size_t i = 0; i < operands.size(); ++i)
    if (is_input(operands[i]) && measure::is_cold(operands[i], condition_)) cold.push_back(i);
  if (cold.empty()) return std::string();
  ASSAY_TRY(const auto probe, GpuProbe::create(device_));
  for (size_t s = 0; s < places_; ++s)
    for (const size_t i : cold)
      ASSAY_TRY(digest_->of(*stream_, sets_[s].data[i], instances_.front().host[i].size())
                    .map([](uint64_t) {}));
  ASSAY_TRY(clear_cache());
  measure::ColdProbe seen;
  size_t bytes = 0;
  for (const size_t i : cold) {
    const void* const data = sets_.front().data[i];
    const size_t size = instances_.front().host[i].size();
    ASSAY_TRY(probe->find_pages(*stream_, data, size));
    ASSAY_TRY(const auto reading, probe->read(*stream_, data, size));
    seen.cold_ns += reading.probe.cold_ns;
    seen.warm_ns += reading.probe.warm_ns;
    bytes += reading.lines * GpuProbe::kLineBytes;
  }
  return bytes == 0 ? std::string() : measure::doubt_of_cold(seen, bytes, 0);
}

// By reading so much else. What a burst leaves in the cache, lines not yet written to memory above
// all, slows down the next one: on an H200 that told a kernel's time by who ran before it.
Status GpuProblem::clear_cache() {
  return chain_->consume(*stream_, elsewhere_->data(), elsewhere_->bytes(), false);
}

Status GpuProblem::begin_chain() {
  const std::vector<size_t> outputs(kLeastOutputs, outputs_.bytes);
  ASSAY_TRY(auto bare, GpuArena::allocate(*zones_, outputs, next_seed()));
  bare_outputs_ = std::make_unique<GpuArena>(std::move(bare));
  // Loads the code: behind a closed gate that would wait for ever.
  ASSAY_TRY(enqueue_link(0, nullptr, bare_outputs_->at(0)));
  return stream_->synchronize();
}

}  // namespace assay::sweep
