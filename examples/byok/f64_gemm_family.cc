#include "examples/byok/f64_gemm_family.h"

#include <string>
#include <utility>
#include <vector>

#include "assay/kernel/design_space.h"
#include "assay/op/gemm/gemm.h"
#include "examples/byok/f64_gemm_kernel.h"

namespace byok {
namespace {

using namespace assay;  // NOLINT: an example shows names as a user writes them.

// Double precision everywhere; the layout is one letter for each of a, b and out.
std::shared_ptr<const ProblemRule> rule_for(const std::string& layout) {
  const auto operand = [](std::string role, char letter) {
    return OperandRule{.role = std::move(role),
                       .dtypes = {DType::f64},
                       .major = letter == 't' ? Major::row : Major::column};
  };
  return std::make_shared<const ProblemRule>(ProblemRule{
      .operation = "gemm",
      .operands = {operand("a", layout[0]), operand("b", layout[1]), operand("out", layout[2])},
      .accumulate = {DType::f64}});
}

DesignSpace make_space() {
  const std::vector<std::string> layouts = {"ttt", "ttn", "tnt", "tnn", "ntt", "ntn", "nnt", "nnn"};
  std::vector<std::shared_ptr<const ProblemRule>> rules;
  for (const std::string& layout : layouts) rules.push_back(rule_for(layout));
  std::vector<DesignGroup> groups;
  for (const int tile : {32, 16}) {
    for (size_t i = 0; i < layouts.size(); ++i) {
      groups.push_back(
          {.traits = {.name = "F64GemmKernel_tile{tile_m}x{tile_n}_{layout}", .rule = rules[i]},
           .axes = {axis("tile_m", {tile}), axis("tile_n", {tile}), axis("tile_k", {1}),
                    axis("layout", {layouts[i]})}});
    }
  }
  return DesignSpace(std::move(groups));
}

// What a launch needs but its pointers.
struct Bound {
  Tile tile;
  gemm::View view;
  size_t a, b, out;  // Which of the pointers.
};

int launch(const void* state, void* const* data) {
  const auto& bound = *static_cast<const Bound*>(state);
  const gemm::View& v = bound.view;
  const auto matrices = [&](size_t operand, int64_t batch, int64_t row, int64_t column) {
    return Matrices{static_cast<double*>(data[operand]), batch, row, column};
  };
  f64_gemm(bound.tile, {v.l, v.m, v.n, v.k}, matrices(bound.a, v.a_l, v.a_m, v.a_k),
           matrices(bound.b, v.b_l, v.b_k, v.b_n), matrices(bound.out, v.out_l, v.out_m, v.out_n));
  return 0;
}

Result<size_t> position(const Problem& problem, std::string_view role) {
  for (size_t i = 0; i < problem.operands().size(); ++i) {
    if (problem.operands()[i].role == role) return i;
  }
  return fail(ErrorCode::invalid_input, "the problem has no operand {}", role);
}

Tile tile_of(const KernelMetadata& row) {
  return {static_cast<int>(row.design.integer("tile_m", 32)),
          static_cast<int>(row.design.integer("tile_n", 32))};
}

class F64GemmFamily final : public Family {
 public:
  std::string_view name() const override { return "F64GemmKernel"; }

 private:
  void do_enumerate(const Query& query, const MetadataSink& sink) const override {
    space_.enumerate(query, sink);
  }

  // Beyond dtypes and layouts, which the rule has settled.
  Refusals do_supports(const KernelMetadata&, const Problem& problem,
                       const Target&) const override {
    Refusals refusals;
    for (const Operand& operand : problem.operands()) {
      if (operand.sizes.size() == 3) continue;
      refusals.add(Reason::size, "operand " + operand.role + " has rank " +
                                     std::to_string(operand.sizes.size()) + "; this takes rank 3");
    }
    return refusals;
  }

  // The code is part of this program: there is nothing to compile.
  Result<Artifact> do_compile(const KernelMetadata& row, const MaskedProblem&, const Target& target,
                              const CompileContext&) const override {
    const Tile tile = tile_of(row);
    return Artifact::without_bytes({{"function", "byok::f64_gemm"},
                                    {"tile", {tile.m, tile.n}},
                                    {"target", target.to_string()}});
  }

  Status do_bind(const KernelMetadata& row, const Binding& binding,
                 std::vector<Step>& steps) const override {
    ASSAY_TRY(const gemm::View view, gemm::view(binding.problem));
    ASSAY_TRY(const size_t a, position(binding.problem, "a"));
    ASSAY_TRY(const size_t b, position(binding.problem, "b"));
    ASSAY_TRY(const size_t out, position(binding.problem, "out"));
    steps.push_back(
        HostStep{&launch, std::make_shared<const Bound>(Bound{tile_of(row), view, a, b, out})});
    return {};
  }

  DesignSpace space_ = make_space();
};

}  // namespace

std::shared_ptr<const Family> make_f64_gemm_family() {
  return std::make_shared<const F64GemmFamily>();
}

}  // namespace byok
