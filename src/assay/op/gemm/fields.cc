#include <algorithm>
#include <optional>

#include "assay/base/json.h"
#include "assay/base/text.h"
#include "assay/op/gemm/description.h"
#include "assay/op/gemm/epilogue.h"

namespace assay::gemm {
namespace {

using FieldKind = FieldRule::Kind;

// Written by to_json() where layout and leading dimensions do not say enough; not for users.
constexpr std::string_view kInternalFields[] = {"operation", "strides", "alignment"};

const std::vector<FieldRule>& rules() {
  static const std::vector<FieldRule> kRules = {
      {"m", FieldKind::integer, true, 1, kMaxSize, "rows of a and out, 1 .. 2^31-1"},
      {"n", FieldKind::integer, true, 1, kMaxSize, "columns of b and out, 1 .. 2^31-1"},
      {"k", FieldKind::integer, true, 1, kMaxSize,
       "columns of a, rows of b: summed over, 1 .. 2^31-1"},
      {"batch", FieldKind::integer, false, 1, kMaxSize, "how many products at once (L), default 1"},
      {"dtype", FieldKind::dtype, false, 0, 0,
       "of a, b and out where they are not given, default f32"},
      {"a", FieldKind::dtype, false, 0, 0, "element type of a"},
      {"b", FieldKind::dtype, false, 0, 0, "element type of b"},
      {"out", FieldKind::dtype, false, 0, 0, "element type of out and c; s32 for s8 inputs"},
      {"accumulate", FieldKind::dtype, false, 0, 0,
       "type of the sums; default f64 with f64 inputs, s32 with s8, else f32"},
      {"layout", FieldKind::text, false, 0, 0,
       "t = row-major, n = column-major, for a, b and optionally out, default tn"},
      {"constant", FieldKind::text_list, false, 0, 0,
       "inputs that stay the same over many launches (weights) and may be prepared: a, b, c"},
      {"alpha", FieldKind::number, false, 0, 0, "factor of a x b, default 1"},
      {"beta", FieldKind::number, false, 0, 0, "factor of c, default 0: no c"},
      {"epilogue", FieldKind::text, false, 0, 0,
       "steps behind the sums, joined by +, such as bias+gelu or relu; default none"},
      {"lda", FieldKind::integer, false, 1, kMaxBytes,
       "elements between rows (columns, for n) of a"},
      {"ldb", FieldKind::integer, false, 1, kMaxBytes,
       "elements between rows (columns, for n) of b"},
      {"ldout", FieldKind::integer, false, 1, kMaxBytes,
       "elements between rows (columns) of out and c"},
      {"bias", FieldKind::dtype, false, 0, 0, "element type of the epilogue's bias; default out's"},
      {"row_bias", FieldKind::dtype, false, 0, 0, "likewise of its row_bias"},
      {"residual", FieldKind::dtype, false, 0, 0, "likewise of its residual"},
      {"scale", FieldKind::dtype, false, 0, 0, "likewise of its scale"},
      {"column_scale", FieldKind::dtype, false, 0, 0, "likewise of its column_scale"},
      {"row_scale", FieldKind::dtype, false, 0, 0, "likewise of its row_scale"},
      {"name", FieldKind::text, false, 0, 0,
       "for people and files: [A-Za-z0-9_.-]+, made from sizes"},
      {"role", FieldKind::text, false, 0, 0, "prefill, decode, kv_proj, attention ..."},
      {"weight", FieldKind::number, false, 0, 0, "how often a model calls it, default 1"},
  };
  return kRules;
}

// The fields of one object, with sentences for what is not as its rule says.
class Reader {
 public:
  explicit Reader(const Json& fields) : fields_(fields) {}

  Status check_names() const {
    if (!fields_.is_object())
      return fail(ErrorCode::invalid_input, "gemm: the fields of a problem are a JSON object");
    std::vector<std::string> known(std::begin(kInternalFields), std::end(kInternalFields));
    for (const FieldRule& rule : rules()) known.push_back(rule.name);
    for (const auto& [name, value] : fields_.items()) {
      if (std::find(known.begin(), known.end(), name) == known.end()) {
        return fail(ErrorCode::invalid_input, "{}: gemm has no such field{}", sanitize(name, 60),
                    did_you_mean(name, known));
      }
    }
    for (const FieldRule& rule : rules()) {
      if (rule.required && !fields_.contains(rule.name))
        return fail(ErrorCode::invalid_input, "{}: missing; {}", rule.name, rule.help);
    }
    return {};
  }

  const Json* find(std::string_view name) const {
    const auto found = fields_.find(name);
    return found == fields_.end() ? nullptr : &*found;
  }

  Status integer(std::string_view name, int64_t& out) const {
    const Json* value = find(name);
    return value ? read_integer(name, *value, out) : Status();
  }

  Status integer(std::string_view name, std::optional<int64_t>& out) const {
    if (find(name) == nullptr) return {};
    return integer(name, out.emplace());
  }

  Status number(std::string_view name, double& out) const {
    const Json* value = find(name);
    if (value == nullptr) return {};
    if (!value->is_number()) return wrong(name, *value, "a number");
    out = value->get<double>();
    return {};
  }

  Status text(std::string_view name, std::string& out) const {
    const Json* value = find(name);
    if (value == nullptr) return {};
    if (!value->is_string()) return wrong(name, *value, "text");
    out = value->get<std::string>();
    return {};
  }

  Status dtype(std::string_view name, std::optional<DType>& out) const {
    std::string text_value;
    ASSAY_TRY(text(name, text_value));
    if (find(name) == nullptr) return {};
    auto parsed = parse_dtype(text_value);
    if (!parsed) return fail(with_context(parsed.error(), name));
    out = *parsed;
    return {};
  }

  Status texts(std::string_view name, std::vector<std::string>& out) const {
    const Json* value = find(name);
    if (value == nullptr) return {};
    if (!value->is_array()) return wrong(name, *value, "a list of operands, such as [b]");
    for (const Json& item : *value) {
      if (!item.is_string()) return wrong(name, item, "names of operands");
      out.push_back(item.get<std::string>());
    }
    return {};
  }

  // Members of an object such as "strides", by operand.
  Status strides(std::string_view role, std::optional<Strides>& out) const {
    const Json* all = find("strides");
    if (all == nullptr) return {};
    if (!all->is_object()) return wrong("strides", *all, "an object of lists by operand");
    const auto found = all->find(role);
    if (found == all->end()) return {};
    if (!found->is_array() || found->size() != 3)
      return wrong("strides", *found, "three integers for each operand");
    Strides strides;
    for (size_t i = 0; i < 3; ++i) ASSAY_TRY(read_integer("strides", (*found)[i], strides[i]));
    out = strides;
    return {};
  }

  Status alignment(std::string_view role, int64_t& out) const {
    const Json* all = find("alignment");
    if (all == nullptr) return {};
    if (!all->is_object()) return wrong("alignment", *all, "an object of bytes by operand");
    const auto found = all->find(role);
    return found == all->end() ? Status() : read_integer("alignment", *found, out);
  }

  Status check_operation() const {
    std::string name = "gemm";
    ASSAY_TRY(text("operation", name));
    if (name == "gemm") return {};
    return fail(ErrorCode::invalid_input, "operation: '{}' is not gemm", sanitize(name, 60));
  }

 private:
  static tl::unexpected<Error> wrong(std::string_view name, const Json& value,
                                     std::string_view wanted) {
    return fail(ErrorCode::invalid_input, "{}: {} is not {}", name, sanitize(canonical(value), 60),
                wanted);
  }

  static Status read_integer(std::string_view name, const Json& value, int64_t& out) {
    const bool fits = value.is_number_integer() &&
                      !(value.is_number_unsigned() && value.get<uint64_t>() > INT64_MAX);
    if (!fits) return wrong(name, value, "an integer of 64 bits");
    out = value.get<int64_t>();
    return {};
  }

  const Json& fields_;
};

}  // namespace

std::span<const FieldRule> field_rules() { return rules(); }

Result<Problem> problem_from_json(const Json& fields) {
  const Reader reader(fields);
  ASSAY_TRY(reader.check_names());
  ASSAY_TRY(reader.check_operation());
  Description description;
  Shape& shape = description.shape;
  ASSAY_TRY(reader.integer("m", shape.m));
  ASSAY_TRY(reader.integer("n", shape.n));
  ASSAY_TRY(reader.integer("k", shape.k));
  ASSAY_TRY(reader.integer("batch", shape.batch));
  ASSAY_TRY(reader.integer("lda", shape.lda));
  ASSAY_TRY(reader.integer("ldb", shape.ldb));
  ASSAY_TRY(reader.integer("ldout", shape.ldout));
  ASSAY_TRY(reader.dtype("a", shape.a));
  ASSAY_TRY(reader.dtype("b", shape.b));
  ASSAY_TRY(reader.dtype("out", shape.out));
  ASSAY_TRY(reader.dtype("accumulate", shape.accumulate));
  std::optional<DType> dtype = shape.a;  // An out that nobody mentions is of a's type.
  ASSAY_TRY(reader.dtype("dtype", dtype));
  shape.dtype = dtype.value_or(shape.dtype);
  ASSAY_TRY(reader.text("layout", shape.layout));
  ASSAY_TRY(reader.text("epilogue", shape.epilogue));
  if (shape.epilogue == "none") shape.epilogue.clear();
  for (const std::string_view role : Epilogue::operand_names()) {
    std::optional<DType> of_step;
    ASSAY_TRY(reader.dtype(role, of_step));
    if (of_step) shape.epilogue_dtypes.emplace(role, *of_step);
    ASSAY_TRY(reader.alignment(
        role, description.epilogue_alignments.emplace(role, kDefaultAlignment).first->second));
  }
  ASSAY_TRY(reader.text("name", shape.name));
  ASSAY_TRY(reader.text("role", shape.role));
  ASSAY_TRY(reader.texts("constant", shape.constant));
  ASSAY_TRY(reader.number("alpha", shape.alpha));
  ASSAY_TRY(reader.number("beta", shape.beta));
  ASSAY_TRY(reader.number("weight", shape.weight));
  ASSAY_TRY(reader.strides("a", description.a));
  ASSAY_TRY(reader.strides("b", description.b));
  ASSAY_TRY(reader.strides("out", description.out));
  ASSAY_TRY(reader.strides("c", description.c));
  ASSAY_TRY(reader.strides("residual", description.residual));
  ASSAY_TRY(reader.alignment("a", description.a_alignment));
  ASSAY_TRY(reader.alignment("b", description.b_alignment));
  ASSAY_TRY(reader.alignment("out", description.out_alignment));
  ASSAY_TRY(reader.alignment("c", description.c_alignment));
  return build(description);
}

}  // namespace assay::gemm
