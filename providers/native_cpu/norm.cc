#include "norm.h"

#include <algorithm>

#include "assay/kernel/design_space.h"
#include "assay/op/rmsnorm/rmsnorm.h"
#include "design.h"
#include "norm_call.h"
#include "thread_pool.h"

namespace assay::native_cpu {
namespace {

struct Types {
  Element x, w;
  DType x_dtype, w_dtype;
};
constexpr Types kTypes[] = {{Element::f32, Element::f32, DType::f32, DType::f32},
                            {Element::bf16, Element::bf16, DType::bf16, DType::bf16},
                            {Element::bf16, Element::f32, DType::bf16, DType::f32},
                            {Element::f16, Element::f16, DType::f16, DType::f16},
                            {Element::f16, Element::f32, DType::f16, DType::f32}};

struct BoundNorm {
  NormCall call;
  NormRows* rows = nullptr;
  int threads = 1;
  bool adds = false;
};

struct Shared {
  const NormCall& call;
  NormRows* rows;
  int parts;

  static void run(void* state, int part) {
    const auto& shared = *static_cast<const Shared*>(state);
    const int64_t first = shared.call.m * part / shared.parts;
    shared.rows(shared.call, first, shared.call.m * (part + 1) / shared.parts - first);
  }
};

int launch_norm(const void* state, void* const* data) {
  const auto& bound = *static_cast<const BoundNorm*>(state);
  NormCall call = bound.call;
  call.x = data[rmsnorm::kX];
  call.w = data[rmsnorm::kW];
  call.out = data[rmsnorm::kOut];
  if (bound.adds) call.residual = data[rmsnorm::kResidual];
  if (bound.threads == 1) {
    bound.rows(call, 0, call.m);
    return 0;
  }
  Shared shared{call, bound.rows, bound.threads};
  return ThreadPool::shared().run(bound.threads, &Shared::run, &shared) ? 0 : 1;
}

std::vector<DesignGroup> groups() {
  std::vector<DesignGroup> groups;
  for (const Isa isa : {Isa::avx2, Isa::avx512}) {
    for (const Types& types : kTypes) {
      ProblemRule rule;
      rule.operation = rmsnorm::operation().name();
      rule.operands = {{.role = "x", .dtypes = {types.x_dtype}, .major = Major::row},
                       {.role = "w", .dtypes = {types.w_dtype}, .major = Major::row},
                       {.role = "out", .dtypes = {types.x_dtype}, .major = Major::row},
                       {.role = "residual", .dtypes = {types.x_dtype}, .major = Major::row}};
      rule.accumulate = {DType::f32};
      Target target = target_of(isa, types.x);
      // Its files are compiled for all that comes with AVX2.
      target.features.insert("f16c");
      rule.targets = {std::move(target)};
      DesignGroup group;
      group.traits.name = "{isa}";
      group.traits.rule = std::make_shared<const ProblemRule>(std::move(rule));
      group.axes = {axis("isa", {std::string(to_string(isa))})};
      groups.push_back(std::move(group));
    }
  }
  return groups;
}

class NormFamily final : public Family {
 public:
  std::string_view name() const override { return "rmsnorm"; }

 private:
  void do_enumerate(const Query& query, const MetadataSink& sink) const override {
    space_.enumerate(query, sink);
  }

  Result<Artifact> do_compile(const KernelMetadata& row, const MaskedProblem&, const Target&,
                              const CompileContext&) const override {
    return Artifact::without_bytes({{"code", "built in"}, {"isa", row.design.text("isa", "")}});
  }

  Status do_bind(const KernelMetadata& row, const Binding& binding,
                 std::vector<Step>& steps) const override {
    ASSAY_TRY(const rmsnorm::View view, rmsnorm::view(binding.problem));
    const auto types = std::ranges::find_if(
        kTypes, [&](const Types& one) { return one.x_dtype == view.x && one.w_dtype == view.w; });
    const bool wide = row.design.text("isa", "") == to_string(Isa::avx512);
    if (types == std::end(kTypes) || !is_supported(wide ? Isa::avx512 : Isa::avx2, types->x))
      return fail(ErrorCode::unsupported, "this machine has no {}",
                  to_string(wide ? Isa::avx512 : Isa::avx2));
    auto bound = std::make_shared<BoundNorm>();
    bound->call = {.m = view.m,
                   .n = view.n,
                   .x_row = view.x_m,
                   .out_row = view.out_m,
                   .residual_row = view.adds ? view.residual_m : 0,
                   .epsilon = static_cast<float>(view.epsilon)};
    bound->rows = wide ? find_norm_avx512(types->x, types->w) : find_norm_avx2(types->x, types->w);
    bound->adds = view.adds;
    bound->threads = static_cast<int>(std::clamp<int64_t>(binding.threads, 1, view.m));
    steps.push_back(HostStep{&launch_norm, std::move(bound)});
    return {};
  }

  DesignSpace space_{groups()};
};

}  // namespace

std::shared_ptr<const Family> make_norm_family() { return std::make_shared<NormFamily>(); }

}  // namespace assay::native_cpu
