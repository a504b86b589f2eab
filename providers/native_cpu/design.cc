#include "design.h"

#include <array>
#include <memory>
#include <utility>

namespace assay::native_cpu {
namespace {

struct Variant {
  Isa isa;
  Element in;
};
constexpr std::array kVariants = {
    Variant{Isa::avx2, Element::f32},         Variant{Isa::avx2, Element::bf16},
    Variant{Isa::avx512, Element::f32},       Variant{Isa::avx512, Element::bf16},
    Variant{Isa::avx512_bf16, Element::bf16},
};

std::shared_ptr<const ProblemRule> rule_of(Algorithm algorithm, Variant variant) {
  ProblemRule rule;
  const DType in = variant.in == Element::f32 ? DType::f32 : DType::bf16;
  const std::vector<DType> out =
      variant.in == Element::f32 ? std::vector{DType::f32} : std::vector{DType::f32, DType::bf16};
  const Major b = algorithm == Algorithm::rows   ? Major::row
                  : algorithm == Algorithm::dots ? Major::column
                                                 : Major::any;
  rule.operands = {
      {.role = "a", .dtypes = {in}},
      {.role = "b", .dtypes = {in}, .major = b, .prepared = algorithm == Algorithm::panels},
      {.role = "c", .dtypes = out},
      {.role = "out", .dtypes = out}};
  rule.accumulate = {DType::f32};
  rule.scalars = true;
  rule.targets = {target_of(variant.isa)};
  return std::make_shared<const ProblemRule>(std::move(rule));
}

std::vector<Value> integers(std::initializer_list<int> list) {
  std::vector<Value> values;
  for (const int value : list) values.emplace_back(static_cast<int64_t>(value));
  return values;
}

// The axes hold what came out first for some shape when the whole space was searched on a Zen 4
// core; see README.md for how to search again.
std::vector<DesignAxis> axes_of(Algorithm algorithm, Variant variant) {
  const bool wide = variant.isa != Isa::avx2;
  switch (algorithm) {
    case Algorithm::rows:
      return {axis("mr", integers({8, 16})),
              axis("nv", wide ? integers({1, 2, 3, 4, 8}) : integers({1, 2, 4})),
              axis("kc", integers({1, 4, 8, 12})), axis("nc", integers({0})),
              axis("ahead", integers({0, 1}))};
    case Algorithm::dots:
      return {axis("mr", integers({4, 8})), axis("nv", integers({2, 3, 4, 6, 8})),
              axis("kc", integers({0, 512, 2048}))};
    case Algorithm::blocked:
    case Algorithm::panels:
      return {axis("mr", integers({8, 14})), axis("nv", integers({1, 2, 3, 4})),
              axis("kc", integers({128, 384, 768})), axis("nc", integers({64, 384})),
              axis("mc", integers({512}))};
  }
  return {};
}

}  // namespace

std::string_view to_string(Isa isa) {
  switch (isa) {
    case Isa::avx2:
      return "avx2";
    case Isa::avx512:
      return "avx512";
    case Isa::avx512_bf16:
      return "avx512_bf16";
  }
  return "";
}

std::string_view to_string(Algorithm algorithm) {
  switch (algorithm) {
    case Algorithm::rows:
      return "rows";
    case Algorithm::dots:
      return "dots";
    case Algorithm::blocked:
      return "blocked";
    case Algorithm::panels:
      return "panels";
  }
  return "";
}

Target target_of(Isa isa) {
  Target target{.arch = "x86_64", .features = {"avx2", "fma"}};
  if (isa != Isa::avx2) target.features.insert({"avx512f", "avx512bw", "avx512dq", "avx512vl"});
  if (isa == Isa::avx512_bf16) target.features.insert("avx512_bf16");
  return target;
}

int64_t most_rows(Algorithm algorithm) {
  return algorithm == Algorithm::rows || algorithm == Algorithm::dots ? 32 : INT64_MAX;
}

std::vector<DesignGroup> design_groups(Algorithm algorithm) {
  std::vector<DesignGroup> groups;
  for (const Variant variant : kVariants) {
    DesignGroup group;
    group.axes = axes_of(algorithm, variant);
    group.axes.insert(group.axes.begin(), axis("isa", {std::string(to_string(variant.isa))}));
    group.traits.rule = rule_of(algorithm, variant);
    group.traits.prepares = algorithm == Algorithm::panels;
    group.traits.name = std::string(to_string(algorithm));
    for (const DesignAxis& one : group.axes)
      for (const std::string& name : one.names)
        group.traits.name += (name == "isa" ? "_{" : "_" + name + "{") + name + "}";
    const Element in = variant.in;
    group.constraints = {[algorithm, in](const Design& design) {
      const Tiling tiling = tiling_of({KernelTraits{}, design}, algorithm, in);
      const KernelFunctions functions = find_kernel(tiling);
      // A tile that does not fit into the registers is the largest that does, under another name.
      return functions && (tiling.mr <= functions.largest_mr || tiling.mr == 8);
    }};
    groups.push_back(std::move(group));
  }
  return groups;
}

Tiling tiling_of(const KernelMetadata& row, Algorithm algorithm, Element in) {
  const auto integer = [&](std::string_view name, int fallback) {
    return static_cast<int>(row.design.integer(name, fallback));
  };
  Tiling tiling;
  for (const Isa isa : {Isa::avx2, Isa::avx512, Isa::avx512_bf16})
    if (row.design.text("isa", "") == to_string(isa)) tiling.isa = isa;
  tiling.algorithm = algorithm;
  tiling.in = in;
  tiling.mr = integer("mr", 1);
  tiling.nv = integer("nv", 1);
  tiling.kc = integer("kc", 0);
  tiling.nc = integer("nc", 0);
  tiling.mc = integer("mc", 0);
  tiling.ahead = integer("ahead", 0);
  return tiling;
}

}  // namespace assay::native_cpu
