#include "assay/op/user/problem.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include <fmt/format.h>

#include "assay/base/checked.h"
#include "assay/base/expression.h"
#include "assay/base/text.h"
#include "assay/op/field_reader.h"

namespace assay::user {
namespace {

using Kind = FieldRule::Kind;

constexpr int64_t kMaxSize = (int64_t{1} << 31) - 1;
constexpr int64_t kMaxElements = int64_t{1}
                                 << 33;  // Of an operand: the reference needs 8 bytes each.

std::string types_text(const std::vector<DType>& dtypes) {
  std::vector<std::string> names;
  for (const DType dtype : dtypes) names.emplace_back(to_string(dtype));
  return join(names, ", ");
}

bool takes(const DefinedOperand& operand, DType dtype) {
  return std::ranges::find(operand.dtypes, dtype) != operand.dtypes.end();
}

class Maker {
 public:
  Maker(const Definition& definition, const std::string& id, const Json& fields)
      : d_(definition), id_(id), rules_(field_rules(definition)), reader_(id, rules_, fields) {}

  Result<Problem> run() {
    ASSAY_TRY(reader_.check());
    json_ = Json::object();
    ASSAY_TRY(read_sizes());
    ASSAY_TRY(read_operands());
    ASSAY_TRY(read_constant());
    ASSAY_TRY(read_scalars());
    ASSAY_TRY(read_names());
    parts_.operation = id_;
    // Whose numbers are compared with whose: a definition of the same name is another operation.
    parts_.layout = id_.substr(0, id_.find(' '));
    parts_.fields = std::make_shared<const Json>(std::move(json_));
    return Problem::from_parts(std::move(parts_));
  }

 private:
  Status read_sizes() {
    for (const std::string& name : d_.dimensions) {
      int64_t size = 0;
      ASSAY_TRY(reader_.integer(name, size));
      if (size < 1 || size > kMaxSize)
        return fail(ErrorCode::invalid_input, "{}: {} is no size: 1 .. {}", name, size, kMaxSize);
      parts_.dimensions.emplace_back(name, size);
      json_[name] = size;
    }
    return {};
  }

  int64_t size_of(const std::string& dimension) const {
    for (const auto& [name, size] : parts_.dimensions)
      if (name == dimension) return size;
    return 0;
  }

  // Its own field, or dtype, or f32 if it may be, or its first.
  Result<DType> type_of(const DefinedOperand& operand, std::optional<DType> common) const {
    std::optional<DType> own;
    ASSAY_TRY(reader_.dtype(operand.role, own));
    const auto wrong = [&](std::string_view field, DType given) {
      return fail(ErrorCode::unsupported, "{}: {} is not what {} may be: {}", field,
                  to_string(given), operand.role, types_text(operand.dtypes));
    };
    if (own && !takes(operand, *own)) return wrong(operand.role, *own);
    if (own) return *own;
    if (common && takes(operand, *common)) return *common;
    if (common && operand.dtypes.size() > 1) return wrong("dtype", *common);
    return takes(operand, DType::f32) ? DType::f32 : operand.dtypes.front();
  }

  Status read_operands() {
    std::optional<DType> common;
    ASSAY_TRY(reader_.dtype("dtype", common));
    if (common && std::ranges::none_of(d_.operands, [&](const DefinedOperand& operand) {
          return takes(operand, *common);
        }))
      return fail(ErrorCode::unsupported, "dtype: no operand of {} may be {}", d_.name,
                  to_string(*common));
    for (const DefinedOperand& defined : d_.operands) {
      Operand& operand = parts_.operands.emplace_back();
      operand.role = defined.role;
      ASSAY_TRY(operand.dtype, type_of(defined, common));
      operand.access = defined.output ? Access::write : Access::read;
      int64_t elements = 1;
      operand.strides.resize(defined.dimensions.size());
      for (size_t i = defined.dimensions.size(); i-- > 0;) {
        const int64_t size = size_of(defined.dimensions[i]);
        operand.strides[i] = elements;
        const auto product = checked_mul(elements, size);
        if (!product || *product > kMaxElements)
          return fail(ErrorCode::invalid_input, "{}: {} would have more than 2^33 elements",
                      defined.dimensions[i], defined.role);
        elements = *product;
        operand.sizes.insert(operand.sizes.begin(), size);
      }
      operand.span_bytes = elements * size_bytes(operand.dtype);
      json_[defined.role] = to_string(operand.dtype);
    }
    return {};
  }

  Status read_constant() {
    std::vector<std::string> names;
    ASSAY_TRY(reader_.texts("constant", names));
    for (const std::string& name : names) {
      const auto found = std::ranges::find(parts_.operands, name, &Operand::role);
      if (found == parts_.operands.end() || found->access != Access::read)
        return fail(ErrorCode::invalid_input, "constant: '{}' is no input of {}",
                    sanitize(name, 40), d_.name);
      if (found->lifetime == Lifetime::constant)
        return fail(ErrorCode::invalid_input, "constant: {} is named twice", name);
      found->lifetime = Lifetime::constant;
    }
    if (std::ranges::none_of(parts_.operands, varies))
      return fail(ErrorCode::invalid_input,
                  "constant: every input is; one at least has to change from launch to launch");
    json_["constant"] = names;
    return {};
  }

  Status read_scalars() {
    for (const auto& [name, by_default] : d_.scalars) {
      double value = by_default;
      ASSAY_TRY(reader_.number(name, value));
      if (!std::isfinite(value)) return fail(ErrorCode::invalid_input, "{}: must be finite", name);
      parts_.attributes[name] = value;
      json_[name] = value;
    }
    return {};
  }

  Status read_names() {
    ASSAY_TRY(reader_.text("name", parts_.name));
    ASSAY_TRY(reader_.text("role", parts_.role));
    ASSAY_TRY(reader_.number("weight", parts_.weight));
    if (!std::isfinite(parts_.weight) || parts_.weight <= 0)
      return fail(ErrorCode::invalid_input, "weight: {} must be finite and above 0", parts_.weight);
    if (parts_.role.size() > 200 || sanitize(parts_.role) != parts_.role)
      return fail(ErrorCode::invalid_input, "role: '{}' must be one line of at most 200 characters",
                  sanitize(parts_.role, 60));
    if (parts_.name.empty()) {
      parts_.name = d_.name;
      for (const auto& [name, size] : parts_.dimensions)
        parts_.name += fmt::format("_{}{}", name, size);
    }
    if (!matches_name_rule(parts_.name))
      return fail(ErrorCode::invalid_input,
                  "name: '{}' must be letters, digits, '_', '.' or '-', at most 200 of them",
                  sanitize(parts_.name, 60));
    json_["name"] = parts_.name;
    if (!parts_.role.empty()) json_["role"] = parts_.role;
    if (parts_.weight != 1) json_["weight"] = parts_.weight;
    return {};
  }

  const Definition& d_;
  const std::string& id_;
  std::vector<FieldRule> rules_;
  FieldReader reader_;
  Problem::Parts parts_;
  Json json_;
};

}  // namespace

std::vector<FieldRule> field_rules(const Definition& definition) {
  std::vector<FieldRule> rules;
  for (const std::string& name : definition.dimensions)
    rules.push_back({name, Kind::integer, true, 1, kMaxSize, "a size, 1 .. 2^31-1"});
  rules.push_back({"dtype", Kind::dtype, false, 0, 0, "of all operands that may be of this type"});
  for (const DefinedOperand& operand : definition.operands)
    rules.push_back(
        {operand.role, Kind::dtype, false, 0, 0,
         fmt::format("element type of {}: {}", operand.role, types_text(operand.dtypes))});
  for (const auto& [name, value] : definition.scalars)
    rules.push_back({name, Kind::number, false, 0, 0, fmt::format("default {}", value)});
  rules.push_back({"constant", Kind::text_list, false, 0, 0,
                   "inputs that stay the same over many launches and may be prepared"});
  rules.push_back({"name", Kind::text, false, 0, 0, "for people and files: [A-Za-z0-9_.-]+"});
  rules.push_back({"role", Kind::text, false, 0, 0, "prefill, decode, attention ..."});
  rules.push_back({"weight", Kind::number, false, 0, 0, "how often a model calls it, default 1"});
  return rules;
}

OperationWords words_of(const Definition& definition) {
  OperationWords words;
  for (const DefinedOperand& operand : definition.operands)
    words.operands.push_back(
        {.role = operand.role, .dimensions = operand.dimensions, .output = operand.output});
  words.dimensions = definition.dimensions;
  for (const auto& [name, value] : definition.scalars) words.scalars.push_back({name, value});
  words.has_layouts = false;
  return words;
}

Result<Problem> problem_from_json(const Definition& definition, const std::string& id,
                                  const Json& fields) {
  return Maker(definition, id, fields).run();
}

size_t output_of(const Problem& problem) {
  const auto operands = problem.operands();
  const auto found = std::ranges::find_if(
      operands, [](const Operand& operand) { return operand.access != Access::read; });
  return static_cast<size_t>(found - operands.begin());
}

int64_t elements_of(const Operand& operand) {
  int64_t count = 1;
  for (const int64_t size : operand.sizes) count *= size;
  return count;
}

Tolerance tolerance_of(const Definition& definition, const Problem& problem) {
  const DType dtype = problem.operands()[output_of(problem)].dtype;
  auto found = definition.tolerances.find(std::string(to_string(dtype)));
  if (found == definition.tolerances.end()) found = definition.tolerances.find("");
  return found == definition.tolerances.end() ? Tolerance() : found->second;
}

double flops_of(const Definition& definition, const Problem& problem) {
  if (definition.flops.empty()) return 0;
  const auto expression = Expression::parse(definition.flops);
  if (!expression) return 0;
  const auto value = expression->evaluate([&](std::string_view name) -> std::optional<Value> {
    return Value(static_cast<double>(problem.dimension(name)));
  });
  if (!value) return 0;
  double flops = 0;
  if (const auto* real = std::get_if<double>(&*value)) flops = *real;
  if (const auto* whole = std::get_if<int64_t>(&*value)) flops = static_cast<double>(*whole);
  return std::isfinite(flops) && flops > 0 ? flops : 0;
}

}  // namespace assay::user
