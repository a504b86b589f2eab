#include "assay/kernel/metadata_table.h"

#include <algorithm>
#include <map>
#include <utility>

#include "assay/base/json.h"
#include "assay/kernel/metadata_identity.h"

namespace assay {
namespace {

// Designs with the same attributes, each once: rows of many rules have the same ones.
class DesignPool {
 public:
  DesignPool(const Design& design, size_t block) : block_(block) {
    for (const auto& [name, value] : design) names_.push_back(name);
  }

  size_t block() const { return block_; }  // The first that has them.
  const std::vector<std::string>& names() const { return names_; }

  bool fits(const Design& design) const {
    if (design.size() != names_.size()) return false;
    for (size_t i = 0; i < names_.size(); ++i)
      if (design[i].first != names_[i]) return false;
    return true;
  }

  // Its number; a new one's values are appended to `designs`.
  size_t number(const Design& design, Json& designs) {
    const auto [at, is_new] =
        numbers_.try_emplace({design.axes().get(), design.row()}, numbers_.size());
    if (is_new) {
      Json values = Json::array();
      for (const auto& [name, value] : design) values.push_back(design_json(value));
      designs.push_back(std::move(values));
    }
    return at->second;
  }

 private:
  size_t block_;
  std::vector<std::string> names_;
  std::map<std::pair<const DesignAxes*, uint64_t>, size_t> numbers_;
};

class TableWriter {
 public:
  void add(const KernelMetadata& row) {
    if (before_ == nullptr || before_->traits != row.traits ||
        before_->design.axes() != row.design.axes()) {
      const size_t pool = pool_of(row.design);
      if (before_ == nullptr || before_->traits != row.traits || pool != pool_) begin(row, pool);
    }
    before_ = &row;
    Json& block = table_.back();
    block["rows"].push_back(pools_[pool_].number(row.design, block["designs"]));
  }

  Json take() { return std::move(table_); }

 private:
  size_t pool_of(const Design& design) {
    const auto found =
        std::ranges::find_if(pools_, [&](const DesignPool& pool) { return pool.fits(design); });
    const auto index = static_cast<size_t>(found - pools_.begin());
    if (index == pools_.size()) pools_.emplace_back(design, table_.size());
    return index;
  }

  void begin(const KernelMetadata& row, size_t pool) {
    pool_ = pool;
    Json block = {
        {"shared", row.shared_json()}, {"designs", Json::array()}, {"rows", Json::array()}};
    block["shared"]["name"] = row.traits->name;
    if (pools_[pool].block() == table_.size())
      block["columns"] = pools_[pool].names();
    else
      block["like"] = pools_[pool].block();
    table_.push_back(std::move(block));
  }

  Json table_ = Json::array();
  std::vector<DesignPool> pools_;
  size_t pool_ = 0;
  const KernelMetadata* before_ = nullptr;
};

// The designs of all blocks that have the same columns, while they are gathered.
struct Gathered {
  DesignAxis axis;
  size_t designs = 0;
  std::shared_ptr<const DesignAxes> axes;  // Null where there are no attributes: all are alike.
};

Status gather(const JsonField& block, Gathered& into) {
  ASSAY_TRY(const JsonField designs, block.at("designs"));
  if (!designs.json().is_array())
    return fail(designs.error(ErrorCode::invalid_input, "must be a list"));
  into.designs += designs.json().size();
  for (const Json& design : designs.json()) {
    if (!design.is_array() || design.size() != into.axis.names.size())
      return fail(designs.error(ErrorCode::invalid_input, "must hold one value for each column"));
    if (into.axis.names.empty()) continue;
    std::vector<Value>& values = into.axis.choices.emplace_back();
    values.reserve(design.size());
    for (const Json& json : design) {
      auto value = design_value(json);
      if (!value)
        return fail(designs.error(ErrorCode::invalid_input,
                                  "must hold numbers, texts, true and false alone"));
      values.push_back(std::move(*value));
    }
  }
  return {};
}

Status finish(const JsonField& block, Gathered& gathered) {
  if (gathered.axis.names.empty()) return {};
  std::vector<DesignAxis> axes;
  axes.push_back(std::move(gathered.axis));
  auto made = std::make_shared<const DesignAxes>(std::move(axes));
  if (gathered.designs > 0 && !made->valid()) {
    ASSAY_TRY(const JsonField columns, block.at("columns"));
    return fail(columns.error(ErrorCode::invalid_input, "must be names that differ"));
  }
  gathered.axes = std::move(made);
  return {};
}

// Of a block that begins columns, or is like an earlier one: where that one stands.
Result<size_t> first_like(const JsonField& block, size_t index,
                          std::map<size_t, Gathered>& gathered) {
  const auto like = block.find("like");
  if (like) {
    ASSAY_TRY(const int64_t number, like->as_int64(0));
    if (!gathered.contains(static_cast<size_t>(number)))
      return fail(like->error(ErrorCode::invalid_input, "names no block with columns before it"));
    return static_cast<size_t>(number);
  }
  ASSAY_TRY(const JsonField columns, block.at("columns"));
  ASSAY_TRY(const auto names, columns.items());
  Gathered& made = gathered[index];
  for (const JsonField& name : names) {
    ASSAY_TRY(made.axis.names.emplace_back(), name.as_string());
  }
  return index;
}

}  // namespace

Json table_json(std::span<const KernelMetadata> rows) {
  TableWriter writer;
  for (const KernelMetadata& row : rows) writer.add(row);
  return writer.take();
}

Status read_table(const Json& table,
                  const std::function<Status(const Json& block, KernelMetadata row)>& take) {
  if (!table.is_array()) return fail(ErrorCode::invalid_input, "kernels: must be a list");
  JsonDocument document;
  document.origin = "kernels";
  const auto field_of = [&](const Json& block) {
    document.root = block;
    return JsonField(document);
  };
  std::map<size_t, Gathered> gathered;
  std::vector<size_t> likes;
  for (const Json& block : table) {
    const JsonField root = field_of(block);
    ASSAY_TRY(root.expect_object());
    ASSAY_TRY(const size_t like, first_like(root, likes.size(), gathered));
    ASSAY_TRY(gather(root, gathered.at(like)));
    likes.push_back(like);
  }
  for (auto& [index, designs] : gathered) ASSAY_TRY(finish(field_of(table[index]), designs));
  for (size_t i = 0; i < likes.size(); ++i) {
    const Json& block = table[i];
    const JsonField root = field_of(block);
    const Gathered& designs = gathered.at(likes[i]);
    ASSAY_TRY(const JsonField shared, root.at("shared"));
    ASSAY_TRY(const auto traits, KernelMetadata::read_traits(shared));
    ASSAY_TRY(const JsonField rows, root.at("rows"));
    if (!rows.json().is_array())
      return fail(rows.error(ErrorCode::invalid_input, "must be a list"));
    for (const Json& row : block["rows"]) {
      if (!row.is_number_unsigned() || row.get<uint64_t>() >= designs.designs)
        return fail(rows.error(ErrorCode::invalid_input, "must be numbers of designs"));
      ASSAY_TRY(take(
          block, KernelMetadata(
                     traits, designs.axes ? Design(designs.axes, row.get<uint64_t>()) : Design())));
    }
  }
  return {};
}

}  // namespace assay
