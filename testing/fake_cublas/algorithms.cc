#include "testing/fake_cublas/algorithms.h"

#include <algorithm>
#include <cstring>
#include <initializer_list>
#include <iterator>
#include <vector>

#include "testing/fake_cublas/state.h"

namespace fake_cublas {
namespace {

constexpr KnownAlgorithm kKnown[] = {
    {.name = "plain", .attributes = {66, 20, 1, 0, 0, 0, 4, 0, 0}},
    {.name = "split", .attributes = {66, 20, 3, 2, 1, 0, 4, 0, 0}, .parts = 3},
    {.name = "slow", .attributes = {6, 15, 1, 0, 0, 2, 8, 0, 0}},
    {.name = "vector", .attributes = {71, 24, 1, 0, 0, 0, 4, 3, 5}, .alignment = {16, 16, 16, 16}},
    {.name = "loads", .attributes = {73, 24, 1, 0, 0, 0, 4, 0, 0}, .alignment = {16, 1, 1, 1}},
    {.name = "stores", .attributes = {74, 24, 1, 0, 0, 0, 4, 0, 0}, .alignment = {1, 1, 1, 16}},
    {.name = "greedy", .attributes = {72, 24, 1, 0, 0, 0, 4, 0, 0}, .more_workspace = 64 << 20},
    {.name = "wrong", .attributes = {31, 18, 1, 0, 0, 0, 4, 0, 0}, .left_out = 1},
    {.name = "failing", .attributes = {40, 18, 1, 0, 0, 0, 4, 0, 0}, .status = kExecutionFailed},
    {.name = "refused",
     .attributes = {50, 18, 1, 0, 0, 0, 4, 0, 0},
     .result_state = kNotSupported}};

// What an algorithm says that it can, and what it takes of that.
struct Capable {
  uint32_t id = 0;
  const char* name;  // Of what it launches.
  std::vector<uint32_t> tiles, stages;
  int most_custom = 0;
  bool splits = false;
  uint32_t reductions = 0;  // Mask of 1, 2 and 4.
  bool swizzles = false;
  uint32_t alignment = 1;  // Of all matrices.
  bool (*takes)(const Attributes& attributes);
};

bool one_of(uint32_t value, std::initializer_list<uint32_t> values) {
  return std::ranges::find(values, value) != values.end();
}

const std::vector<Capable>& capable() {
  static const std::vector<Capable> kCapable = {
      {.id = 66,
       .name = "spacious",
       .tiles = {24, 20},
       .stages = {4, 8},
       .splits = true,
       .reductions = 2,
       .swizzles = true,
       // Tile 24 takes the other stages, and no two options at once.
       .takes =
           [](const Attributes& a) {
             const auto [id, tile, parts, reduction, swizzle, custom, stages, inner, cluster] = a;
             if (inner != 0 || cluster != 0 || custom != 0 || swizzle > 1) return false;
             if (parts > 4 || (parts > 1 ? reduction != 2 : reduction != 0)) return false;
             return tile == 20 ? stages == 4
                               : tile == 24 && stages == 8 && (parts == 1 || swizzle == 0);
           }},
      {.id = 6,
       .name = "spacious",
       .tiles = {15},
       .stages = {8},
       .most_custom = 2,
       .takes =
           [](const Attributes& a) {
             return a[1] == 15 && a[2] == 1 && a[3] == 0 && a[4] == 0 && one_of(a[5], {0, 2}) &&
                    a[6] == 8;  // And whatever shapes.
           }},
      {.id = 71,
       .name = "spacious",
       .tiles = {24},
       .stages = {4},
       .alignment = 16,
       .takes =
           [](const Attributes& a) {
             return a[1] == 24 && a[2] == 1 && a[3] == 0 && a[4] == 0 && a[5] == 0 && a[6] == 4 &&
                    a[7] == 3 && one_of(a[8], {0, 3, 5});
           }},
      {.id = 72,
       .name = "greedy",
       .tiles = {24},
       .stages = {4},
       .takes = [](const Attributes& a) { return a == Attributes{72, 24, 1, 0, 0, 0, 4, 0, 0}; }},
      // Not without a cluster.
      {.id = 76,
       .name = "spacious",
       .tiles = {30},
       .stages = {35},
       .splits = true,
       .reductions = 2,
       .takes =
           [](const Attributes& a) {
             return a[1] == 30 && a[2] <= 2 && a[3] == (a[2] > 1 ? 2U : 0U) && a[4] == 0 &&
                    a[5] == 0 && a[6] == 35 && a[7] == 0 && one_of(a[8], {2, 4});
           }},
      // Without a choice of tiles or stages.
      {.id = 75, .name = "spacious", .takes = [](const Attributes& a) {
         return a == Attributes{75, 0, 1, 0, 0, 0, 0, 0, 0};
       }}};
  return kCapable;
}

const Capable* find_capable(uint32_t id) {
  const auto found = std::ranges::find(capable(), id, &Capable::id);
  return found == capable().end() ? nullptr : &*found;
}

struct Packed {
  uint16_t values[9];
  bool initialised;
};
static_assert(sizeof(Packed) <= sizeof(Algorithm));

bool knows(int id) {
  if (find_capable(static_cast<uint32_t>(id)) != nullptr) return true;
  return std::ranges::any_of(kKnown, [&](const KnownAlgorithm& known) {
    return known.attributes[0] == static_cast<uint32_t>(id);
  });
}

// Shapes have two bytes.
size_t bytes_of(int attribute) { return attribute >= 7 ? 2 : 4; }

}  // namespace

const KnownAlgorithm* find_algorithm(const std::string& name) {
  const auto found = std::ranges::find_if(kKnown, [&](const KnownAlgorithm& known) {
    return known.name == (name == "twin" ? "plain" : name);
  });
  return found == std::end(kKnown) ? nullptr : found;
}

std::optional<KnownAlgorithm> find_algorithm(const Algorithm& algorithm) {
  const Attributes attributes = unpack(algorithm);
  const auto* known = std::ranges::find(kKnown, attributes, &KnownAlgorithm::attributes);
  if (known != std::end(kKnown)) return *known;
  const Capable* can = find_capable(attributes[0]);
  if (can == nullptr || !can->takes(attributes)) return std::nullopt;
  const uint64_t alignment = can->alignment;
  return KnownAlgorithm{.name = can->name,
                        .attributes = attributes,
                        .parts = attributes[2],
                        .alignment = {alignment, alignment, alignment, alignment}};
}

Algorithm pack(const Attributes& attributes) {
  Packed packed{{}, true};
  std::ranges::copy(attributes, packed.values);
  Algorithm algorithm{};
  std::memcpy(&algorithm, &packed, sizeof packed);
  return algorithm;
}

Attributes unpack(const Algorithm& algorithm) {
  Packed packed;
  std::memcpy(&packed, &algorithm, sizeof packed);
  Attributes attributes{};
  if (packed.initialised) std::ranges::copy(packed.values, attributes.begin());
  return attributes;
}

int64_t workspace_of(const KnownAlgorithm& algorithm, const Product& product) {
  const int64_t parts = algorithm.parts > 1 ? workspace_bytes(product, algorithm.parts) : 0;
  return algorithm.more_workspace + parts;
}

int suits(const KnownAlgorithm& algorithm, const Product& product,
          const std::array<uint64_t, 4>& addresses) {
  const Matrix* const matrices[] = {&product.a, &product.b, &product.c, &product.d};
  for (size_t i = 0; i < addresses.size(); ++i) {
    const Matrix& matrix = *matrices[i];
    const int64_t line = matrix.leading * element_bytes(matrix.type);
    const int64_t batch = product.count > 1 ? matrix.stride * element_bytes(matrix.type) : 0;
    for (const uint64_t place :
         {addresses[i], static_cast<uint64_t>(line), static_cast<uint64_t>(batch)})
      if (place % algorithm.alignment[i] != 0) return kNotSupported;
  }
  return kSuccess;
}

}  // namespace fake_cublas

using namespace fake_cublas;  // NOLINT: all of it is one library.

extern "C" {

// What a fresh algorithm holds besides its id is not zero: who sets nothing gets something else.
int cublasLtMatmulAlgoInit(void* handle, int compute, int scale, int a, int b, int c, int d, int id,
                           Algorithm* algorithm) {
  FAKE_CUBLAS_ENTER("cublasLtMatmulAlgoInit");
  if (!state.has(handle)) return kNotInitialized;
  if (!knows(id)) return kInvalidValue;
  if (scale != scale_type(compute) || c != d || check_types(a, b, d, compute) != kSuccess)
    return kNotSupported;
  *algorithm = pack({static_cast<uint32_t>(id), 99, 99, 99, 99, 99, 99, 0, 0});
  return kSuccess;
}
int cublasLtMatmulAlgoGetIds(void* handle, int compute, int scale, int a, int b, int c, int d,
                             int wanted, int* ids, int* found) {
  FAKE_CUBLAS_ENTER("cublasLtMatmulAlgoGetIds");
  if (!state.has(handle)) return kNotInitialized;
  if (wanted < 1) return kInvalidValue;
  if (scale != scale_type(compute) || c != d || check_types(a, b, d, compute) != kSuccess)
    return kNotSupported;
  *found = std::min<int>(wanted, static_cast<int>(state.ids.size()));
  std::copy_n(state.ids.begin(), *found, ids);
  return kSuccess;
}
// Of lists: without bytes, how many it takes.
int cublasLtMatmulAlgoCapGetAttribute(const Algorithm* algorithm, int attribute, void* value,
                                      size_t bytes, size_t* written) {
  FAKE_CUBLAS_ENTER("cublasLtMatmulAlgoCapGetAttribute");
  const Capable* can = find_capable(unpack(*algorithm)[0]);
  if (can == nullptr) return kInvalidValue;
  std::vector<uint32_t> answer;
  switch (attribute) {
    case 0:
      answer = {can->splits ? 1U : 0U};
      break;
    case 1:
      answer = {can->reductions};
      break;
    case 2:
      answer = {can->swizzles ? 1U : 0U};
      break;
    case 6:
      answer = can->tiles;
      break;
    case 7:
      answer = {static_cast<uint32_t>(can->most_custom)};
      break;
    case 13:
      answer = can->stages;
      break;
    case 16:
    case 17:
    case 18:
    case 19:
      answer = {can->alignment};
      break;
    default:
      return kInvalidValue;
  }
  const size_t needed = answer.size() * sizeof(uint32_t);
  if (bytes == 0 && written == nullptr) return kInvalidValue;
  if (bytes != 0 && (value == nullptr || bytes != needed)) return kInvalidValue;
  if (bytes != 0) std::memcpy(value, answer.data(), needed);
  if (written != nullptr) *written = needed;
  return kSuccess;
}
int cublasLtMatmulAlgoConfigGetAttribute(const Algorithm* algorithm, int attribute, void* value,
                                         size_t bytes, size_t* written) {
  FAKE_CUBLAS_ENTER("cublasLtMatmulAlgoConfigGetAttribute");
  if (attribute < 0 || attribute >= state.attributes || bytes != bytes_of(attribute))
    return kInvalidValue;
  std::memcpy(value, &unpack(*algorithm)[static_cast<size_t>(attribute)], bytes);
  *written = bytes;
  return kSuccess;
}
int cublasLtMatmulAlgoConfigSetAttribute(Algorithm* algorithm, int attribute, const void* value,
                                         size_t bytes) {
  FAKE_CUBLAS_ENTER("cublasLtMatmulAlgoConfigSetAttribute");
  if (attribute < 1 || attribute >= state.attributes || bytes != bytes_of(attribute))
    return kInvalidValue;
  Attributes attributes = unpack(*algorithm);
  attributes[static_cast<size_t>(attribute)] = 0;
  std::memcpy(&attributes[static_cast<size_t>(attribute)], value, bytes);
  *algorithm = pack(attributes);
  return kSuccess;
}
}
