#include "assay/kernel/metadata_table.h"

#include "assay/base/json.h"
#include "assay/kernel/metadata_identity.h"

namespace assay {
namespace {

bool same_columns(const Design& one, const Design& other) {
  if (one.axes() == other.axes()) return true;
  if (one.size() != other.size()) return false;
  for (size_t i = 0; i < one.size(); ++i)
    if (one[i].first != other[i].first) return false;
  return true;
}

Result<std::shared_ptr<const DesignAxes>> read_axes(const JsonField& block) {
  DesignAxis axis;
  ASSAY_TRY(const JsonField columns, block.at("columns"));
  ASSAY_TRY(const auto names, columns.items());
  for (const JsonField& name : names) {
    ASSAY_TRY(axis.names.emplace_back(), name.as_string());
  }
  ASSAY_TRY(const JsonField rows, block.at("rows"));
  if (!rows.json().is_array()) return fail(rows.error(ErrorCode::invalid_input, "must be a list"));
  // Rows without attributes are all alike, and need no axes.
  if (axis.names.empty()) return std::shared_ptr<const DesignAxes>();
  axis.choices.reserve(rows.json().size());
  for (const Json& row : rows.json()) {
    if (!row.is_array() || row.size() != axis.names.size())
      return fail(rows.error(ErrorCode::invalid_input, "must hold one value for each column"));
    std::vector<Value>& values = axis.choices.emplace_back();
    for (const Json& json : row) {
      auto value = design_value(json);
      if (!value)
        return fail(
            rows.error(ErrorCode::invalid_input, "must hold numbers, texts, true and false alone"));
      values.push_back(std::move(*value));
    }
  }
  std::vector<DesignAxis> axes;
  axes.push_back(std::move(axis));
  auto made = std::make_shared<const DesignAxes>(std::move(axes));
  if (!made->valid())
    return fail(columns.error(ErrorCode::invalid_input, "must be names that differ"));
  return made;
}

}  // namespace

Json table_json(std::span<const KernelMetadata> rows) {
  Json table = Json::array();
  const KernelMetadata* before = nullptr;
  for (const KernelMetadata& row : rows) {
    if (before == nullptr || before->traits != row.traits ||
        !same_columns(before->design, row.design)) {
      Json columns = Json::array();
      for (const auto& [name, value] : row.design) columns.push_back(name);
      table.push_back({{"shared", row.shared_json()},
                       {"columns", std::move(columns)},
                       {"rows", Json::array()}});
      table.back()["shared"]["name"] = row.traits->name;
    }
    before = &row;
    Json values = Json::array();
    for (const auto& [name, value] : row.design) values.push_back(design_json(value));
    table.back()["rows"].push_back(std::move(values));
  }
  return table;
}

Status read_table(const Json& table,
                  const std::function<Status(const Json& block, KernelMetadata row)>& take) {
  JsonDocument document;
  document.root = Json::object();
  document.origin = "kernels";
  if (!table.is_array()) return fail(ErrorCode::invalid_input, "kernels: must be a list");
  for (const Json& block : table) {
    document.root = block;
    const JsonField root(document);
    ASSAY_TRY(root.expect_object());
    ASSAY_TRY(const JsonField shared, root.at("shared"));
    ASSAY_TRY(const auto traits, KernelMetadata::read_traits(shared));
    ASSAY_TRY(const auto axes, read_axes(root));
    const size_t rows = block["rows"].size();
    for (size_t i = 0; i < rows; ++i)
      ASSAY_TRY(take(block, KernelMetadata(traits, axes ? Design(axes, i) : Design())));
  }
  return {};
}

}  // namespace assay
