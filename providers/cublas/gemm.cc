#include "gemm.h"

#include <cstddef>
#include <cstdint>

#include "assay/op/gemm/matrix.h"
#include "call.h"

namespace assay::cublas {
namespace {

constexpr size_t kWorkspaceBytes = size_t{32} << 20;  // What the library recommends for Hopper.
// The library wants 256, and a plan promises 64. Source: cuBLAS documentation, cublasSetWorkspace.
constexpr size_t kWorkspaceAlignment = 256, kPlanAlignment = 64;

std::shared_ptr<const KernelTraits> traits() {
  ProblemRule rule;
  const std::vector<DType> in = {DType::f16, DType::bf16, DType::f32, DType::f64, DType::s8};
  const std::vector<DType> out = {DType::f16, DType::bf16, DType::f32, DType::f64, DType::s32};
  rule.operands = {
      {.role = "a", .dtypes = in}, {.role = "b", .dtypes = in}, {.role = "out", .dtypes = out}};
  rule.scalars = true;
  KernelTraits traits;
  traits.name = "gemm_ex";
  traits.rule = std::make_shared<const ProblemRule>(std::move(rule));
  return std::make_shared<const KernelTraits>(std::move(traits));
}

struct Bound {
  Call call;
  gemm::Places places;

  static int launch(const void* state, void* const* data, void* stream) {
    const Bound& bound = *static_cast<const Bound*>(state);
    auto* workspace = static_cast<std::byte*>(data[bound.places.workspace]);
    const auto beyond = reinterpret_cast<uintptr_t>(workspace) % kWorkspaceAlignment;
    if (beyond != 0) workspace += kWorkspaceAlignment - beyond;
    return bound.call.enqueue(data[bound.places.a], data[bound.places.b], data[bound.places.out],
                              workspace, kWorkspaceBytes, stream);
  }
};

class GemmFamily final : public Family {
 public:
  explicit GemmFamily(std::shared_ptr<const Api> api) : api_(std::move(api)), traits_(traits()) {}

  std::string_view name() const override { return "gemm"; }

 private:
  void do_enumerate(const Query& query, const MetadataSink& sink) const override {
    if (query.target() != nullptr && !query.target()->is_gpu()) {
      query.refuse(Reason::target, "cuBLAS runs on GPUs, and this is asked for a processor");
      return;
    }
    if (!query.admits(*traits_->rule, 1)) return;
    if (query.problem() != nullptr) {
      const auto view = gemm::view(*query.problem());
      if (!view) return query.refuse(Reason::other, view.error().message);
      if (const Refusals refusals = objections(*view); !refusals.empty())
        return query.refuse(refusals.begin()->reason, refusals.begin()->sentence);
    }
    Design design;
    design.set("default", true);
    sink(KernelMetadata(traits_, design));
  }

  Refusals do_supports(const KernelMetadata&, const Problem& problem,
                       const Target& target) const override {
    Refusals refusals;
    const auto view = gemm::view(problem);
    if (view)
      refusals = objections(*view);
    else
      refusals.add(Reason::other, view.error().message);
    if (!target.is_gpu()) refusals.add(Reason::target, "cuBLAS runs on GPUs");
    return refusals;
  }

  Result<Artifact> do_compile(const KernelMetadata&, const MaskedProblem&, const Target&,
                              const CompileContext&) const override {
    return Artifact::without_bytes({{"library", "cublas"},
                                    {"version", api_->version()},
                                    {"path", api_->path()},
                                    {"sha256", api_->sha256()},
                                    {"algorithm", "the library's choice"}});
  }

  size_t do_workspace_bytes(const KernelMetadata&, const Problem&, int) const override {
    return kWorkspaceBytes + kWorkspaceAlignment - kPlanAlignment;
  }

  Status do_bind(const KernelMetadata&, const Binding& binding,
                 std::vector<Step>& steps) const override {
    ASSAY_TRY(const gemm::View view, gemm::view(binding.problem));
    if (const Refusals refusals = objections(view); !refusals.empty())
      return fail(ErrorCode::unsupported, "{}", refusals.begin()->sentence);
    ASSAY_TRY(const Handle handle, api_->handle());
    auto bound =
        std::make_shared<Bound>(Bound{Call(api_, handle, view), gemm::places_of(binding.problem)});
    steps.push_back(StreamStep{&Bound::launch, std::move(bound)});
    return {};
  }

  std::shared_ptr<const Api> api_;
  std::shared_ptr<const KernelTraits> traits_;
};

}  // namespace

std::shared_ptr<const Family> make_gemm_family(std::shared_ptr<const Api> api) {
  return std::make_shared<GemmFamily>(std::move(api));
}

}  // namespace assay::cublas
