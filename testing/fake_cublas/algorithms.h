#pragma once

// The algorithms of libcublasLt: names, attributes, and what each wants.

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "testing/fake_cublas/product.h"

namespace fake_cublas {

// In the order of cublasLtMatmulAlgoConfigAttributes_t: id, tile, parts of k, reduction, swizzle,
// custom option, stages, inner shape, cluster shape.
using Attributes = std::array<uint32_t, 9>;

// cublasLtMatmulAlgo_t.
struct Algorithm {
  uint64_t data[8];
};

struct KnownAlgorithm {
  const char* name;
  Attributes attributes;
  int64_t parts = 1;
  int64_t more_workspace = 0;                        // Besides that of the parts.
  std::array<uint64_t, 4> alignment = {1, 1, 1, 1};  // Of addresses and lines, bytes: A, B, C, D.
  int64_t left_out = 0;
  int status = 0;        // What a matmul ends with.
  int result_state = 0;  // What the heuristic says of it.
};

const KnownAlgorithm* find_algorithm(const std::string& name);
// The one with exactly these attributes, or one that its id's space has.
std::optional<KnownAlgorithm> find_algorithm(const Algorithm& algorithm);

Algorithm pack(const Attributes& attributes);
Attributes unpack(const Algorithm& algorithm);

int64_t workspace_of(const KnownAlgorithm& algorithm, const Product& product);
// kNotSupported where lines or promised addresses (of a, b, c, d) do not suit it.
int suits(const KnownAlgorithm& algorithm, const Product& product,
          const std::array<uint64_t, 4>& addresses);

}  // namespace fake_cublas
