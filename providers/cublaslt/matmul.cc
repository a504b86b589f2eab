#include "matmul.h"

#include <algorithm>
#include <array>
#include <set>

#include <fmt/format.h>

#include "assay/base/text.h"
#include "assay/kernel/device_code/launch.h"
#include "assay/kernel/export.h"
#include "assay/op/gemm/epilogue.h"
#include "assay/op/gemm/matrix.h"
#include "call.h"

namespace assay::cublaslt {
namespace {

constexpr int kMostAlgorithms = 200;

std::shared_ptr<const KernelTraits> traits_of(bool is_default) {
  ProblemRule rule;
  const std::vector<DType> in = {DType::f16, DType::bf16, DType::f32, DType::f64, DType::s8};
  const std::vector<DType> out = {DType::f16, DType::bf16, DType::f32, DType::f64, DType::s32};
  rule.operands = {{.role = "a", .dtypes = in},     {.role = "b", .dtypes = in},
                   {.role = "c", .dtypes = out},    {.role = "out", .dtypes = out},
                   {.role = "bias", .dtypes = out}, {.role = "residual", .dtypes = out}};
  rule.epilogues = library_epilogues();
  rule.take_steps(gemm::Epilogue::step_names(), gemm::Epilogue::operand_names(),
                  {DType::f16, DType::bf16, DType::f32});
  rule.scalars = true;
  KernelTraits traits;
  traits.name = is_default ? "default"
                           : "algo{algo}_t{tile}_s{stages}_k{split_k}_r{reduction}_w{swizzle}_c"
                             "{custom}_i{inner}_x{cluster}";
  traits.rule = std::make_shared<const ProblemRule>(std::move(rule));
  return std::make_shared<const KernelTraits>(std::move(traits));
}

struct Bound {
  std::shared_ptr<const Api> api;
  std::shared_ptr<Matmul> matmul;
  gemm::Places places;
  size_t operands = 0;         // Of the product's problem.
  size_t sums_bytes = 0;       // At the start of the workspace, where sums are apart from out.
  size_t workspace_bytes = 0;  // Behind them.

  static int launch(const void* state, void* const* data, void* stream) {
    const Bound& bound = *static_cast<const Bound*>(state);
    const gemm::Places& places = bound.places;
    auto* const memory = static_cast<std::byte*>(data[places.workspace]);
    void* const workspace = bound.workspace_bytes > 0 ? memory + bound.sums_bytes : nullptr;
    if (bound.sums_bytes == 0)
      return bound.matmul->enqueue(data, workspace, bound.workspace_bytes, stream);
    std::array<void*, 4> own{};
    std::copy_n(data, bound.operands, own.begin());
    own[places.out] = memory;
    return bound.matmul->enqueue(own.data(), workspace, bound.workspace_bytes, stream);
  }
};

class MatmulFamily final : public Family, public Exportable {
 public:
  MatmulFamily(std::shared_ptr<const Api> api, SpaceChoice choice)
      : api_(std::move(api)),
        choice_(choice),
        default_(traits_of(true)),
        algorithm_(traits_of(false)) {}

  std::string_view name() const override { return "matmul"; }
  const Exportable* exportable() const override { return this; }

  // Its code is the library's: what could leave is a call, which whoever has the library can write.
  Result<KernelExport> export_row(const KernelMetadata& row, const Problem&,
                                  const ExportOptions&) const override {
    const bool is_default = row.design.truth("default", false);
    std::vector<std::string> values;
    for (const AlgorithmField& field : kAlgorithmFields)
      values.push_back(fmt::format("{} {}", field.name, row.design.integer(field.name, 0)));
    return fail(ErrorCode::unsupported,
                "{}/{} cannot be exported: its code stays in the library. Call cublasLtMatmul "
                "with {} and {} of workspace, or ship it in a tuned table, which does so (assay "
                "sweep --save-table, then TunedTable in the program)",
                row.provider(), row.name(),
                is_default ? std::string("the first algorithm of its heuristic")
                           : fmt::format("cublasLtMatmulAlgoInit and these attributes: {}",
                                         join(values, ", ")),
                format_bytes(static_cast<double>(kWorkspaceBytes)));
  }

 private:
  // What there is depends on the problem: without one, only the default can be named.
  void do_enumerate(const Query& query, const MetadataSink& sink) const override {
    if (query.target() != nullptr && !query.target()->is_gpu()) {
      query.refuse(Reason::target, "cuBLASLt runs on GPUs, and this is asked for a processor");
      return;
    }
    if (!query.admits(*default_->rule, 1)) return;
    if (query.problem() != nullptr) {
      const Refusals refusals = objections_to(*query.problem());
      if (!refusals.empty())
        return query.refuse(refusals.begin()->reason, refusals.begin()->sentence);
    }
    if (query.problem() == nullptr) return sink(default_row());
    if (const Status listed = list(query, sink); !listed)
      query.refuse(Reason::other, listed.error().message);
  }

  static Refusals objections_to(const Problem& problem) {
    Refusals refusals;
    const auto product = product_of(problem);
    const auto view = product ? gemm::view(*product) : fail(product.error());
    if (!view) {
      refusals.add(Reason::other, view.error().message);
      return refusals;
    }
    if (!has_epilogue(problem))
      if (const auto launch = launch_behind(problem, 0); !launch)
        refusals.add(Reason::epilogue, launch.error().message);
    for (const Refusal& refusal : objections(*view)) refusals.add(refusal.reason, refusal.sentence);
    return refusals;
  }

  KernelMetadata default_row() const {
    Design design;
    design.set("default", true);
    return KernelMetadata(default_, design);
  }

  // Nothing where the heuristic has no answer: then there is no default either.
  Status list(const Query& query, const MetadataSink& sink) const {
    ASSAY_TRY(const Problem product, product_of(*query.problem()));
    ASSAY_TRY(const auto matmul, Matmul::create(api_, product));
    ASSAY_TRY(const auto results, matmul->heuristic(kMostAlgorithms));
    if (results.empty()) return fail(ErrorCode::unsupported, "{}", kNoAlgorithm);
    sink(default_row());
    std::set<AlgorithmValues> seen;
    for (size_t i = 0; i < results.size(); ++i) {
      const AlgorithmValues values = matmul->values_of(results[i].algorithm);
      // The first is the default, which is there already.
      if (!seen.insert(values).second || i == 0) continue;
      Design design;
      for (size_t f = 0; f < values.size(); ++f) design.set(kAlgorithmFields[f].name, values[f]);
      sink(KernelMetadata(algorithm_, design));
    }
    return choice_.all ? list_others(*matmul, seen, query, sink) : Status();
  }

  // What the heuristic did not say; the same configuration is the same kernel.
  Status list_others(const Matmul& matmul, const std::set<AlgorithmValues>& seen,
                     const Query& query, const MetadataSink& sink) const {
    ASSAY_TRY(Space space, walk_space(matmul, kMostChecks));
    std::erase_if(space.accepted,
                  [&](const AlgorithmValues& values) { return seen.contains(values); });
    const size_t there = space.accepted.size();
    space.accepted = spread(std::move(space.accepted), choice_.most);
    for (const auto& [reason, refused] : space.refusals)
      query.refuse(reason, refused.example, refused.count);
    if (const size_t left = there - space.accepted.size(); left > 0)
      query.refuse(Reason::filter,
                   fmt::format("{} of {} further algorithms are listed (space=all:{}), evenly "
                               "spread over the library's order",
                               choice_.most, there, choice_.most),
                   static_cast<int64_t>(left));
    DesignAxis axis;
    for (const AlgorithmField& field : kAlgorithmFields) axis.names.emplace_back(field.name);
    for (const AlgorithmValues& values : space.accepted)
      axis.choices.emplace_back(values.begin(), values.end());
    std::vector<DesignAxis> axes;
    axes.push_back(std::move(axis));
    const auto rows = std::make_shared<const DesignAxes>(std::move(axes));
    for (uint64_t row = 0; row < rows->rows(); ++row)
      sink(KernelMetadata(algorithm_, Design(rows, row)));
    return {};
  }

  static std::optional<AlgorithmValues> values_of(const KernelMetadata& row) {
    if (row.design.truth("default", false)) return std::nullopt;
    AlgorithmValues values{};
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = row.design.integer(kAlgorithmFields[i].name, 0);
    return values;
  }

  Refusals do_supports(const KernelMetadata&, const Problem& problem,
                       const Target& target) const override {
    Refusals refusals;
    if (!target.is_gpu()) refusals.add(Reason::target, "cuBLASLt runs on GPUs");
    for (const Refusal& refusal : objections_to(problem))
      refusals.add(refusal.reason, refusal.sentence);
    return refusals;
  }

  Result<Artifact> do_compile(const KernelMetadata& row, const MaskedProblem&, const Target&,
                              const CompileContext&) const override {
    Json facts = {{"library", "cublaslt"},
                  {"version", api_->version()},
                  {"path", api_->path()},
                  {"sha256", api_->sha256()}};
    Json& algorithm = facts["algorithm"] = Json::object();
    if (const auto values = values_of(row))
      for (size_t i = 0; i < values->size(); ++i)
        algorithm[kAlgorithmFields[i].name] = (*values)[i];
    else
      algorithm = "the heuristic's first";
    return Artifact::without_bytes(std::move(facts));
  }

  // What the algorithm wants, most often nothing: a race has thousands of them open at once, with
  // several workspaces each. The default may become another one with the operands' addresses.
  size_t do_workspace_bytes(const KernelMetadata& row, const Problem& problem, int) const override {
    const auto values = values_of(row);
    const size_t sums = sums_bytes(problem);
    if (!values) return sums + kWorkspaceBytes;
    const auto product = product_of(problem);
    const auto matmul = product ? Matmul::create(api_, *product) : fail(product.error());
    return sums +
           (matmul && (*matmul)->choose(values) ? (*matmul)->workspace_bytes() : kWorkspaceBytes);
  }

  Status do_bind(const KernelMetadata& row, const Binding& binding,
                 std::vector<Step>& steps) const override {
    auto bound = std::make_shared<Bound>();
    bound->api = api_;
    ASSAY_TRY(const Problem product, product_of(binding.problem));
    ASSAY_TRY(bound->matmul, Matmul::create(api_, product));
    ASSAY_TRY(bound->matmul->choose(values_of(row)));
    bound->places = gemm::places_of(binding.problem);
    bound->operands = product.operands().size();
    bound->sums_bytes = sums_bytes(binding.problem);
    bound->workspace_bytes = bound->matmul->workspace_bytes();
    const size_t workspace = bound->places.workspace;
    steps.push_back(StreamStep{&Bound::launch, std::move(bound)});
    if (has_epilogue(binding.problem)) return {};
    ASSAY_TRY(const GpuLaunch launch, launch_behind(binding.problem, workspace));
    ASSAY_TRY(DeviceStep behind, device_code::bind(binding.device, launch));
    steps.push_back(std::move(behind));
    return {};
  }

  static Result<GpuLaunch> launch_behind(const Problem& problem, size_t sums) {
    ASSAY_TRY(const auto behind, gemm::operation().last_part(problem));
    return behind->on_gpu(sums);
  }

  static size_t sums_bytes(const Problem& problem) {
    constexpr size_t kAlignment = 256;
    const auto behind = gemm::operation().last_part(problem);
    const size_t bytes = has_epilogue(problem) || !behind ? 0 : (*behind)->between_bytes();
    return (bytes + kAlignment - 1) / kAlignment * kAlignment;
  }

  std::shared_ptr<const Api> api_;
  SpaceChoice choice_;
  std::shared_ptr<const KernelTraits> default_, algorithm_;
};

}  // namespace

std::shared_ptr<const Family> make_matmul_family(std::shared_ptr<const Api> api,
                                                 SpaceChoice choice) {
  return std::make_shared<MatmulFamily>(std::move(api), choice);
}

}  // namespace assay::cublaslt
