// launch: the geometry of device code, as expressions.
#include "assay/input/entry_reader.h"

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

Status EntryReader::read_launch() {
  ASSAY_TRY(const auto found, field_.find("launch"));
  if (!found) {
    return fail(
        field_.error("there is no field launch; device code says how it is launched, for example "
                     "launch: {grid: [ceil_div(n, 64), m], block: [128]}"));
  }
  static const std::vector<std::string> kKnown = {"grid", "block", "cluster", "shared",
                                                  "dependent"};
  ASSAY_TRY(found->only(kKnown));
  KernelEntry::Launch launch;
  ASSAY_TRY(const YamlField grid, found->at("grid"));
  ASSAY_TRY(launch.grid, extents(grid));
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
  ASSAY_TRY(const auto dependent, found->find("dependent"));
  if (dependent) {
    ASSAY_TRY(launch.dependent, dependent->as_bool());
  }
  entry_.launch = std::move(launch);
  return {};
}

}  // namespace assay::input
