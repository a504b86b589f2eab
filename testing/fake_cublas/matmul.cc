// libcublasLt: the heuristic, the check of an algorithm, and the product.
#include <cstddef>
#include <optional>
#include <string>

#include "testing/fake_cublas/algorithms.h"
#include "testing/fake_cublas/descriptors.h"
#include "testing/fake_cublas/state.h"
#include "testing/fake_cuda/fake_cuda.h"

namespace {

using namespace fake_cublas;  // NOLINT: all of it is one library.

// cublasLtMatmulHeuristicResult_t.
struct HeuristicResult {
  Algorithm algorithm;
  size_t workspace_bytes;
  int state;
  float waves;
  int reserved[4];
};

struct Described {
  Product product;
  int status = kSuccess;  // What stands against it.
};

Described describe(const State& state, LtHandle* handle, const Description* description,
                   const Layout* a, const Layout* b, const Layout* c, const Layout* d) {
  Described described;
  if (!state.has(handle)) return {{}, kNotInitialized};
  if (!state.has(description)) return {{}, kInvalidValue};
  Product& product = described.product;
  product.compute = description->compute;
  Matrix* const to[] = {&product.a, &product.b, &product.c, &product.d};
  const Layout* const from[] = {a, b, c, d};
  for (int i = 0; i < 4; ++i) {
    const Layout* layout = from[i];
    if (!state.has(layout) || layout->batches != d->batches) return {{}, kInvalidValue};
    *to[i] = {nullptr,
              layout->type,
              static_cast<int64_t>(layout->rows),
              static_cast<int64_t>(layout->columns),
              layout->leading,
              layout->stride,
              false};
  }
  product.count = d->batches;
  product.epilogue = description->epilogue;
  product.bias = description->bias;
  product.a.transposed = description->transpose_a == 1;
  product.b.transposed = description->transpose_b == 1;
  described.status =
      description->scale != scale_type(product.compute) ? kNotSupported : check(product);
  // Products of bytes: op(A) transposed and op(B) not, all in fours.
  if (described.status == kSuccess && product.compute == kCompute32I &&
      (!product.a.transposed || product.b.transposed || product.d.rows % 4 != 0 ||
       depth(product) % 4 != 0 || product.a.leading % 4 != 0 || product.b.leading % 4 != 0))
    described.status = kNotSupported;
  return described;
}

uint64_t address(const void* data) { return reinterpret_cast<uintptr_t>(data); }

}  // namespace

extern "C" {

int cublasLtMatmulAlgoGetHeuristic(LtHandle* handle, Description* description, Layout* a, Layout* b,
                                   Layout* c, Layout* d, Preference* preference, int wanted,
                                   HeuristicResult* results, int* found) {
  FAKE_CUBLAS_ENTER("cublasLtMatmulAlgoGetHeuristic");
  *found = 0;
  const Described described = describe(state, handle, description, a, b, c, d);
  if (described.status != kSuccess) return described.status;
  if (wanted < 1 || !state.has(preference)) return kInvalidValue;
  const auto& [of_a, of_b, of_c, of_d] = preference->alignment;
  for (const std::string& name : state.algorithms) {
    const KnownAlgorithm* known = find_algorithm(name);
    if (known == nullptr || *found == wanted) continue;
    const int64_t workspace = workspace_of(*known, described.product);
    if (static_cast<uint64_t>(workspace) > preference->most_workspace ||
        suits(*known, described.product, {of_a, of_b, of_c, of_d}) != kSuccess)
      continue;
    results[(*found)++] = {
        pack(known->attributes), static_cast<size_t>(workspace), known->result_state, 1.0F, {}};
  }
  return *found == 0 ? kNotSupported : kSuccess;
}

int cublasLtMatmulAlgoCheck(LtHandle* handle, Description* description, Layout* a, Layout* b,
                            Layout* c, Layout* d, const Algorithm* algorithm,
                            HeuristicResult* result) {
  FAKE_CUBLAS_ENTER("cublasLtMatmulAlgoCheck");
  const Described described = describe(state, handle, description, a, b, c, d);
  if (described.status != kSuccess) return described.status;
  const std::optional<KnownAlgorithm> known = find_algorithm(*algorithm);
  if (!known) return kNotSupported;
  if (const int status = suits(*known, described.product, {}); status != kSuccess) return status;
  result->algorithm = *algorithm;
  result->workspace_bytes = static_cast<size_t>(workspace_of(*known, described.product));
  result->state = known->result_state;
  return known->result_state;
}

int cublasLtMatmul(LtHandle* handle, Description* description, const void* alpha, void* a,
                   Layout* a_layout, void* b, Layout* b_layout, const void* beta, void* c,
                   Layout* c_layout, void* d, Layout* d_layout, const Algorithm* algorithm,
                   void* workspace, size_t workspace_bytes, void* stream) {
  FAKE_CUBLAS_ENTER("cublasLtMatmul");
  Described described =
      describe(state, handle, description, a_layout, b_layout, c_layout, d_layout);
  if (described.status != kSuccess) return described.status;
  if (alpha == nullptr || beta == nullptr || a == nullptr || b == nullptr || c == nullptr ||
      d == nullptr || algorithm == nullptr)
    return kInvalidValue;
  Product& product = described.product;
  const std::optional<KnownAlgorithm> known = find_algorithm(*algorithm);
  if (!known) return kNotSupported;
  const auto needed = static_cast<size_t>(workspace_of(*known, product));
  if (needed > workspace_bytes || (needed > 0 && workspace == nullptr) ||
      address(workspace) % 16 != 0)
    return kInvalidValue;
  if (const int status = suits(*known, product, {address(a), address(b), address(c), address(d)});
      status != kSuccess)
    return status;
  if (known->status != kSuccess) return known->status;
  if ((product.epilogue & 4) != 0 && product.bias == nullptr) return kInvalidValue;
  product.alpha = factor(alpha, product.compute);
  product.beta = factor(beta, product.compute);
  product.a.data = a;
  product.b.data = b;
  product.c.data = c;
  product.d.data = d;
  const Recipe recipe{known->parts, known->parts > 1 ? workspace : nullptr, known->left_out};
  const std::string function = std::string("cublaslt_") + known->name;
  (void)state.calls.enter(function);
  const int launched =
      fake_cuda_launch(stream, function.c_str(), [product, recipe] { compute(product, recipe); });
  return launched == 0 ? kSuccess : kExecutionFailed;
}
}
