#pragma once

// A problem as cuBLASLt sees it: column-major layouts of the transposed product, a descriptor, and
// the algorithm. Owns what the library made.

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api.h"
#include "assay/kernel/refusals.h"
#include "assay/op/gemm/gemm.h"
#include "assay/op/gemm/matrix.h"

namespace assay::cublaslt {

inline constexpr size_t kWorkspaceBytes = size_t{32} << 20;
inline constexpr std::string_view kNoAlgorithm =
    "cuBLASLt's heuristic has no algorithm for this problem";

// The attributes that make an algorithm, by the names of the design. Those that a version of the
// library does not know are 0.
struct AlgorithmField {
  const char* name;
  int attribute;
  size_t bytes;
};
inline constexpr std::array<AlgorithmField, 9> kAlgorithmFields = {{
    {"algo", abi::kAlgorithmId, 4},
    {"tile", abi::kTile, 4},
    {"stages", abi::kStages, 4},
    {"split_k", abi::kSplitK, 4},
    {"reduction", abi::kReduction, 4},
    {"swizzle", abi::kSwizzle, 4},
    {"custom", abi::kCustom, 4},
    {"inner", abi::kInnerShape, 2},
    {"cluster", abi::kClusterShape, 2},
}};
using AlgorithmValues = std::array<int64_t, kAlgorithmFields.size()>;
// Places of the fields.
inline constexpr size_t kAtId = 0, kAtTile = 1, kAtStages = 2, kAtSplitK = 3, kAtReduction = 4,
                        kAtSwizzle = 5, kAtCustom = 6, kAtInner = 7, kAtCluster = 8;

// An epilogue as the library has them: a bias of out's type and a residual that lies as out does,
// in any order, and then perhaps relu or gelu (by tanh).
struct LibraryEpilogue {
  uint32_t flags = abi::kEpilogueNone;
  std::optional<size_t> bias, residual;  // Places among the problem's operands.
};
// The texts of all of them, and "none".
std::vector<std::string> library_epilogues();
// Of a problem that has one of those.
Result<LibraryEpilogue> library_epilogue_of(const Problem& problem);

struct Types {
  int a = 0, b = 0, out = 0, compute = 0, scale = 0;
};
std::optional<Types> types_of(const gemm::View& view);

// Everything that stands against the library taking this problem; empty: nothing.
Refusals objections(const gemm::View& view);

// Whether the library has the problem's epilogue, none included. Otherwise the product is asked for
// alone, and the steps are a kernel behind it.
bool has_epilogue(const Problem& problem);
// What the library is asked for.
Result<Problem> product_of(const Problem& problem);

// What an algorithm says of itself.
struct Capabilities {
  std::vector<uint32_t> tiles, stages;  // Ids; empty: it has no choice of them.
  bool splits_k = false, swizzles = false;
  uint32_t reductions = 0;  // Mask of schemes.
  int64_t most_custom = 0;
  bool has_inner_shapes = false, has_clusters = false;  // The library knows of such.
  std::array<uint32_t, 4> alignments{};  // The least of A, B, C and D, bytes; 0: not said.
};

class Matmul {
 public:
  static Result<std::shared_ptr<Matmul>> create(std::shared_ptr<const Api> api,
                                                const Problem& problem);
  ~Matmul();

  // Up to `wanted`, best first by the library's own model. Empty where it knows none.
  Result<std::vector<abi::HeuristicResult>> heuristic(int wanted) const;
  AlgorithmValues values_of(const abi::Algorithm& algorithm) const;

  // All that may do for these types, by the library's own numbers.
  Result<std::vector<int>> algorithm_ids() const;
  Result<abi::Algorithm> algorithm(int64_t id) const;  // With nothing said but its id.
  Capabilities capabilities(const abi::Algorithm& algorithm) const;
  // Empty; otherwise "a promises 8 bytes ...": why it would be refused addresses.
  std::string misaligned(const Capabilities& capabilities) const;
  // Says the rest of the values; then whether the library takes it for this problem, and with how
  // much workspace.
  Status configure(abi::Algorithm& algorithm, const AlgorithmValues& values) const;
  Status check(const abi::Algorithm& algorithm, size_t& workspace_bytes) const;

  // What enqueue() will run: the algorithm of these values, or the heuristic's first without them.
  // ErrorCode::unsupported where the library refuses it for this problem.
  Status choose(const std::optional<AlgorithmValues>& values);
  size_t workspace_bytes() const { return workspace_bytes_; }

  // data: of the problem's operands. Used by one thread at a time.
  abi::Status enqueue(void* const* data, void* workspace, size_t bytes, void* stream) const;

 private:
  explicit Matmul(std::shared_ptr<const Api> api) : api_(std::move(api)) {}
  Status describe();

  std::shared_ptr<const Api> api_;
  gemm::View view_{};
  gemm::Places places_;
  LibraryEpilogue epilogue_;
  mutable const void* bias_ = nullptr;  // What the description points to.
  Types types_;
  std::array<uint32_t, 4> alignments_{};  // Of A, B, C and D as the library sees them, bytes.
  abi::Handle handle_ = nullptr;
  abi::MatmulDesc desc_ = nullptr;
  abi::Layout first_ = nullptr, second_ = nullptr, addend_ = nullptr, result_ = nullptr;
  abi::Algorithm algorithm_{};
  size_t workspace_bytes_ = 0;
};

}  // namespace assay::cublaslt
