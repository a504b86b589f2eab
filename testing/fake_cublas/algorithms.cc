#include "testing/fake_cublas/algorithms.h"

#include <algorithm>
#include <cstring>
#include <iterator>

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

struct Packed {
  uint16_t values[9];
  bool initialised;
};
static_assert(sizeof(Packed) <= sizeof(Algorithm));

bool knows(int id) {
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

const KnownAlgorithm* find_algorithm(const Algorithm& algorithm) {
  const auto found = std::ranges::find(kKnown, unpack(algorithm), &KnownAlgorithm::attributes);
  return found == std::end(kKnown) ? nullptr : found;
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
