#include "assay/kernel/metadata.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <set>

#include "assay/base/hash.h"
#include "assay/base/json.h"
#include "assay/base/text.h"
#include "assay/kernel/metadata_identity.h"

namespace assay {
namespace {

constexpr std::string_view kShared[] = {"provider",      "family",           "name", "prepares",
                                        "deterministic", "dependent_launch", "error"};

void append(std::string& text, const Value& value) {
  if (const auto* string = std::get_if<std::string>(&value)) {
    text += *string;
  } else if (const auto* integer = std::get_if<int64_t>(&value)) {
    text += std::to_string(*integer);
  } else if (const auto* truth = std::get_if<bool>(&value)) {
    text += *truth ? "1" : "0";
  } else {
    text += fmt::format("{}", std::get<double>(value));
  }
}

Result<Value> read_value(const JsonField& field) {
  if (auto value = design_value(field.json())) return std::move(*value);
  if (field.json().is_number_integer()) {
    ASSAY_TRY(int64_t integer, field.as_int64());  // Says what is wrong with it.
    return integer;
  }
  return fail(field.error(ErrorCode::invalid_input, "must be a number, a text, true or false"));
}

// Objects lose their order, so it stands beside them where it is not alphabetical.
Result<Design> read_design(const JsonField& field, const std::optional<JsonField>& order) {
  std::vector<DesignAxis> axes;
  ASSAY_TRY(auto members, field.members());
  for (const auto& [name, member] : members) {
    if (name.empty()) return fail(member.error(ErrorCode::invalid_input, "has no name"));
    ASSAY_TRY(Value value, read_value(member));
    axes.push_back({{name}, {{std::move(value)}}});
  }
  if (order) {
    std::vector<DesignAxis> ordered;
    ASSAY_TRY(auto names, order->items());
    for (const JsonField& item : names) {
      ASSAY_TRY(std::string name, item.as_string());
      const auto found = std::find_if(axes.begin(), axes.end(), [&](const DesignAxis& axis) {
        return !axis.names.empty() && axis.names[0] == name;
      });
      if (found == axes.end()) {
        return fail(item.error(ErrorCode::invalid_input,
                               "names no attribute of the design, or one "
                               "that stands there already"));
      }
      ordered.push_back(std::move(*found));
      found->names.clear();
    }
    if (ordered.size() != axes.size()) {
      return fail(
          order->error(ErrorCode::invalid_input, "must name every attribute of the design"));
    }
    axes = std::move(ordered);
  }
  if (axes.empty()) return Design();
  return Design(std::make_shared<const DesignAxes>(std::move(axes)), 0);
}

Result<std::string> read_name(const JsonField& root, std::string_view key) {
  ASSAY_TRY(auto field, root.at(key));
  ASSAY_TRY(std::string text, field.as_string());
  if (text.empty()) return fail(field.error(ErrorCode::invalid_input, "must not be empty"));
  return text;
}

Status read_names(const JsonField& root, std::string_view key, std::vector<std::string>& names) {
  const auto list = root.find(key);
  if (!list) return {};
  ASSAY_TRY(const auto items, list->items());
  for (const JsonField& name : items) {
    ASSAY_TRY(names.emplace_back(), name.as_string());
  }
  return {};
}

Status read_truth(const JsonField& root, std::string_view key, bool& truth) {
  if (auto field = root.find(key)) {
    ASSAY_TRY(truth, field->as_bool());
  }
  return {};
}

}  // namespace

Json design_json(const Value& value) {
  return std::visit([](const auto& held) { return Json(held); }, value);
}

Json design_json(const Design& design) {
  Json json = Json::object();
  for (const auto& [name, value] : design) json[name] = design_json(value);
  return json;
}

std::optional<Value> design_value(const Json& json) {
  if (json.is_boolean()) return json.get<bool>();
  if (json.is_string()) return json.get<std::string>();
  if (json.is_number_float()) return json.get<double>();
  constexpr auto kMost = static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
  if (json.is_number_unsigned() && json.get<uint64_t>() > kMost) return std::nullopt;
  if (json.is_number_integer()) return json.get<int64_t>();
  return std::nullopt;
}

std::string KernelIds::id(const KernelMetadata& row) { return hash(row, design_json(row.design)); }

std::string KernelIds::artifact_id(const KernelMetadata& row) {
  Json design = design_json(row.design);
  for (const std::string& name : row.traits->launch_attributes) design.erase(name);
  return hash(row, design);
}

std::string KernelIds::hash(const KernelMetadata& row, const Json& design) {
  if (row.traits != traits_ || tail_.empty()) {
    traits_ = row.traits;
    Json shared = {{"family", row.family()},
                   {"provider", row.provider()},
                   {"rule", row.traits->rule ? row.rule().to_json() : Json()}};
    if (row.error_bound() != ErrorBound::elementwise)
      shared["error"] = to_string(row.error_bound());
    if (!row.traits->call.empty()) {
      shared["id_version"] = kVersionOfCalls;
      shared["call"] = row.traits->call;
    }
    // canonical() of all would be this object with "design" in front, keys being sorted.
    tail_ = "," + canonical(shared).substr(1);
  }
  Sha256 hash;
  hash.update(std::string_view("{\"design\":"));
  hash.update(canonical(design));
  hash.update(tail_);
  return hash.hex();
}

std::string KernelIds::id_of_version_1(const KernelMetadata& row) {
  if (row.traits->call.empty()) return id(row);
  KernelTraits silent = *row.traits;
  silent.call.clear();
  return KernelIds().id(KernelMetadata(std::move(silent), row.design));
}

std::string KernelMetadata::id() const { return KernelIds().id(*this); }
bool KernelMetadata::has_any_id(std::span<const std::string> ids) const {
  const auto is_one = [&](const std::string& id) {
    return std::ranges::find(ids, id) != ids.end();
  };
  return is_one(id()) || (!traits->call.empty() && is_one(KernelIds().id_of_version_1(*this)));
}
std::string KernelMetadata::artifact_id() const { return KernelIds().artifact_id(*this); }

std::string KernelMetadata::name() const {
  const std::string& pattern = traits->name;
  size_t open = pattern.find('{');
  if (open == std::string::npos) return pattern;
  std::string text;
  size_t done = 0;
  while (open != std::string::npos) {
    const size_t close = pattern.find('}', open);
    if (close == std::string::npos) break;
    const Value* value = design.find(std::string_view(pattern).substr(open + 1, close - open - 1));
    text.append(pattern, done, open - done);
    if (value) {
      append(text, *value);
      done = close + 1;
    } else {
      text += '{';  // Not an attribute: stays as it is.
      done = open + 1;
    }
    open = pattern.find('{', done);
  }
  return text.append(pattern, done);
}

std::optional<Value> KernelMetadata::lookup(std::string_view attribute) const {
  if (attribute == "provider") return provider();
  if (attribute == "family") return family();
  if (attribute == "name") return name();
  if (attribute == "prepares") return prepares();
  if (attribute == "deterministic") return deterministic();
  if (attribute == "dependent_launch") return dependent_launch();
  if (attribute == "error") return std::string(to_string(error_bound()));
  if (const Value* value = design.find(attribute)) return *value;
  const OperandRule* operand = traits->rule ? rule().find_operand(attribute) : nullptr;
  if (!operand) return std::nullopt;
  std::string dtypes;
  for (DType dtype : operand->dtypes) {
    if (!dtypes.empty()) dtypes += '|';
    dtypes += to_string(dtype);
  }
  return dtypes;
}

bool KernelMetadata::is_shared_attribute(std::string_view attribute) {
  return std::find(std::begin(kShared), std::end(kShared), attribute) != std::end(kShared);
}

std::vector<std::string> KernelMetadata::attribute_names() const {
  std::set<std::string> names(std::begin(kShared), std::end(kShared));
  for (const auto& [name, value] : design) names.insert(name);
  if (traits->rule) {
    for (const OperandRule& operand : rule().operands) names.insert(operand.role);
  }
  return {names.begin(), names.end()};
}

Json KernelMetadata::shared_json() const {
  Json json = {{"provider", provider()},
               {"family", family()},
               {"rule", traits->rule ? rule().to_json() : Json()},
               {"specialised_on", specialised_on()},
               {"deterministic", deterministic()},
               {"prepares", prepares()},
               {"dependent_launch", dependent_launch()}};
  if (error_bound() != ErrorBound::elementwise) json["error"] = to_string(error_bound());
  if (compile_seconds() > 0) json["compile_seconds"] = compile_seconds();
  if (!traits->launch_attributes.empty()) json["launch_attributes"] = traits->launch_attributes;
  if (!traits->call.empty()) {
    json["id_version"] = kVersionOfCalls;
    json["call"] = Json::parse(traits->call);
  }
  return json;
}

Json KernelMetadata::own_json(const std::string& id) const {
  Json json = {{"id", id}, {"name", name()}, {"design", design_json(design)}};
  Json order = Json::array();
  for (const auto& [name, value] : design) order.push_back(name);
  if (!std::is_sorted(order.begin(), order.end())) json["design_order"] = std::move(order);
  return json;
}

Json KernelMetadata::to_json() const {
  Json json = shared_json();
  json.update(own_json(id()));
  return json;
}

Result<std::shared_ptr<const KernelTraits>> KernelMetadata::read_traits(const JsonField& root) {
  ASSAY_TRY(root.expect_object());
  KernelTraits traits;
  ASSAY_TRY(traits.provider, read_name(root, "provider"));
  ASSAY_TRY(traits.family, read_name(root, "family"));
  ASSAY_TRY(traits.name, read_name(root, "name"));
  ASSAY_TRY(auto rule_field, root.at("rule"));
  auto rule = ProblemRule::from_json(rule_field.json());
  if (!rule) return fail(with_context(std::move(rule.error()), "kernel metadata"));
  traits.rule = std::make_shared<const ProblemRule>(std::move(*rule));
  ASSAY_TRY(read_names(root, "specialised_on", traits.specialised_on));
  ASSAY_TRY(read_names(root, "launch_attributes", traits.launch_attributes));
  ASSAY_TRY(read_truth(root, "deterministic", traits.deterministic));
  ASSAY_TRY(read_truth(root, "prepares", traits.prepares));
  ASSAY_TRY(read_truth(root, "dependent_launch", traits.dependent_launch));
  if (auto bound = root.find("error")) {
    ASSAY_TRY(const std::string text, bound->as_string());
    auto parsed = parse_error_bound(text);
    if (!parsed) return fail(bound->error(ErrorCode::invalid_input, parsed.error().message));
    traits.error_bound = *parsed;
  }
  if (const auto version = root.find("id_version")) {
    ASSAY_TRY(version->as_int64(kVersionOfCalls, kVersionOfCalls).map([](int64_t) {}));
    ASSAY_TRY(const JsonField call, root.at("call"));
    traits.call = canonical(call.json());
  }
  if (auto seconds = root.find("compile_seconds")) {
    ASSAY_TRY(traits.compile_seconds, seconds->as_double(0));
  }
  return std::make_shared<const KernelTraits>(std::move(traits));
}

Result<KernelMetadata> KernelMetadata::from_json(const Json& json) {
  JsonDocument document;
  document.root = json;
  document.origin = "kernel metadata";
  const JsonField root(document);
  ASSAY_TRY(auto traits, read_traits(root));
  ASSAY_TRY(auto design_field, root.at("design"));
  ASSAY_TRY(Design design, read_design(design_field, root.find("design_order")));
  KernelMetadata metadata(std::move(traits), std::move(design));
  if (auto id = root.find("id")) {
    ASSAY_TRY(std::string stored, id->as_string());
    if (stored != metadata.id()) {
      return fail(id->error(
          ErrorCode::invalid_input,
          "is not the hash of this provider, family, rule, design, error bound and call"));
    }
  }
  return metadata;
}

}  // namespace assay
