#include <algorithm>
#include <cmath>
#include <memory>

#include <fmt/format.h>

#include "assay/base/checked.h"
#include "assay/base/text.h"
#include "assay/op/field_reader.h"
#include "assay/op/rmsnorm/description.h"

namespace assay::rmsnorm {
namespace {

using Kind = FieldRule::Kind;

constexpr int64_t kMaxSize = (int64_t{1} << 31) - 1;
constexpr int64_t kMaxBytes = int64_t{1} << 46;  // All operands together.
// Beyond this a root is the largest that f16 holds; below, the square of no float is.
constexpr double kLeastEpsilon = 1e-30, kMostEpsilon = 1;

Status check_dtype(std::string_view field, DType dtype) {
  if (info(dtype).supported && info(dtype).floating) return {};
  return fail(ErrorCode::unsupported, "{}: {} cannot be normalised: use f64, f32, f16 or bf16",
              field, to_string(dtype));
}

struct Types {
  DType x, w, out, accumulate;
  std::optional<DType> residual;
};

Result<Types> types_of(const Shape& shape) {
  Types types{};
  types.x = shape.x.value_or(shape.dtype);
  types.w = shape.w.value_or(shape.dtype);
  types.out = shape.out.value_or(shape.dtype);
  types.residual = shape.residual;
  const bool wide = types.x == DType::f64 || types.w == DType::f64 || types.residual == DType::f64;
  types.accumulate = shape.accumulate.value_or(wide ? DType::f64 : DType::f32);
  ASSAY_TRY(check_dtype("x", types.x));
  ASSAY_TRY(check_dtype("w", types.w));
  ASSAY_TRY(check_dtype("out", types.out));
  if (types.residual) ASSAY_TRY(check_dtype("residual", *types.residual));
  if (types.accumulate != DType::f64 && (types.accumulate != DType::f32 || wide))
    return fail(
        ErrorCode::unsupported, "accumulate: {} with x of {}, w of {}{}: use {}",
        to_string(types.accumulate), to_string(types.x), to_string(types.w),
        types.residual ? fmt::format(" and residual of {}", to_string(*types.residual)) : "",
        wide ? "f64" : "f32 or f64");
  return types;
}

Result<Operand> rows(std::string_view role, DType dtype, const Shape& shape,
                     const std::optional<int64_t>& leading, Access access) {
  const int64_t stride = leading.value_or(shape.n);
  if (stride < shape.n)
    return fail(ErrorCode::invalid_input, "ld{}: {} is below n = {}, the length of a row", role,
                stride, shape.n);
  Operand operand;
  operand.role = role;
  operand.dtype = dtype;
  operand.sizes = {shape.m, shape.n};
  operand.strides = {stride, 1};
  operand.access = access;
  const auto above = checked_mul(shape.m - 1, stride);
  const auto elements = above ? checked_add(*above, shape.n) : std::nullopt;
  const auto bytes = elements ? checked_mul(*elements, size_bytes(dtype)) : std::nullopt;
  if (!bytes || *bytes > kMaxBytes)
    return fail(ErrorCode::invalid_input,
                "m: {} rows of {} elements of {} are more than 2^46 bytes", shape.m, stride,
                to_string(dtype));
  operand.span_bytes = *bytes;
  return operand;
}

Status mark_constant(const std::vector<std::string>& names, Operand& w) {
  for (const std::string& name : names) {
    if (name != "w")
      return fail(ErrorCode::invalid_input,
                  "constant: '{}' cannot be: only the weights, w, are the same at every launch",
                  sanitize(name, 40));
    if (w.lifetime == Lifetime::constant)
      return fail(ErrorCode::invalid_input, "constant: w is named twice");
    w.lifetime = Lifetime::constant;
  }
  return {};
}

Result<std::string> name_of(const Shape& shape) {
  if (!shape.name.empty()) {
    if (matches_name_rule(shape.name)) return shape.name;
    return fail(ErrorCode::invalid_input,
                "name: '{}' must be letters, digits, '_', '.' or '-', at most 200 of them",
                sanitize(shape.name, 60));
  }
  std::string stem = shape.role.empty() ? "rmsnorm" : shape.role.substr(0, 100);
  for (char& letter : stem)
    if (!matches_name_rule(std::string_view(&letter, 1)) && letter != '.') letter = '_';
  return fmt::format("{}_m{}_n{}", stem, shape.m, shape.n);
}

Status check(const Shape& shape) {
  for (const auto& [field, size] : {std::pair{"m", shape.m}, {"n", shape.n}})
    if (size < 1 || size > kMaxSize)
      return fail(ErrorCode::invalid_input, "{}: {} is no size: 1 .. {}", field, size, kMaxSize);
  if (!(shape.epsilon >= kLeastEpsilon && shape.epsilon <= kMostEpsilon))
    return fail(ErrorCode::invalid_input, "epsilon: {} is out of range: {:g} .. {:g}",
                shape.epsilon, kLeastEpsilon, kMostEpsilon);
  if (!std::isfinite(shape.weight) || shape.weight <= 0)
    return fail(ErrorCode::invalid_input, "weight: {} must be finite and above 0", shape.weight);
  if (shape.role.size() > 200 || sanitize(shape.role) != shape.role)
    return fail(ErrorCode::invalid_input, "role: '{}' must be one line of at most 200 characters",
                sanitize(shape.role, 60));
  return {};
}

Json fields_of(const Shape& shape, const Types& types, const std::string& name) {
  Json json = {{"name", name},
               {"m", shape.m},
               {"n", shape.n},
               {"x", to_string(types.x)},
               {"w", to_string(types.w)},
               {"out", to_string(types.out)},
               {"accumulate", to_string(types.accumulate)},
               {"epsilon", shape.epsilon},
               {"constant", shape.constant}};
  if (!shape.role.empty()) json["role"] = shape.role;
  if (shape.weight != 1) json["weight"] = shape.weight;
  if (shape.ldx.value_or(shape.n) != shape.n) json["ldx"] = *shape.ldx;
  if (shape.ldout.value_or(shape.n) != shape.n) json["ldout"] = *shape.ldout;
  if (!types.residual) return json;
  json["residual"] = to_string(*types.residual);
  if (shape.ldresidual.value_or(shape.n) != shape.n) json["ldresidual"] = *shape.ldresidual;
  return json;
}

}  // namespace

std::span<const FieldRule> field_rules() {
  static const std::vector<FieldRule> kRules = {
      {"m", Kind::integer, true, 1, kMaxSize, "rows of x and out, 1 .. 2^31-1"},
      {"n", Kind::integer, true, 1, kMaxSize, "columns: elements of a row, and of w, 1 .. 2^31-1"},
      {"dtype", Kind::dtype, false, 0, 0, "of x, w and out where they are not given, default f32"},
      {"x", Kind::dtype, false, 0, 0, "element type of x"},
      {"w", Kind::dtype, false, 0, 0, "element type of w"},
      {"out", Kind::dtype, false, 0, 0, "element type of out"},
      {"residual", Kind::dtype, false, 0, 0,
       "element type of residual, which is added to x and holds that sum afterwards; not given: "
       "there is none"},
      {"accumulate", Kind::dtype, false, 0, 0,
       "type of the sum of squares and of the root; default f64 with f64 operands, else f32"},
      {"epsilon", Kind::number, false, 0, 0, "added to the mean of squares, default 1e-6"},
      {"constant", Kind::text_list, false, 0, 0,
       "inputs that stay the same over many launches (weights) and may be prepared: w"},
      {"ldx", Kind::integer, false, 1, kMaxBytes, "elements between rows of x, default n"},
      {"ldout", Kind::integer, false, 1, kMaxBytes, "elements between rows of out, default n"},
      {"ldresidual", Kind::integer, false, 1, kMaxBytes,
       "elements between rows of residual, default n"},
      {"name", Kind::text, false, 0, 0, "for people and files: [A-Za-z0-9_.-]+, made from sizes"},
      {"role", Kind::text, false, 0, 0, "prefill, decode, attention ..."},
      {"weight", Kind::number, false, 0, 0, "how often a model calls it, default 1"},
  };
  return kRules;
}

Result<Problem> problem_from_json(const Json& fields) {
  const FieldReader reader("rmsnorm", field_rules(), fields);
  ASSAY_TRY(reader.check());
  Shape shape;
  std::optional<DType> dtype;
  ASSAY_TRY(reader.integer("m", shape.m));
  ASSAY_TRY(reader.integer("n", shape.n));
  ASSAY_TRY(reader.dtype("x", shape.x));
  ASSAY_TRY(reader.dtype("w", shape.w));
  ASSAY_TRY(reader.dtype("out", shape.out));
  ASSAY_TRY(reader.dtype("residual", shape.residual));
  ASSAY_TRY(reader.dtype("accumulate", shape.accumulate));
  dtype = shape.x;  // What nobody mentions is of x's type.
  ASSAY_TRY(reader.dtype("dtype", dtype));
  shape.dtype = dtype.value_or(shape.dtype);
  ASSAY_TRY(reader.number("epsilon", shape.epsilon));
  ASSAY_TRY(reader.texts("constant", shape.constant));
  ASSAY_TRY(reader.integer("ldx", shape.ldx));
  ASSAY_TRY(reader.integer("ldout", shape.ldout));
  ASSAY_TRY(reader.integer("ldresidual", shape.ldresidual));
  ASSAY_TRY(reader.text("name", shape.name));
  ASSAY_TRY(reader.text("role", shape.role));
  ASSAY_TRY(reader.number("weight", shape.weight));
  return problem(shape);
}

Result<Problem> problem(const Shape& shape) {
  ASSAY_TRY(check(shape));
  ASSAY_TRY(const Types types, types_of(shape));
  Problem::Parts parts;
  ASSAY_TRY(parts.name, name_of(shape));
  ASSAY_TRY(Operand x, rows("x", types.x, shape, shape.ldx, Access::read));
  ASSAY_TRY(Operand out, rows("out", types.out, shape, shape.ldout, Access::write));
  Operand w;
  w.role = "w";
  w.dtype = types.w;
  w.sizes = {shape.n};
  w.strides = {1};
  w.span_bytes = shape.n * size_bytes(types.w);
  ASSAY_TRY(mark_constant(shape.constant, w));
  parts.operands = {std::move(x), std::move(w), std::move(out)};
  if (types.residual) {
    ASSAY_TRY(Operand residual,
              rows("residual", *types.residual, shape, shape.ldresidual, Access::read_write));
    parts.operands.push_back(std::move(residual));
  } else if (shape.ldresidual) {
    return fail(ErrorCode::invalid_input, "ldresidual: there is no residual: give its type");
  }
  int64_t total = 0;
  for (const Operand& operand : parts.operands) total += operand.span_bytes;
  if (total > kMaxBytes)
    return fail(ErrorCode::invalid_input,
                "m: the operands span {} together, more than 2^46 bytes: make m or n smaller",
                format_bytes(static_cast<double>(total)));
  parts.operation = "rmsnorm";
  parts.role = shape.role;
  parts.weight = shape.weight;
  parts.dimensions = {{"m", shape.m}, {"n", shape.n}};
  parts.attributes = {{"accumulate", std::string(to_string(types.accumulate))},
                      {"epsilon", shape.epsilon}};
  parts.fields = std::make_shared<const Json>(fields_of(shape, types, parts.name));
  return Problem::from_parts(std::move(parts));
}

Result<View> view(const Problem& problem) {
  if (problem.operation() != "rmsnorm")
    return fail(ErrorCode::invalid_input, "{}: its operation is {}, not rmsnorm", problem.name(),
                problem.operation());
  const auto operands = problem.operands();
  const auto& attributes = problem.attributes();
  const auto accumulate = attributes.find("accumulate"), epsilon = attributes.find("epsilon");
  const auto* type =
      accumulate == attributes.end() ? nullptr : std::get_if<std::string>(&accumulate->second);
  const auto* added = epsilon == attributes.end() ? nullptr : std::get_if<double>(&epsilon->second);
  const auto known = type == nullptr ? std::nullopt : find_dtype(*type);
  const bool adds = operands.size() == kResidual + 1;
  if ((operands.size() != kResidual && !adds) || !known || added == nullptr)
    return fail(ErrorCode::internal, "{}: an rmsnorm without its operands and attributes",
                problem.name());
  View view{};
  view.m = problem.dimension("m");
  view.n = problem.dimension("n");
  view.x_m = operands[kX].strides[0];
  view.out_m = operands[kOut].strides[0];
  view.x = operands[kX].dtype;
  view.w = operands[kW].dtype;
  view.out = operands[kOut].dtype;
  view.accumulate = *known;
  view.epsilon = *added;
  view.adds = adds;
  if (!adds) return view;
  view.residual = operands[kResidual].dtype;
  view.residual_m = operands[kResidual].strides[0];
  return view;
}

}  // namespace assay::rmsnorm
