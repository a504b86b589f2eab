#include "assay/op/user/inputs.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "assay/base/message_channel.h"
#include "assay/base/random.h"
#include "assay/op/proof_seeds.h"
#include "assay/op/user/problem.h"

namespace assay::user {
namespace {

// Of each input's words, behind those of renewals.
constexpr uint64_t kStreams = 1000;
// Exponents of wide_range: f16 holds 2^-14 to 2^15. Of a needle, which lies beyond what a function
// of small numbers is good for.
constexpr int kLowest = -12, kHighest = 12, kLowestNeedle = 4;
constexpr int64_t kExact = 4;  // Integers of -4 to 4.
// Of timed launches. Their magnitudes are 2^3 to 2^8: there are many more of them than in a proof,
// and the largest are where honest sums come closest to a tolerance.
constexpr int kHighestTimed = 8;
constexpr uint64_t kNeedles = 0x6e6565646c65;  // Streams of its own.
// Of a proof: so many lines with needles (user_test says what they find), as far as little memory,
// little work and the descriptors of one message allow.
constexpr int64_t kNeedleLines = 1024, kMostNeedles = 56, kNeedleElements = int64_t{1} << 21;
constexpr double kNeedleFlops = 0x1p31;
constexpr int64_t kMostFiles = 60;  // A proof's answer has some outputs twice.
static_assert(kMostFiles < static_cast<int64_t>(kMaxMessageFds));

struct Range {
  int64_t low;
  uint32_t count;
};
Range range_of(DType dtype) {
  if (dtype == DType::s8) return {-127, 255};
  return {-1000, 2001};
}

double wide_value(const CounterRandom& random, DType dtype, uint64_t i, int lowest) {
  if (!info(dtype).floating) {
    // From one end of the type to the other.
    const double largest = dtype == DType::s8 ? 127 : 0x1p24;
    return std::rint(random.uniform(i) * largest);
  }
  const double unit = random.uniform(2 * i);
  const auto exponent = lowest + static_cast<int>(random.below(
                                     2 * i + 1, static_cast<uint64_t>(kHighest - lowest + 1)));
  return std::ldexp((unit < 0 ? unit - 1 : unit + 1) / 2, exponent);
}

double value_of(const CounterRandom& random, InputKind kind, DType dtype, uint64_t i) {
  switch (kind) {
    case InputKind::ones:
      return 1;
    case InputKind::exact:
      return static_cast<double>(random.below(i, 2 * kExact + 1)) - kExact;
    case InputKind::wide_range:
      return wide_value(random, dtype, i, kLowest);
    default:
      return 0;
  }
}

// Of a proof's needles. A kernel whose errors grow beyond a tolerance for some of them only is
// wrong each time, and not by luck of the draw: sizes are spread evenly, for either sign, at a
// line's first place, its last one, and any. Sums one by one err most if the largest term is first.
class NeedleDraw {
 public:
  NeedleDraw(uint64_t proof, size_t operand)
      : random_{proof, kNeedles + operand}, first_(random_.below(0, kClasses << 20)) {}

  struct Needle {
    uint64_t place = 0;  // In its line.
    double value = 0;
  };
  // index: of all lines of the operand in a proof's instances.
  Needle draw(uint64_t index, uint64_t line, DType dtype) const {
    const uint64_t at = first_ + index, which = at % kClasses, turn = at / kClasses;
    const uint64_t place = which / 2 == 0   ? 0
                           : which / 2 == 1 ? line - 1
                                            : random_.below(kPlaces + 6 * index, line);
    if (!info(dtype).floating)
      return {place, wide_value(random_, dtype, kValues + index, kLowestNeedle)};
    constexpr double kGolden = 0.6180339887498949;
    const double along = (random_.uniform(1 + which) + 1) / 2 + static_cast<double>(turn) * kGolden;
    const double share = along - std::floor(along);
    const bool beyond = turn % 4 == 3;  // What timed launches have.
    const double low = beyond ? kHighestTimed : kLowestNeedle - 1;
    const double high = beyond ? kHighest : kHighestTimed;
    const double size = std::exp2(low + share * (high - low));
    return {place, which % 2 == 0 ? size : -size};
  }

 private:
  static constexpr uint64_t kClasses = 8, kPlaces = uint64_t{1} << 40, kValues = uint64_t{1} << 50;
  CounterRandom random_;
  uint64_t first_;
};

// Along the last dimension.
int64_t lines_of(const Operand& operand) {
  return elements_of(operand) / (operand.sizes.empty() ? 1 : operand.sizes.back());
}

// One element of each line: who looks at a few elements, and takes the others to be as small,
// misses it.
void put_needles(const std::string& what, uint64_t seed, size_t place, const Operand& operand,
                 std::span<std::byte> bytes) {
  const uint64_t proof = seed / kMostOfAKind, instance = seed % kMostOfAKind;
  const NeedleDraw draw(seed_from(fmt::format("{} {}", what, proof)), place);
  const auto lines = static_cast<uint64_t>(lines_of(operand));
  const uint64_t line = static_cast<uint64_t>(elements_of(operand)) / lines;
  const auto size = static_cast<size_t>(size_bytes(operand.dtype));
  for (uint64_t i = 0; i < lines; ++i) {
    const auto needle = draw.draw(instance * lines + i, line, operand.dtype);
    store_from_double(operand.dtype, needle.value,
                      bytes.subspan((i * line + needle.place) * size, size).data());
  }
}

}  // namespace

Renewal renewal_of(const Problem& problem, size_t operand, const InputSeeds& seeds) {
  Renewal renewal;
  renewal.sizes = {0, 0, 0};
  if (operand >= problem.operands().size()) return renewal;
  const Operand& which = problem.operands()[operand];
  if (which.access != Access::read) return renewal;
  const int64_t elements = elements_of(which);
  renewal.dtype = which.dtype;
  renewal.key = varies(which) ? seeds.launch : seeds.set;
  renewal.stream = operand + 1;
  renewal.sizes = {1, 1, elements};
  renewal.strides = {elements, elements, 1};
  if (info(which.dtype).floating) return renewal;
  const Range range = range_of(which.dtype);
  renewal.low = range.low;
  renewal.count = range.count;
  return renewal;
}

Renewal timed_renewal_of(const Definition& definition, const Problem& problem, size_t operand,
                         const InputSeeds& seeds) {
  Renewal renewal = renewal_of(problem, operand, seeds);
  const bool wanted =
      std::ranges::find(definition.inputs, InputKind::needle) != definition.inputs.end();
  if (!wanted || renewal.sizes[0] == 0 || !info(renewal.dtype).floating) return renewal;
  // Launches without any stay, whose outputs say more where a needle would hide all else.
  const CounterRandom random{renewal.key, kNeedles};
  if (random.below(0, 2) == 0) return renewal;
  const int64_t lines = lines_of(problem.operands()[operand]), line = renewal.sizes[2] / lines;
  renewal.sizes = {1, lines, line};
  renewal.strides = {lines * line, line, 1};
  renewal.odd_step = std::clamp(lines / 4, int64_t{1}, int64_t{64});
  renewal.odd_first =
      static_cast<int64_t>(random.below(1, static_cast<uint64_t>(renewal.odd_step)));
  renewal.part = line;
  renewal.parts = 1;
  renewal.drawn_are_small = true;  // Or large: those are unlike the others.
  renewal.high = kHighestTimed;
  renewal.reach = kHighestTimed - kLowestNeedle;
  return renewal;
}

std::vector<InputKind> proof_inputs(const Definition& definition, const Problem& problem) {
  std::vector<InputKind> kinds = definition.inputs;
  const auto needle = std::ranges::find(kinds, InputKind::needle);
  if (needle == kinds.end()) return kinds;
  int64_t lines = 0, elements = 0, inputs = 0;
  for (const Operand& operand : problem.operands()) {
    elements += elements_of(operand);
    if (operand.access != Access::read) continue;
    ++inputs;
    if (!info(operand.dtype).floating) continue;
    lines = lines == 0 ? lines_of(operand) : std::min(lines, lines_of(operand));
  }
  if (lines == 0) return kinds;
  const int64_t wanted = std::min((kNeedleLines - 1) / lines + 1, kMostNeedles);
  const double work = std::max(1.0, flops_of(definition, problem));
  const int64_t room = std::min({kNeedleElements / elements,
                                 static_cast<int64_t>(std::min(kNeedleFlops / work, 1e6)),
                                 kMostFiles / inputs - std::ssize(kinds) + 1});
  const int64_t more = std::max(std::min(wanted, room) - 1, int64_t{0});
  kinds.insert(needle, static_cast<size_t>(more), InputKind::needle);
  return kinds;
}

Result<std::vector<MemoryFile>> make_inputs(const Problem& problem, InputKind kind, uint64_t seed) {
  const std::string what = fmt::format("{} {}", problem.signature(), to_string(kind));
  const uint64_t key = seed_from(fmt::format("{} {}", what, seed));
  std::vector<MemoryFile> made(problem.operands().size());
  for (size_t i = 0; i < made.size(); ++i) {
    const Operand& operand = problem.operands()[i];
    if (operand.access != Access::read) continue;
    ASSAY_TRY(made[i], MemoryFile::create("assay-input", static_cast<size_t>(operand.span_bytes)));
    const CounterRandom random{key, kStreams + i};
    if (kind == InputKind::uniform || kind == InputKind::needle) {
      renew(renewal_of(problem, i, {.set = key, .launch = key}), made[i].writable_bytes());
      if (kind == InputKind::needle) put_needles(what, seed, i, operand, made[i].writable_bytes());
    } else {
      std::vector<double> values(static_cast<size_t>(elements_of(operand)));
      for (size_t j = 0; j < values.size(); ++j)
        values[j] = value_of(random, kind, operand.dtype, j);
      convert_from_double(operand.dtype, values.data(), elements_of(operand),
                          made[i].writable_bytes().data());
    }
    ASSAY_TRY(made[i].seal());
  }
  return made;
}

std::vector<double> widened(const Operand& operand, std::span<const std::byte> bytes) {
  std::vector<double> values;
  if (static_cast<int64_t>(bytes.size()) < operand.span_bytes) return values;
  values.resize(static_cast<size_t>(elements_of(operand)));
  convert_to_double(operand.dtype, bytes.data(), elements_of(operand), values.data());
  return values;
}

}  // namespace assay::user
