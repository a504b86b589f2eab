// launch: the geometry of device code, as expressions.
#include <algorithm>

#include <fmt/ranges.h>

#include "assay/input/entry_reader.h"
#include "assay/input/forms.h"

namespace assay::input {

// One to three of them: x, y, z.
Result<std::vector<std::string>> EntryReader::extents(const YamlField& field) const {
  ASSAY_TRY(const auto items, expressions(field));
  if (items.empty() || items.size() > 3)
    return fail(field.error("is one to three extents, for example [ceil_div(n, 64), m]"));
  std::vector<std::string> texts;
  for (const auto& [item, value] : items) {
    ASSAY_TRY(texts.emplace_back(), size_expression(item, value, {}));
  }
  return texts;
}

// maps: {b: {box: [64, 128], swizzle: 128}}: how the copy engine sees operands that args calls
// map_b and the like.
Status EntryReader::read_maps(const YamlField& launch, KernelEntry::Launch& into) const {
  ASSAY_TRY(const auto maps, launch.find("maps"));
  if (!maps) return {};
  const Form& form = kernel_form(*words_).at("launch").at("maps");
  ASSAY_TRY(only(*maps, form));
  ASSAY_TRY(const auto members, maps->members());
  const auto bytes = [](const YamlField& map, const char* name,
                        std::initializer_list<int64_t> allowed) -> Result<int64_t> {
    ASSAY_TRY(const auto field, map.find(name));
    if (!field) return int64_t{0};
    ASSAY_TRY(const int64_t value, field->as_int64(0, kMostMapBytes));
    if (std::find(allowed.begin(), allowed.end(), value) != allowed.end()) return value;
    return fail(field->error(fmt::format("{} is not a number of bytes that a GPU knows; write {}",
                                         value, fmt::join(allowed, ", "))));
  };
  for (const auto& [role, map] : members) {
    // What compiles a function of grids alone says how a block lies in shared memory.
    if (launch_form_ == LaunchForm::geometry)
      ASSAY_TRY(only(map, form.at(role)));
    else
      ASSAY_TRY(only(map, form.at(role), {"swizzle", "promotion"}));
    KernelEntry::Launch::Map read{.role = role};
    ASSAY_TRY(const YamlField box, map.at("box"));
    ASSAY_TRY(read.box, extents(box));
    if (read.box.size() < 2)
      return fail(box.error("is two or three extents, innermost first, for example [64, 128]"));
    ASSAY_TRY(read.swizzle, bytes(map, "swizzle", {0, 32, 64, 128}));
    ASSAY_TRY(read.promotion, bytes(map, "promotion", {0, 64, 128, 256}));
    into.maps.push_back(std::move(read));
  }
  return {};
}

// Each map that args names is described, and each description used.
Status EntryReader::check_maps(const KernelEntry::Launch& launch) const {
  ASSAY_TRY(const YamlField args, field_.at("args"));
  std::vector<std::string> described;
  for (const auto& map : launch.maps) {
    described.push_back("map_" + map.role);
    if (!contains(entry_.args, described.back()))
      return fail(
          args.error(fmt::format("lacks '{}', which launch.maps describes", described.back())));
  }
  for (const std::string& name : entry_.args)
    if (name.starts_with("map_") &&
        find_argument(entry_, name)->kind == Argument::Kind::tensor_map &&
        !contains(described, name))
      return fail(args.error(fmt::format("has '{}', but launch.maps does not describe it", name)));
  return {};
}

Status EntryReader::read_launch() {
  const bool compiler_knows = launch_form_ == LaunchForm::grid;
  ASSAY_TRY(const auto found, field_.find("launch"));
  if (!found) {
    return fail(field_.error(
        fmt::format("there is no field launch; device code says how it is launched, for example "
                    "launch: {{grid: [ceil_div(n, 64), m]{}}}",
                    compiler_knows ? "" : ", block: [128]")));
  }
  const Form& form = kernel_form(*words_).at("launch");
  if (compiler_knows)
    ASSAY_TRY(only(*found, form, {"block", "cluster", "shared"}));
  else
    ASSAY_TRY(only(*found, form));
  KernelEntry::Launch launch;
  ASSAY_TRY(const YamlField grid, found->at("grid"));
  ASSAY_TRY(launch.grid, extents(grid));
  if (!compiler_knows) {
    ASSAY_TRY(const YamlField block, found->at("block"));
    ASSAY_TRY(launch.block, extents(block));
    ASSAY_TRY(const auto cluster, found->find("cluster"));
    if (cluster) {
      ASSAY_TRY(launch.cluster, extents(*cluster));
    }
    ASSAY_TRY(const auto shared, found->find("shared"));
    if (shared) {
      ASSAY_TRY(launch.shared_text, size_expression(*shared));
    }
  }
  ASSAY_TRY(const auto dependent, found->find("dependent"));
  if (dependent) {
    ASSAY_TRY(launch.dependent, dependent->as_bool());
  }
  ASSAY_TRY(read_maps(*found, launch));
  ASSAY_TRY(check_maps(launch));
  entry_.launch = std::move(launch);
  return {};
}

}  // namespace assay::input
