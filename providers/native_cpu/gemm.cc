#include "gemm.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <utility>

#include "assay/op/gemm/epilogue.h"
#include "assay/op/gemm/gemm.h"
#include "design.h"
#include "export.h"

namespace assay::native_cpu {
namespace {

// What a plan's step needs besides pointers.
struct Bound {
  GemmCall call;
  Tiling tiling;
  KernelFunctions functions;
  gemm::Places places;  // In the step's data.
  // Of an epilogue: call.step_count of them, and where their operands stand in the step's data.
  std::array<EpilogueStep, kMostSteps> steps = {};
  std::array<size_t, kMostSteps> step_places = {};
};

void* aligned_pointer(void* pointer) {
  return reinterpret_cast<void*>((reinterpret_cast<uintptr_t>(pointer) + 63) / 64 * 64);
}

bool has_operand(const EpilogueStep& step) {
  return step.kind == StepKind::add || step.kind == StepKind::multiply;
}

int launch(const void* state, void* const* data) {
  const auto& bound = *static_cast<const Bound*>(state);
  GemmCall call = bound.call;
  const gemm::Places& places = bound.places;
  call.a = data[places.a];
  call.b = data[places.b];
  call.c = places.has_c ? data[places.c] : nullptr;
  call.d = data[places.out];
  call.panels = data[places.prepared];
  std::array<EpilogueStep, kMostSteps> steps;
  if (call.step_count > 0) {
    steps = bound.steps;
    for (size_t i = 0; i < static_cast<size_t>(call.step_count); ++i)
      if (has_operand(steps[i])) steps[i].data = data[bound.step_places[i]];
    call.steps = steps.data();
  }
  return bound.functions.run(call, bound.tiling, aligned_pointer(data[places.workspace]));
}

Element element_of(DType dtype) {
  switch (dtype) {
    case DType::bf16:
      return Element::bf16;
    case DType::f16:
      return Element::f16;
    case DType::s8:
      return Element::s8;
    case DType::s32:
      return Element::s32;
    default:
      return Element::f32;
  }
}

// Problems of integers have whole alpha and beta; here they must fit in s32 as well.
bool has_whole_scalars(const gemm::View& view) {
  constexpr double kLargest = 2147483647;
  return std::abs(view.alpha) <= kLargest && std::abs(view.beta) <= kLargest;
}

// The call without its pointers. Problems come here only once they passed the row's rule.
GemmCall call_of(const gemm::View& view) {
  GemmCall call;
  call.l = view.l;
  call.m = view.m;
  call.n = view.n;
  call.k = view.k;
  call.in = element_of(view.a);
  call.out = element_of(view.out);
  call.a_batch = view.a_l;
  call.a_row = view.a_m;
  call.a_column = view.a_k;
  call.b_batch = view.b_l;
  call.b_row = view.b_k;
  call.b_column = view.b_n;
  call.d_batch = view.out_l;
  call.d_row = view.out_m;
  call.d_column = view.out_n;
  if (view.has_c) {
    call.c_batch = view.c_l;
    call.c_row = view.c_m;
    call.c_column = view.c_n;
  }
  call.alpha = static_cast<float>(view.alpha);
  call.beta = view.has_c ? static_cast<float>(view.beta) : 0;
  if (call.out == Element::s32 && has_whole_scalars(view)) {
    call.whole_alpha = static_cast<int32_t>(view.alpha);
    call.whole_beta = view.has_c ? static_cast<int32_t>(view.beta) : 0;
  }
  return call;
}

StepKind kind_of(const gemm::EpilogueStep& step) {
  using Kind = gemm::EpilogueStep::Kind;
  if (step.is_addend()) return StepKind::add;
  if (step.is_factor()) return StepKind::multiply;
  switch (step.kind) {
    case Kind::gelu:
      return StepKind::gelu;
    case Kind::gelu_tanh:
      return StepKind::gelu_tanh;
    case Kind::silu:
      return StepKind::silu;
    case Kind::clamp:
      return StepKind::clamp;
    default:
      return StepKind::relu;
  }
}

// Of an epilogue that passed the row's rule: no step is a gate.
Status add_steps(const Problem& problem, const gemm::View& view, Bound& bound) {
  static_assert(gemm::Epilogue::kMostSteps == kMostSteps);
  ASSAY_TRY(const gemm::Epilogue epilogue, gemm::epilogue_of(problem));
  const auto operands = problem.operands();
  for (const gemm::EpilogueStep& from : epilogue.steps()) {
    const auto i = static_cast<size_t>(bound.call.step_count++);
    EpilogueStep& step = bound.steps[i];
    step.kind = kind_of(from);
    step.low = static_cast<float>(from.low);
    step.high = static_cast<float>(from.high);
    if (!from.has_operand()) continue;
    const auto found = std::ranges::find(operands, from.name(), &Operand::role);
    bound.step_places[i] = static_cast<size_t>(found - operands.begin());
    const gemm::Matrix matrix = gemm::epilogue_matrix(from, *found, view, false);
    step.element = element_of(found->dtype);
    step.batch_stride = matrix.batch_stride;
    step.row_stride = matrix.row_stride;
    step.column_stride = matrix.column_stride;
  }
  return {};
}

constexpr int64_t kMostPartialResults = 1 << 21;  // 8 MiB of f32.
// Packing b costs as much as eight rows of arithmetic or more, measured on Zen 4.
constexpr int64_t kLeastRowsToPackFor = 8;

class GemmFamily final : public Family, public Exportable {
 public:
  explicit GemmFamily(Algorithm algorithm)
      : algorithm_(algorithm), name_(to_string(algorithm)), space_(design_groups(algorithm)) {}

  std::string_view name() const override { return name_; }
  const Exportable* exportable() const override { return this; }

  Result<KernelExport> export_row(const KernelMetadata& row, const Problem& problem,
                                  const ExportOptions& options) const override {
    ASSAY_TRY(const Bound bound, bind(row, problem, options.threads));
    const auto count = static_cast<size_t>(bound.call.step_count);
    return export_source(bound.call, std::span(bound.steps).first(count),
                         std::span(bound.step_places).first(count), bound.tiling, bound.places,
                         target_of(bound.tiling.isa, bound.tiling.in));
  }

 private:
  Tiling tiling(const KernelMetadata& row, const GemmCall& call, int threads) const {
    Tiling tiling = tiling_of(row, algorithm_, call.in);
    tiling.threads = std::max(threads, 1);
    return tiling;
  }

  void do_enumerate(const Query& query, const MetadataSink& sink) const override {
    const Problem* problem = query.problem();
    if (problem != nullptr && problem->dimension("m") > most_rows(algorithm_)) {
      query.refuse(Reason::size,
                   fmt::format("m={} is more than {}, the most that '{}' is made for",
                               problem->dimension("m"), most_rows(algorithm_), name_),
                   space_.size());
      return;
    }
    space_.enumerate(query, sink);
  }

  Refusals do_supports(const KernelMetadata& row, const Problem& problem,
                       const Target&) const override {
    Refusals refusals;
    const auto view = gemm::view(problem);
    if (!view) {
      refusals.add(Reason::operation, view.error().message);
      return refusals;
    }
    if (view->m > most_rows(algorithm_))
      refusals.add(Reason::size, fmt::format("m={} is more than {}, the most that '{}' is made for",
                                             view->m, most_rows(algorithm_), name_));
    if (view->out == DType::s32 && !has_whole_scalars(*view))
      refusals.add(Reason::scalars, fmt::format("alpha {} and beta {} do not both fit in s32",
                                                view->alpha, view->beta));
    if (reads_rows(algorithm_) && view->b_n != 1 && view->n > 1)
      refusals.add(Reason::stride, fmt::format("columns of b lie {} apart, not 1", view->b_n));
    if (algorithm_ == Algorithm::kept && view->m <= row.design.integer("mr", 0))
      refusals.add(Reason::size,
                   fmt::format("m={} fits a tile of {} rows: one pass keeps nothing for a second",
                               view->m, row.design.integer("mr", 0)));
    if (algorithm_ == Algorithm::dots && view->b_k != 1 && view->k > 1)
      refusals.add(Reason::stride, fmt::format("rows of b lie {} apart, not 1", view->b_k));
    // Partial results of all columns at once would fall out of the caches that they are kept for.
    if (reads_rows(algorithm_) && row.design.integer("nc", 0) == 0 &&
        view->m > kMostPartialResults / std::max<int64_t>(view->n, 1))
      refusals.add(Reason::size, fmt::format("m x n = {} x {} is more than {} partial results",
                                             view->m, view->n, kMostPartialResults));
    if (algorithm_ == Algorithm::blocked && view->m < kLeastRowsToPackFor &&
        (view->b_n == 1 || view->b_k == 1))
      refusals.add(Reason::size,
                   fmt::format("m={} is less than {}: 'rows' and 'dots' do this without packing b",
                               view->m, kLeastRowsToPackFor));
    return refusals;
  }

  Result<Artifact> do_compile(const KernelMetadata& row, const MaskedProblem&, const Target&,
                              const CompileContext&) const override {
    return Artifact::without_bytes({{"code", "built in"}, {"isa", row.design.text("isa", "")}});
  }

  size_t do_workspace_bytes(const KernelMetadata& row, const Problem& problem,
                            int threads) const override {
    const auto view = gemm::view(problem);
    if (!view) return 0;
    const GemmCall call = call_of(*view);
    const Tiling how = tiling(row, call, threads);
    const KernelFunctions functions = find_kernel(how);
    return functions ? static_cast<size_t>(functions.workspace_bytes(call, how)) + 64 : 0;
  }

  Status do_prepare(const KernelMetadata& row, const Binding& binding,
                    Prepared& prepared) const override {
    ASSAY_TRY(const Bound bound, bind(row, binding.problem, binding.threads));
    GemmCall call = bound.call;
    call.b = binding.data[bound.places.b];
    ASSAY_TRY(const std::span<std::byte> memory,
              prepared.allocate(static_cast<size_t>(bound.functions.prepared_bytes(call))));
    if (bound.functions.prepare(call, memory.data()) != 0)
      return fail(ErrorCode::failed, "packing b failed");
    return {};
  }

  // Panels are as wide as the register tile and know nothing of blocking.
  std::string do_prepared_layout(const KernelMetadata& row, const Problem&) const override {
    return fmt::format("{}_nv{}", row.design.text("isa", ""), row.design.integer("nv", 0));
  }

  Status do_bind(const KernelMetadata& row, const Binding& binding,
                 std::vector<Step>& steps) const override {
    ASSAY_TRY(Bound bound, bind(row, binding.problem, binding.threads));
    steps.push_back(HostStep{&launch, std::make_shared<const Bound>(bound)});
    return {};
  }

  Result<Bound> bind(const KernelMetadata& row, const Problem& problem, int threads) const {
    ASSAY_TRY(const gemm::View view, gemm::view(problem));
    Bound bound;
    bound.call = call_of(view);
    bound.tiling = tiling(row, bound.call, threads);
    bound.functions = find_kernel(bound.tiling);
    if (!bound.functions || !is_supported(bound.tiling.isa, bound.tiling.in))
      return fail(
          ErrorCode::unsupported, "this machine has no {}{}", to_string(bound.tiling.isa),
          bound.tiling.isa == Isa::amx ? ", or its system does not let processes use it" : "");
    bound.places = gemm::places_of(problem);
    ASSAY_TRY(add_steps(problem, view, bound));
    return bound;
  }

  Algorithm algorithm_;
  std::string name_;
  DesignSpace space_;
};

}  // namespace

std::vector<std::shared_ptr<const Family>> make_families() {
  std::vector<std::shared_ptr<const Family>> families;
  for (const Algorithm algorithm :
       {Algorithm::rows, Algorithm::kept, Algorithm::dots, Algorithm::blocked, Algorithm::panels})
    families.push_back(std::make_shared<GemmFamily>(algorithm));
  return families;
}

}  // namespace assay::native_cpu
