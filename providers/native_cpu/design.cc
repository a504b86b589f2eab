#include "design.h"

#include <array>
#include <memory>
#include <utility>

#include "assay/op/gemm/epilogue.h"

namespace assay::native_cpu {
namespace {

struct Variant {
  Isa isa;
  Element in;
};
constexpr std::array kVariants = {
    Variant{Isa::avx2, Element::f32},         Variant{Isa::avx2, Element::bf16},
    Variant{Isa::avx512, Element::f32},       Variant{Isa::avx512, Element::bf16},
    Variant{Isa::avx512_bf16, Element::bf16}, Variant{Isa::avx2, Element::f16},
    Variant{Isa::avx512, Element::f16},       Variant{Isa::avx2, Element::s8},
    Variant{Isa::avx512, Element::s8},        Variant{Isa::avx512_vnni, Element::s8},
    Variant{Isa::amx, Element::bf16},         Variant{Isa::amx, Element::s8},
};

std::shared_ptr<const ProblemRule> rule_of(Algorithm algorithm, Variant variant) {
  ProblemRule rule;
  DType in = DType::f32;
  std::vector<DType> out = {DType::f32};
  switch (variant.in) {
    case Element::f32:
      break;
    case Element::bf16:
    case Element::f16:
      in = variant.in == Element::bf16 ? DType::bf16 : DType::f16;
      out.push_back(in);
      break;
    case Element::s8:
    case Element::s32:
      in = DType::s8;
      out = {DType::s32};
      break;
  }
  const Major b = reads_rows(algorithm)          ? Major::row
                  : algorithm == Algorithm::dots ? Major::column
                                                 : Major::any;
  rule.operands = {
      {.role = "a", .dtypes = {in}},
      {.role = "b", .dtypes = {in}, .major = b, .prepared = algorithm == Algorithm::panels},
      {.role = "c", .dtypes = out},
      {.role = "out", .dtypes = out}};
  if (in != DType::s8)
    rule.take_steps(gemm::Epilogue::names_without_gates(), gemm::Epilogue::operand_names(),
                    {DType::f32, DType::bf16, DType::f16});
  rule.accumulate = {in == DType::s8 ? DType::s32 : DType::f32};
  rule.scalars = true;
  rule.targets = {target_of(variant.isa, variant.in)};
  return std::make_shared<const ProblemRule>(std::move(rule));
}

// Tiles of the given widths, each as high as the registers allow: lower ones would only load b
// more often for every row of a.
DesignAxis tiles(Algorithm algorithm, Variant variant, std::initializer_list<int> widths) {
  std::vector<std::vector<Value>> choices;
  for (const int nv : widths) {
    const KernelFunctions functions =
        find_kernel({.isa = variant.isa, .algorithm = algorithm, .in = variant.in, .nv = nv});
    if (functions) choices.push_back({int64_t{functions.largest_mr}, int64_t{nv}});
  }
  return preset({"mr", "nv"}, std::move(choices));
}

struct Block {
  int64_t kc, nc, ahead;
};

DesignAxis blocks(const std::vector<Block>& list) {
  std::vector<std::vector<Value>> choices;
  for (const Block& block : list) choices.push_back({block.kc, block.nc, block.ahead});
  return preset({"kc", "nc", "ahead"}, std::move(choices));
}

// What came out first for some shape when far more was searched on a core of Zen 4 and one of
// Emerald Rapids, and, for machines that differ, neighbours. README.md says what decides between
// them.
std::vector<DesignAxis> axes_of(Algorithm algorithm, Variant variant) {
  // A step of a panel of b is 2 KiB, and the first cache has 48; rows of a, and blocks of b that
  // are packed on the way, fit the second. `nc` is for b that lies along its columns: memory gives
  // whole runs of a row sooner than one line of each.
  if (variant.isa == Isa::amx) {
    const bool ahead = algorithm == Algorithm::panels;
    return {tiles(algorithm, variant, {2}),
            ahead ? blocks({{0, 0, 0}, {0, 0, 1}, {0, 0, 4096}})
                  : blocks({{0, 0, 0}, {512, 0, 0}, {1024, 0, 0}, {256, 512, 0}, {512, 256, 0}}),
            axis("mc", {int64_t{256}, int64_t{512}})};
  }
  const bool wide = variant.isa != Isa::avx2;
  switch (algorithm) {
    case Algorithm::rows:
      if (!wide)
        return {tiles(algorithm, variant, {1, 2}),
                blocks({{8, 0, 0}, {8, 0, 1}, {8, 0, 512}, {32, 0, 1}, {64, 1024, 1}})};
      return {tiles(algorithm, variant, {1, 2, 4}),
              blocks({{2, 0, 1},     {8, 0, 0},  {8, 0, 1},     {8, 0, 512},   {8, 0, 1024},
                      {12, 0, 1},    {16, 0, 0}, {16, 0, 1},    {16, 0, 256},  {16, 0, 512},
                      {16, 0, 1024}, {32, 0, 0}, {32, 0, 1},    {32, 0, 256},  {32, 0, 1024},
                      {32, 1024, 1}, {64, 0, 1}, {64, 1024, 1}, {128, 512, 1}, {256, 256, 1}})};
    case Algorithm::kept:
      return {tiles(algorithm, variant, {2, 4}),
              blocks({{16, 0, 256}, {16, 0, 512}, {32, 0, 256}, {32, 0, 512}, {64, 0, 128}})};
    case Algorithm::dots:
      return {wide ? tiles(algorithm, variant, {3, 4, 6, 8}) : tiles(algorithm, variant, {2, 3, 4}),
              blocks({{0, 0, 0}, {0, 0, 1}, {512, 0, 0}, {1024, 0, 1}})};
    case Algorithm::blocked: {
      std::vector<Block> list = {
          {256, 384, 0}, {512, 96, 1}, {512, 192, 0}, {512, 192, 1}, {1024, 192, 1}};
      // All columns at once: rows of a are packed for one use, into one place. Of short problems.
      if (variant.isa == Isa::avx512 && variant.in == Element::f32)
        list.insert(list.end(), {{256, 192, 1}, {512, 0, 1}});
      return {tiles(algorithm, variant, {2, 3, 4}), blocks(list), axis("mc", {int64_t{512}})};
    }
    case Algorithm::panels:  // Asking ahead is for blocks of one tile: nc tells them apart.
      return {tiles(algorithm, variant, {2, 3, 4}),
              blocks({{0, 32, 0},
                      {0, 384, 0},
                      {256, 384, 0},
                      {512, 96, 0},
                      {1024, 96, 0},
                      {256, 1, 1},
                      {1024, 1, 1}}),
              axis("mc", {int64_t{512}})};
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
    case Isa::avx512_vnni:
      return "avx512_vnni";
    case Isa::amx:
      return "amx";
  }
  return "";
}

std::string_view to_string(Algorithm algorithm) {
  switch (algorithm) {
    case Algorithm::rows:
      return "rows";
    case Algorithm::kept:
      return "kept";
    case Algorithm::dots:
      return "dots";
    case Algorithm::blocked:
      return "blocked";
    case Algorithm::panels:
      return "panels";
  }
  return "";
}

Target target_of(Isa isa, Element in) {
  Target target{.arch = "x86_64", .features = {"avx2", "fma"}};
  if (in == Element::f16) target.features.insert("f16c");
  if (isa != Isa::avx2) target.features.insert({"avx512f", "avx512bw", "avx512dq", "avx512vl"});
  if (isa == Isa::avx512_bf16 || isa == Isa::avx512_vnni) target.features.emplace(to_string(isa));
  if (isa == Isa::amx)
    target.features.insert({"amx_tile", in == Element::s8 ? "amx_int8" : "amx_bf16"});
  return target;
}

bool reads_rows(Algorithm algorithm) {
  return algorithm == Algorithm::rows || algorithm == Algorithm::kept;
}

int64_t most_rows(Algorithm algorithm) {
  switch (algorithm) {
    case Algorithm::rows:
    case Algorithm::kept:
    case Algorithm::dots:
      return 128;  // Beyond it packing wins: by 1.7 at m 256 with n 512, k 2048, bf16.
    case Algorithm::blocked:
    case Algorithm::panels:
      break;
  }
  return INT64_MAX;
}

std::vector<DesignGroup> design_groups(Algorithm algorithm) {
  std::vector<DesignGroup> groups;
  for (const Variant variant : kVariants) {
    if (algorithm == Algorithm::kept && variant.isa == Isa::avx2) continue;  // Not built.
    if (variant.isa == Isa::amx && most_rows(algorithm) != INT64_MAX) continue;
    DesignGroup group;
    group.axes = axes_of(algorithm, variant);
    group.axes.insert(group.axes.begin(), axis("isa", {std::string(to_string(variant.isa))}));
    group.traits.rule = rule_of(algorithm, variant);
    group.traits.prepares = algorithm == Algorithm::panels;
    group.traits.name = std::string(to_string(algorithm)) + "_{isa}_{mr}x{nv}_k{kc}_n{nc}";
    if (algorithm != Algorithm::panels || variant.isa == Isa::amx)
      group.traits.name += "_ahead{ahead}";
    if (variant.isa == Isa::amx) group.traits.name += "_m{mc}";
    groups.push_back(std::move(group));
  }
  return groups;
}

Tiling tiling_of(const KernelMetadata& row, Algorithm algorithm, Element in) {
  const auto integer = [&](std::string_view name, int fallback) {
    return static_cast<int>(row.design.integer(name, fallback));
  };
  Tiling tiling;
  for (const Isa isa : {Isa::avx2, Isa::avx512, Isa::avx512_bf16, Isa::avx512_vnni, Isa::amx})
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
