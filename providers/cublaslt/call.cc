#include "call.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include <fmt/format.h>

#include "assay/op/gemm/element_wise.h"
#include "assay/op/gemm/epilogue.h"

namespace assay::cublaslt {
namespace {

constexpr int64_t kMostAlignment = 256;  // What the heuristic takes for granted if it is not told.

std::optional<int> data_type(DType dtype) {
  switch (dtype) {
    case DType::f64:
      return abi::kF64;
    case DType::f32:
      return abi::kF32;
    case DType::f16:
      return abi::kF16;
    case DType::bf16:
      return abi::kBf16;
    case DType::s8:
      return abi::kS8;
    case DType::s32:
      return abi::kS32;
    default:
      return std::nullopt;
  }
}

// A matrix of `rows` lines in memory, each of `columns` elements side by side, or the other way
// round: as a column-major matrix it is `columns` x `rows`, or itself.
struct Lines {
  bool transposed = false;  // Its columns lie side by side.
  int64_t leading = 0;
};

std::optional<Lines> lines_of(int64_t rows, int64_t columns, int64_t row_stride,
                              int64_t column_stride) {
  const auto fits = [](int64_t length, int64_t inside, int64_t lines,
                       int64_t apart) -> std::optional<int64_t> {
    if (length > 1 && inside != 1) return std::nullopt;
    const int64_t leading = lines > 1 ? apart : std::max<int64_t>(length, 1);
    return leading < length ? std::nullopt : std::optional(leading);
  };
  if (const auto leading = fits(columns, column_stride, rows, row_stride))
    return Lines{false, *leading};
  if (const auto leading = fits(rows, row_stride, columns, column_stride))
    return Lines{true, *leading};
  return std::nullopt;
}

}  // namespace

std::optional<Types> types_of(const gemm::View& view) {
  const auto a = data_type(view.a), b = data_type(view.b), out = data_type(view.out);
  if (!a || !b || !out || view.a != view.b) return std::nullopt;
  Types types{*a, *b, *out, 0, 0};
  if (view.a == DType::s8 && view.out == DType::s32 && view.accumulate == DType::s32) {
    types.compute = abi::kCompute32I;
    types.scale = abi::kS32;
  } else if (view.a == DType::f64 && view.out == DType::f64 && view.accumulate == DType::f64) {
    types.compute = abi::kCompute64F;
    types.scale = abi::kF64;
  } else if (view.accumulate == DType::f32 &&
             (view.a == DType::f16 || view.a == DType::bf16 || view.a == DType::f32) &&
             (view.out == view.a || view.out == DType::f32)) {
    types.compute = abi::kCompute32F;
    types.scale = abi::kF32;
  } else {
    return std::nullopt;
  }
  return types;
}

std::vector<std::string> library_epilogues() {
  std::vector<std::string> all = {"none"};
  for (const char* sums : {"", "bias", "residual", "bias+residual", "residual+bias"}) {
    for (const char* function : {"", "relu", "gelu_tanh"}) {
      const std::string both = sums;
      const std::string join = both.empty() || *function == '\0' ? "" : "+";
      if (const std::string text = both + join + function; !text.empty()) all.push_back(text);
    }
  }
  return all;
}

Result<LibraryEpilogue> library_epilogue_of(const Problem& problem) {
  ASSAY_TRY(const gemm::Epilogue epilogue, gemm::epilogue_of(problem));
  LibraryEpilogue made;
  for (const gemm::EpilogueStep& step : epilogue.steps()) {
    using Kind = gemm::EpilogueStep::Kind;
    const auto operands = problem.operands();
    const auto place = static_cast<size_t>(
        std::ranges::find(operands, step.name(), &Operand::role) - operands.begin());
    if (step.kind == Kind::bias) made.bias = place;
    if (step.kind == Kind::residual) made.residual = place;
    if (step.kind == Kind::relu) made.flags = abi::kEpilogueRelu;
    if (step.kind == Kind::gelu_tanh) made.flags = abi::kEpilogueGelu;
  }
  if (made.bias)
    made.flags = abi::kEpilogueBias | (made.flags == abi::kEpilogueNone ? 0 : made.flags);
  return made;
}

bool has_epilogue(const Problem& problem) {
  const auto epilogue = gemm::epilogue_of(problem);
  const auto view = gemm::view(problem);
  if (!epilogue || !view) return false;
  if (epilogue->empty()) return true;
  const auto all = library_epilogues();
  if (std::ranges::find(all, epilogue->text()) == all.end() || view->a == DType::s8) return false;
  const Operand* out = problem.find_operand("out");
  const Operand* bias = problem.find_operand("bias");
  const Operand* residual = problem.find_operand("residual");
  if (bias != nullptr && bias->dtype != out->dtype) return false;
  // It takes the place of c.
  return residual == nullptr ||
         (residual->dtype == out->dtype && !view->has_c && residual->strides == out->strides);
}

Result<Problem> product_of(const Problem& problem) {
  if (has_epilogue(problem)) return problem;
  return gemm::without_epilogue(problem);
}

Refusals objections(const gemm::View& view) {
  Refusals refusals;
  if (!types_of(view))
    refusals.add(Reason::dtype, "cuBLASLt does not multiply these types into that one");
  if (view.a == DType::s8 && (view.alpha != std::floor(view.alpha) || view.has_c))
    refusals.add(Reason::dtype, "integer products take whole factors and no addend here");
  const auto lines = [&](const char* role, int64_t rows, int64_t columns, int64_t row_stride,
                         int64_t column_stride) {
    if (!lines_of(rows, columns, row_stride, column_stride))
      refusals.add(Reason::stride,
                   fmt::format("neither rows nor columns of {} lie side by side", role));
  };
  lines("a", view.m, view.k, view.a_m, view.a_k);
  lines("b", view.k, view.n, view.b_k, view.b_n);
  const auto out = lines_of(view.m, view.n, view.out_m, view.out_n);
  if (!out || out->transposed)
    refusals.add(Reason::layout, "out is row-major in every call that is made here");
  if (view.has_c && (view.c_m != view.out_m || view.c_n != view.out_n || view.c_l != view.out_l))
    refusals.add(Reason::stride, "c has to lie as out does");
  for (const int64_t size : {view.l, view.m, view.n, view.k})
    if (size > std::numeric_limits<int>::max())
      refusals.add(Reason::other, "a size is above 2^31-1");
  return refusals;
}

Result<std::shared_ptr<Matmul>> Matmul::create(std::shared_ptr<const Api> api,
                                               const Problem& problem) {
  std::shared_ptr<Matmul> matmul(new Matmul(std::move(api)));
  ASSAY_TRY(matmul->view_, gemm::view(problem));
  matmul->places_ = gemm::places_of(problem);
  ASSAY_TRY(matmul->epilogue_, library_epilogue_of(problem));
  const auto promised = [&](const char* role) {
    const Operand* operand = problem.find_operand(role);
    return operand == nullptr ? kMostAlignment : std::min(operand->alignment, kMostAlignment);
  };
  const int64_t addend = promised(matmul->epilogue_.residual ? "residual"
                                  : matmul->view_.has_c      ? "c"
                                                             : "out");
  int i = 0;
  for (const int64_t alignment : {promised("b"), promised("a"), addend, promised("out")})
    matmul->alignments_[i++] = static_cast<uint32_t>(alignment);
  const auto types = types_of(matmul->view_);
  if (!types) return fail(ErrorCode::unsupported, "types that cuBLASLt does not multiply");
  matmul->types_ = *types;
  ASSAY_TRY(matmul->handle_, matmul->api_->handle());
  ASSAY_TRY(matmul->describe());
  return matmul;
}

Matmul::~Matmul() {
  const abi::EntryPoints& call = api_->call();
  if (desc_ != nullptr) (void)call.desc_destroy(desc_);
  for (const abi::Layout layout : {first_, second_, addend_, result_})
    if (layout != nullptr) (void)call.layout_destroy(layout);
}

// out is row-major (m, n): as column-major it is n x m, and out^T = b^T a^T. So b comes first.
Status Matmul::describe() {
  const abi::EntryPoints& call = api_->call();
  const gemm::View& v = view_;
  ASSAY_TRY(
      api_->check(call.desc_create(&desc_, types_.compute, types_.scale), "describing a product"));
  const auto a = lines_of(v.m, v.k, v.a_m, v.a_k), b = lines_of(v.k, v.n, v.b_k, v.b_n);
  const auto out = lines_of(v.m, v.n, v.out_m, v.out_n);
  if (!a || !b || !out) return fail(ErrorCode::unsupported, "strides that cuBLASLt cannot say");
  // Rows side by side read as columns: b (k x n) is then b^T (n x k) already.
  const int32_t first = b->transposed ? abi::kOperationT : abi::kOperationN;
  const int32_t second = a->transposed ? abi::kOperationT : abi::kOperationN;
  ASSAY_TRY(api_->check(call.desc_set(desc_, abi::kTransposeA, &first, sizeof first),
                        "describing a product"));
  ASSAY_TRY(api_->check(call.desc_set(desc_, abi::kTransposeB, &second, sizeof second),
                        "describing a product"));
  if (const uint32_t flags = epilogue_.flags; flags != abi::kEpilogueNone)
    ASSAY_TRY(api_->check(call.desc_set(desc_, abi::kEpilogue, &flags, sizeof flags),
                          "describing an epilogue"));
  const auto layout = [&](abi::Layout& made, int type, int64_t rows, int64_t columns,
                          int64_t leading, int64_t batch_stride) -> Status {
    ASSAY_TRY(api_->check(call.layout_create(&made, type, static_cast<uint64_t>(rows),
                                             static_cast<uint64_t>(columns), leading),
                          "describing a matrix"));
    if (v.l == 1) return {};
    const auto batches = static_cast<int32_t>(v.l);
    ASSAY_TRY(api_->check(call.layout_set(made, abi::kBatchCount, &batches, sizeof batches),
                          "describing a batch"));
    return api_->check(call.layout_set(made, abi::kBatchOffset, &batch_stride, sizeof batch_stride),
                       "describing a batch");
  };
  ASSAY_TRY(b->transposed ? layout(first_, types_.b, v.k, v.n, b->leading, v.b_l)
                          : layout(first_, types_.b, v.n, v.k, b->leading, v.b_l));
  ASSAY_TRY(a->transposed ? layout(second_, types_.a, v.m, v.k, a->leading, v.a_l)
                          : layout(second_, types_.a, v.k, v.m, a->leading, v.a_l));
  ASSAY_TRY(layout(result_, types_.out, v.n, v.m, out->leading, v.out_l));
  return layout(addend_, types_.out, v.n, v.m, out->leading, v.has_c ? v.c_l : v.out_l);
}

Result<std::vector<abi::HeuristicResult>> Matmul::heuristic(int wanted) const {
  const abi::EntryPoints& call = api_->call();
  abi::Preference preference = nullptr;
  ASSAY_TRY(api_->check(call.preference_create(&preference), "asking the heuristic"));
  const std::unique_ptr<abi::PreferenceTag, abi::Status (*)(abi::Preference)> owner(
      preference, call.preference_destroy);
  ASSAY_TRY(api_->check(call.preference_set(preference, abi::kMostWorkspace, &kWorkspaceBytes,
                                            sizeof kWorkspaceBytes),
                        "asking the heuristic"));
  for (int i = 0; i < 4; ++i)
    ASSAY_TRY(api_->check(call.preference_set(preference, abi::kAlignmentA + i, &alignments_[i],
                                              sizeof alignments_[i]),
                          "asking the heuristic"));
  std::vector<abi::HeuristicResult> results(static_cast<size_t>(wanted));
  int found = 0;
  const abi::Status status = call.heuristic(handle_, desc_, first_, second_, addend_, result_,
                                            preference, wanted, results.data(), &found);
  if (status == abi::kNotSupported)
    found = 0;
  else
    ASSAY_TRY(api_->check(status, "asking the heuristic"));
  results.resize(static_cast<size_t>(std::max(found, 0)));
  std::erase_if(results, [](const auto& result) { return result.state != abi::kSuccess; });
  return results;
}

AlgorithmValues Matmul::values_of(const abi::Algorithm& algorithm) const {
  AlgorithmValues values{};
  for (size_t i = 0; i < kAlgorithmFields.size(); ++i) {
    uint64_t value = 0;
    size_t written = 0;
    if (api_->call().algorithm_get(&algorithm, kAlgorithmFields[i].attribute, &value,
                                   kAlgorithmFields[i].bytes, &written) == abi::kSuccess)
      values[i] = static_cast<int64_t>(value);
  }
  return values;
}

Result<std::vector<int>> Matmul::algorithm_ids() const {
  std::vector<int> ids(64);
  for (;;) {
    int found = 0;
    const auto wanted = static_cast<int>(ids.size());
    ASSAY_TRY(api_->check(
        api_->call().algorithm_ids(handle_, types_.compute, types_.scale, types_.b, types_.a,
                                   types_.out, types_.out, wanted, ids.data(), &found),
        "asking for algorithms"));
    const bool is_all = found < wanted;
    ids.resize(static_cast<size_t>(is_all ? std::max(found, 0) : 2 * wanted));
    if (is_all) return ids;
  }
}

Result<abi::Algorithm> Matmul::algorithm(int64_t id) const {
  abi::Algorithm algorithm{};
  ASSAY_TRY(api_->check(
      api_->call().algorithm_init(handle_, types_.compute, types_.scale, types_.b, types_.a,
                                  types_.out, types_.out, static_cast<int>(id), &algorithm),
      "making an algorithm"));
  return algorithm;
}

Capabilities Matmul::capabilities(const abi::Algorithm& algorithm) const {
  const abi::EntryPoints& call = api_->call();
  // What a version of the library does not know is 0, or nothing.
  const auto number = [&](int attribute) {
    uint32_t value = 0;
    size_t written = 0;
    return call.algorithm_can(&algorithm, attribute, &value, sizeof value, &written) ==
                   abi::kSuccess
               ? value
               : 0;
  };
  const auto list = [&](int attribute) {
    std::vector<uint32_t> ids;
    size_t bytes = 0;
    if (call.algorithm_can(&algorithm, attribute, nullptr, 0, &bytes) != abi::kSuccess) return ids;
    ids.resize(bytes / sizeof(uint32_t));
    size_t written = 0;
    if (!ids.empty() &&
        call.algorithm_can(&algorithm, attribute, ids.data(), ids.size() * sizeof(uint32_t),
                           &written) != abi::kSuccess)
      written = 0;
    ids.resize(std::min(ids.size(), written / sizeof(uint32_t)));
    return ids;
  };
  const auto knows = [&](size_t field) {
    uint64_t value = 0;
    size_t written = 0;
    return call.algorithm_get(&algorithm, kAlgorithmFields[field].attribute, &value,
                              kAlgorithmFields[field].bytes, &written) == abi::kSuccess;
  };
  Capabilities can;
  can.tiles = list(abi::kTiles);
  can.stages = list(abi::kStagesIds);
  can.splits_k = number(abi::kCanSplitK) != 0;
  can.reductions = number(abi::kReductions);
  can.swizzles = number(abi::kCanSwizzle) != 0;
  can.most_custom = std::max(static_cast<int32_t>(number(abi::kMostCustom)), 0);
  can.has_inner_shapes = knows(kAtInner);
  can.has_clusters = knows(kAtCluster);
  for (int i = 0; i < 4; ++i)
    can.alignments[static_cast<size_t>(i)] = number(abi::kLeastAlignmentA + i);
  return can;
}

std::string Matmul::misaligned(const Capabilities& capabilities) const {
  constexpr const char* kRoles[] = {"b", "a", "c", "out"};  // As the library sees them.
  for (size_t i = 0; i < alignments_.size(); ++i)
    if (capabilities.alignments[i] > alignments_[i])
      return fmt::format("it wants {} at multiples of {} bytes, and {} are promised", kRoles[i],
                         capabilities.alignments[i], alignments_[i]);
  return {};
}

Status Matmul::configure(abi::Algorithm& algorithm, const AlgorithmValues& values) const {
  for (size_t i = kAtTile; i < kAlgorithmFields.size(); ++i) {
    const auto value = static_cast<uint64_t>(values[i]);
    const abi::Status set = api_->call().algorithm_set(&algorithm, kAlgorithmFields[i].attribute,
                                                       &value, kAlgorithmFields[i].bytes);
    if (value != 0) ASSAY_TRY(api_->check(set, kAlgorithmFields[i].name));
  }
  return {};
}

Status Matmul::check(const abi::Algorithm& algorithm, size_t& workspace_bytes) const {
  abi::HeuristicResult result{};
  ASSAY_TRY(api_->check(api_->call().algorithm_check(handle_, desc_, first_, second_, addend_,
                                                     result_, &algorithm, &result),
                        "checking an algorithm"));
  workspace_bytes = result.workspace_bytes;
  return {};
}

Status Matmul::choose(const std::optional<AlgorithmValues>& values) {
  if (!values) {
    ASSAY_TRY(const auto results, heuristic(1));
    if (results.empty()) return fail(ErrorCode::unsupported, "{}", kNoAlgorithm);
    algorithm_ = results.front().algorithm;
    workspace_bytes_ = results.front().workspace_bytes;
    return {};
  }
  ASSAY_TRY(algorithm_, algorithm((*values)[kAtId]));
  ASSAY_TRY(configure(algorithm_, *values));
  ASSAY_TRY(check(algorithm_, workspace_bytes_));
  if (workspace_bytes_ > kWorkspaceBytes)
    return fail(ErrorCode::unsupported, "the algorithm wants a workspace of {} bytes",
                workspace_bytes_);
  return {};
}

abi::Status Matmul::enqueue(void* const* data, void* workspace, size_t bytes, void* stream) const {
  void* const out = data[places_.out];
  void* const c = epilogue_.residual ? data[*epilogue_.residual]
                  : view_.has_c      ? data[places_.c]
                                     : out;
  if (epilogue_.bias && data[*epilogue_.bias] != bias_) {
    const void* const bias = data[*epilogue_.bias];
    const abi::Status set = api_->call().desc_set(desc_, abi::kBiasPointer, &bias, sizeof bias);
    if (set != abi::kSuccess) return set;
    bias_ = bias;
  }
  const double alpha = view_.alpha;
  const double beta = epilogue_.residual ? 1 : view_.has_c ? view_.beta : 0;
  const auto alpha_f = static_cast<float>(alpha), beta_f = static_cast<float>(beta);
  const auto alpha_i = static_cast<int32_t>(alpha), beta_i = static_cast<int32_t>(beta);
  const void* scale = types_.scale == abi::kF64   ? static_cast<const void*>(&alpha)
                      : types_.scale == abi::kS32 ? static_cast<const void*>(&alpha_i)
                                                  : &alpha_f;
  const void* addend = types_.scale == abi::kF64   ? static_cast<const void*>(&beta)
                       : types_.scale == abi::kS32 ? static_cast<const void*>(&beta_i)
                                                   : &beta_f;
  return api_->call().matmul(handle_, desc_, scale, data[places_.b], first_, data[places_.a],
                             second_, addend, c, addend_, out, result_, &algorithm_, workspace,
                             bytes, stream);
}

}  // namespace assay::cublaslt
