#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "assay/base/text.h"
#include "assay/op/gemm/epilogue.h"
#include "assay/op/gemm/matrix.h"
#include "export.h"
#include "gemm.h"
#include "matrices.h"

namespace assay::onednn {
namespace {

// The library rounds sums of s8 products to f32 on their way to s32 (2.6 and 3.2 alike): 2^24 is
// the last integer that all below it survive, and a product is at most 2^14.
constexpr int64_t kMostExactBytes = 1024;

int data_type_of(DType dtype) {
  switch (dtype) {
    case DType::f16:
      return abi::kF16;
    case DType::bf16:
      return abi::kBf16;
    case DType::s8:
      return abi::kS8;
    case DType::s32:
      return abi::kS32;
    default:
      return abi::kF32;
  }
}

// A matmul that can be asked about and made: its descriptors.
struct Setup {
  Matrices matrices;
  Descriptor a, b, out;                // As the problem has them.
  std::vector<PostOp> post_ops;        // The steps of an epilogue,
  std::vector<size_t> operand_places;  // and where their operands stand in the problem.
  Object primitive_descriptor;
  abi::ConstHandle packed =
      nullptr;  // The library's choice for the problem's b, if it is prepared.
};

Result<Descriptor> describe(const Api& api, const gemm::Matrix& given, bool free_layout) {
  // oneDNN recognises its fast cases by the strides.
  const gemm::Matrix matrix = given.plain();
  const std::array<abi::Dim, 3> sizes = {matrix.batches, matrix.rows, matrix.columns};
  const std::array<abi::Dim, 3> strides = {matrix.batch_stride, matrix.row_stride,
                                           matrix.column_stride};
  // Without the batch where there is none: more implementations take that.
  const size_t skip = matrix.batches == 1 ? 1 : 0;
  return api.describe(
      data_type_of(matrix.dtype), std::span(sizes).subspan(skip),
      free_layout ? std::span<const abi::Dim>() : std::span<const abi::Dim>(strides).subspan(skip));
}

// The same of what may have fewer batches than the product, of which the library wants as many
// dimensions.
Result<Descriptor> describe_exactly(const Api& api, const gemm::Matrix& matrix, int64_t batches) {
  const std::array<abi::Dim, 3> sizes = {matrix.batches, matrix.rows, matrix.columns};
  const std::array<abi::Dim, 3> strides = {matrix.batch_stride, matrix.row_stride,
                                           matrix.column_stride};
  const size_t skip = batches == 1 ? 1 : 0;
  return api.describe(data_type_of(matrix.dtype), std::span(sizes).subspan(skip),
                      std::span<const abi::Dim>(strides).subspan(skip));
}

PostOp::Kind kind_of(const gemm::EpilogueStep& step) {
  using Kind = gemm::EpilogueStep::Kind;
  if (step.is_addend()) return PostOp::Kind::add;
  if (step.is_factor()) return PostOp::Kind::multiply;
  switch (step.kind) {
    case Kind::gelu:
      return PostOp::Kind::gelu_erf;
    case Kind::gelu_tanh:
      return PostOp::Kind::gelu_tanh;
    case Kind::silu:
      return PostOp::Kind::swish;
    case Kind::clamp:
      return PostOp::Kind::clip;
    default:
      return PostOp::Kind::relu;
  }
}

Status add_steps(const Api& api, const Problem& problem, const gemm::View& view, Setup& setup) {
  ASSAY_TRY(const gemm::Epilogue epilogue, gemm::epilogue_of(problem));
  for (const gemm::EpilogueStep& step : epilogue.steps()) {
    PostOp post_op{.kind = kind_of(step),
                   .low = static_cast<float>(step.low),
                   .high = static_cast<float>(step.high)};
    size_t place = 0;
    if (step.has_operand()) {
      const auto operands = problem.operands();
      const auto found = std::ranges::find(operands, step.name(), &Operand::role);
      place = static_cast<size_t>(found - operands.begin());
      // One size for all batches, rows or columns is 1, and lies dense.
      gemm::Matrix matrix = gemm::epilogue_matrix(step, *found, view, false);
      matrix.batches = found->sizes[0];
      matrix.rows = found->sizes[1];
      matrix.columns = found->sizes[2];
      if (step.kind != gemm::EpilogueStep::Kind::residual) {
        matrix.column_stride = 1;
        matrix.row_stride = matrix.columns;
        matrix.batch_stride = matrix.rows * matrix.columns;
      }
      if (setup.matrices.swapped) matrix = matrix.transposed();
      ASSAY_TRY(post_op.operand, describe_exactly(api, matrix, view.l));
    }
    setup.post_ops.push_back(std::move(post_op));
    setup.operand_places.push_back(place);
  }
  return {};
}

Result<Setup> set_up(const Api& api, const Problem& problem, bool prepared) {
  ASSAY_TRY(const gemm::View view, gemm::view(problem));
  Setup setup;
  setup.matrices = matrices_of(view);
  const bool swapped = setup.matrices.swapped;
  ASSAY_TRY(setup.a, describe(api, setup.matrices.a, false));
  ASSAY_TRY(setup.b, describe(api, setup.matrices.b, false));
  ASSAY_TRY(setup.out, describe(api, setup.matrices.out, false));
  Descriptor a = setup.a, b = setup.b;
  if (prepared && swapped) {
    ASSAY_TRY(a, describe(api, setup.matrices.a, true));
  }
  if (prepared && !swapped) {
    ASSAY_TRY(b, describe(api, setup.matrices.b, true));
  }
  ASSAY_TRY(add_steps(api, problem, view, setup));
  ASSAY_TRY(setup.primitive_descriptor, api.matmul(a, b, setup.out, setup.post_ops));
  if (prepared)
    setup.packed =
        api.query(setup.primitive_descriptor, swapped ? abi::kQuerySource : abi::kQueryWeights);
  return setup;
}

// A memory object whose data is exchanged only when the pointer is another: in 2.x that is not
// free.
struct Slot {
  Object memory;
  size_t place = 0;
  void* data = nullptr;
};

struct Bound {
  std::shared_ptr<const Api> api;
  int threads = 1;
  Object primitive, stream;
  // a, b, out and the operands of post-ops. A plan is used by one thread at a time.
  mutable std::vector<Slot> slots;
  Object scratchpad;
  std::vector<abi::Argument> arguments;

  static int launch(const void* state, void* const* data) {
    const auto& bound = *static_cast<const Bound*>(state);
    bound.api->use_threads(bound.threads);
    for (Slot& slot : bound.slots) {
      void* const wanted = data[slot.place];
      if (slot.data == wanted) continue;
      if (const int status = bound.api->set_data(slot.memory.get(), wanted); status != 0)
        return status;
      slot.data = wanted;
    }
    return bound.api->execute(bound.primitive.get(), bound.stream.get(),
                              static_cast<int>(bound.arguments.size()), bound.arguments.data());
  }
};

ProblemRule rule_of(DType in, std::vector<DType> out, bool prepared) {
  ProblemRule rule;
  rule.operands = {{.role = "a", .dtypes = {in}},
                   {.role = "b", .dtypes = {in}, .prepared = prepared},
                   {.role = "out", .dtypes = std::move(out)}};
  if (in != DType::s8)
    rule.take_steps(gemm::Epilogue::names_without_gates(), gemm::Epilogue::operand_names(),
                    {DType::f32, DType::bf16, DType::f16});
  rule.accumulate = {in == DType::s8 ? DType::s32 : DType::f32};
  return rule;
}

// The primitive, plain or with b packed ahead.
class Matmul {
 public:
  Matmul(std::shared_ptr<const Api> api, bool prepared)
      : api_(std::move(api)), prepared_(prepared) {}

  void check(const Problem& problem, Refusals& refusals) const {
    const auto view = gemm::view(problem);
    if (!view) {
      refusals.add(Reason::other, view.error().message);
      return;
    }
    check_strides(matrices_of(*view), refusals);
    if (view->a == DType::s8) api_->check_sums_of_bytes(refusals);
    if (view->a == DType::s8 && view->k > kMostExactBytes)
      refusals.add(Reason::size,
                   fmt::format("k={}: oneDNN's matmul rounds sums of s8 to f32, which is exact up "
                               "to k={} only",
                               view->k, kMostExactBytes));
    if (!refusals.empty()) return;
    const auto setup = set_up(problem);
    if (!setup) {
      refusals.add(Reason::other,
                   fmt::format("oneDNN {} has no such matmul here ({} x {} to {}): {}",
                               api_->version(), to_string(view->a), to_string(view->b),
                               to_string(view->out), setup.error().message));
      return;
    }
    // Written to be checked against: a thousand times slower than what anybody would run.
    const std::string implementation = api_->implementation(setup->primitive_descriptor);
    if (implementation.starts_with("ref"))
      refusals.add(Reason::other,
                   fmt::format("oneDNN {} has only its reference implementation '{}' for this here",
                               api_->version(), implementation));
  }

  size_t workspace_bytes(const Problem& problem, int threads) const {
    api_->use_threads(threads);
    const auto setup = set_up(problem);
    if (!setup) return 0;
    return api_->bytes(api_->query(setup->primitive_descriptor, abi::kQueryScratchpad));
  }

  Status prepare(const Binding& binding, Prepared& prepared) const {
    api_->use_threads(binding.threads);
    ASSAY_TRY(const Setup setup, set_up(binding.problem));
    ASSAY_TRY(const std::span<std::byte> memory, prepared.allocate(api_->bytes(setup.packed)));
    const Descriptor& plain = setup.matrices.swapped ? setup.a : setup.b;
    ASSAY_TRY(const Object descriptor, api_->reorder(plain.get(), setup.packed));
    ASSAY_TRY(const Object reorder, api_->primitive(descriptor));
    ASSAY_TRY(const Object stream, api_->stream());
    ASSAY_TRY(const Object from,
              api_->memory(plain.get(), binding.data[gemm::places_of(binding.problem).b]));
    ASSAY_TRY(const Object to, api_->memory(setup.packed, memory.data()));
    const std::array<abi::Argument, 2> arguments = {
        {{abi::kArgSource, from.get()}, {abi::kArgDestination, to.get()}}};
    const int status = api_->execute(reorder.get(), stream.get(), 2, arguments.data());
    if (status != abi::kSuccess)
      return fail(ErrorCode::failed, "reordering b: oneDNN returned {}", status);
    return {};
  }

  Result<KernelExport> export_source(const Problem& problem, const ExportOptions& options) const {
    api_->use_threads(options.threads);
    ASSAY_TRY(const Setup setup, set_up(problem));
    return export_call(*api_, {.routine = prepared_ ? "matmul_prepared" : "matmul",
                               .problem = problem,
                               .threads = options.threads,
                               .prepared_bytes = prepared_ ? api_->bytes(setup.packed) : 0});
  }

  Result<HostStep> bind(const Binding& binding) const {
    api_->use_threads(binding.threads);
    ASSAY_TRY(const Setup setup, set_up(binding.problem));
    auto bound = std::make_shared<Bound>();
    bound->api = api_;
    bound->threads = binding.threads;
    ASSAY_TRY(bound->primitive, api_->primitive(setup.primitive_descriptor));
    ASSAY_TRY(bound->stream, api_->stream());

    const gemm::Places places = gemm::places_of(binding.problem);
    const bool swapped = setup.matrices.swapped;
    const auto fill = [&](int argument, abi::ConstHandle descriptor, size_t place) -> Status {
      Slot& slot = bound->slots.emplace_back();
      slot.place = place;
      slot.data = place == places.prepared ? binding.prepared.data() : binding.data[place];
      ASSAY_TRY(slot.memory, api_->memory(descriptor, slot.data));
      bound->arguments.push_back({argument, slot.memory.get()});
      return {};
    };
    const auto a = prepared_ && swapped ? setup.packed : setup.a.get();
    const auto b = prepared_ && !swapped ? setup.packed : setup.b.get();
    const size_t b_place = prepared_ ? places.prepared : places.b;
    ASSAY_TRY(fill(abi::kArgSource, a, swapped ? b_place : places.a));
    ASSAY_TRY(fill(abi::kArgWeights, b, swapped ? places.a : b_place));
    ASSAY_TRY(fill(abi::kArgDestination, setup.out.get(), places.out));
    for (size_t i = 0; i < setup.post_ops.size(); ++i)
      if (const Descriptor& operand = setup.post_ops[i].operand)
        ASSAY_TRY(fill(api_->argument_of_post_op(static_cast<int>(i)), operand.get(),
                       setup.operand_places[i]));
    const abi::ConstHandle scratchpad =
        api_->query(setup.primitive_descriptor, abi::kQueryScratchpad);
    if (const size_t bytes = api_->bytes(scratchpad); bytes > 0) {
      if (bytes > binding.workspace_bytes)
        return fail(ErrorCode::internal, "oneDNN wants {} bytes of scratchpad now, but {} before",
                    bytes, binding.workspace_bytes);
      ASSAY_TRY(bound->scratchpad, api_->memory(scratchpad, binding.workspace));
      bound->arguments.push_back({abi::kArgScratchpad, bound->scratchpad.get()});
    }
    return HostStep{&Bound::launch, std::move(bound)};
  }

 private:
  Result<Setup> set_up(const Problem& problem) const {
    return onednn::set_up(*api_, problem, prepared_);
  }

  std::shared_ptr<const Api> api_;
  bool prepared_;
};

Routine routine_of(const std::shared_ptr<const Api>& api, bool prepared) {
  const auto matmul = std::make_shared<const Matmul>(api, prepared);
  Routine routine{.name = prepared ? "matmul_prepared" : "matmul",
                  .is_default = !prepared,
                  .prepares = prepared,
                  .rules = {rule_of(DType::f32, {DType::f32}, prepared),
                            rule_of(DType::bf16, {DType::f32, DType::bf16}, prepared),
                            rule_of(DType::f16, {DType::f32, DType::f16}, prepared),
                            rule_of(DType::s8, {DType::s32}, prepared)}};
  routine.check = [matmul](const KernelMetadata&, const Problem& problem, Refusals& refusals) {
    matmul->check(problem, refusals);
  };
  routine.workspace_bytes = [matmul](const KernelMetadata&, const Problem& problem, int threads) {
    return matmul->workspace_bytes(problem, threads);
  };
  routine.prepare = [matmul](const KernelMetadata&, const Binding& binding, Prepared& prepared_in) {
    return matmul->prepare(binding, prepared_in);
  };
  routine.export_call = [matmul](const Problem& problem, const ExportOptions& options) {
    return matmul->export_source(problem, options);
  };
  routine.bind = [matmul](const KernelMetadata&, const Binding& binding) {
    return matmul->bind(binding);
  };
  return routine;
}

}  // namespace

std::shared_ptr<const Family> make_matmul_family(std::shared_ptr<const Api> api) {
  return make_library_family("matmul", api->facts(),
                             {routine_of(api, false), routine_of(api, true)});
}

}  // namespace assay::onednn
