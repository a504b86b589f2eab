#include "assay/op/user/definition.h"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "assay/base/archive.h"
#include "assay/base/expression.h"
#include "assay/base/hash.h"
#include "assay/base/text.h"

namespace assay::user {
namespace {

constexpr size_t kMostNames = 16;      // Dimensions, operands, scalars.
constexpr size_t kMostDimensions = 6;  // Of an operand.
constexpr size_t kHashDigits = 12;
constexpr std::string_view kLanguages[] = {"c++", "python"};
constexpr InputKind kInputs[] = {InputKind::uniform, InputKind::wide_range, InputKind::needle,
                                 InputKind::exact,   InputKind::zeros,      InputKind::ones};

// Words that shapes and descriptions of kernels have for something else.
constexpr std::string_view kTaken[] = {"operation",
                                       "name",
                                       "role",
                                       "weight",
                                       "constant",
                                       "dtype",
                                       "accumulate",
                                       "l",
                                       "batch",
                                       "layout",
                                       "provider",
                                       "source",
                                       "entry",
                                       "args",
                                       "tunables",
                                       "constraints",
                                       "alignment",
                                       "workspace",
                                       "prepare",
                                       "prepared",
                                       "divisibility",
                                       "targets",
                                       "epilogues",
                                       "epilogue",
                                       "threads",
                                       "launch",
                                       "deterministic",
                                       "error",
                                       "flags",
                                       "specialised_on",
                                       "workspace_bytes",
                                       "shapes",
                                       "true",
                                       "false",
                                       "and",
                                       "or",
                                       "not",
                                       "min",
                                       "max",
                                       "abs",
                                       "ceil_div"};

bool is_name(std::string_view text) {
  const auto inner = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  return !text.empty() && text.size() <= 40 && !(text[0] >= '0' && text[0] <= '9') &&
         std::ranges::all_of(text, inner);
}

bool is_function(std::string_view text) {
  for (size_t colons = text.find("::"); colons != std::string_view::npos;
       colons = text.find("::")) {
    if (!is_name(text.substr(0, colons))) return false;
    text.remove_prefix(colons + 2);
  }
  return is_name(text);
}

class Checker {
 public:
  explicit Checker(const Definition& definition) : d_(definition) {}

  Status run() {
    if (!matches_name_rule(d_.name) || d_.name.size() > 60)
      return fail(ErrorCode::invalid_input,
                  "operation: '{}' must be letters, digits, '_', '.' or '-', at most 60 of them",
                  sanitize(d_.name, 60));
    ASSAY_TRY(check_count("dimensions", d_.dimensions.size()));
    ASSAY_TRY(check_count("operands", d_.operands.size()));
    for (const std::string& dimension : d_.dimensions)
      ASSAY_TRY(check_new("dimensions", dimension));
    for (const DefinedOperand& operand : d_.operands) ASSAY_TRY(check(operand));
    for (const auto& [name, value] : d_.scalars) {
      ASSAY_TRY(check_new("scalars", name));
      if (!std::isfinite(value))
        return fail(ErrorCode::invalid_input, "scalars: {} must be finite", name);
    }
    if (d_.scalars.size() > kMostNames)
      return fail(ErrorCode::invalid_input, "scalars: at most {}", kMostNames);
    ASSAY_TRY(check_outputs());
    ASSAY_TRY(check_flops());
    ASSAY_TRY(check_tolerances());
    ASSAY_TRY(check_inputs());
    return check_reference();
  }

 private:
  static Status check_count(std::string_view field, size_t count) {
    if (count > 0 && count <= kMostNames) return {};
    return fail(ErrorCode::invalid_input, "{}: has {}; write 1 to {}", field, count, kMostNames);
  }

  Status check_new(std::string_view field, const std::string& name) {
    if (!is_name(name))
      return fail(ErrorCode::invalid_input,
                  "{}: '{}' cannot be a name: letters, digits and '_', at most 40, no digit first",
                  field, sanitize(name, 60));
    if (std::ranges::find(kTaken, name) != std::end(kTaken) || find_dtype(name) ||
        name.starts_with("map_") || name.starts_with("ld") || name.starts_with("assay"))
      return fail(ErrorCode::invalid_input,
                  "{}: '{}' means something else in shapes and in descriptions of kernels; choose "
                  "another name",
                  field, name);
    if (names_.insert(name).second) return {};
    return fail(ErrorCode::invalid_input, "{}: '{}' is named twice", field, name);
  }

  Status check(const DefinedOperand& operand) {
    ASSAY_TRY(check_new("operands", operand.role));
    if (operand.dimensions.empty() || operand.dimensions.size() > kMostDimensions)
      return fail(ErrorCode::invalid_input, "operands: {} has {} dimensions; write 1 to {}",
                  operand.role, operand.dimensions.size(), kMostDimensions);
    std::set<std::string_view> seen;
    for (const std::string& dimension : operand.dimensions) {
      if (std::ranges::find(d_.dimensions, dimension) == d_.dimensions.end())
        return fail(ErrorCode::invalid_input, "operands: {}: there is no dimension '{}'{}",
                    operand.role, sanitize(dimension, 60), did_you_mean(dimension, d_.dimensions));
      if (!seen.insert(dimension).second)
        return fail(ErrorCode::invalid_input,
                    "operands: {}: has '{}' twice; give one of the two a name of its own",
                    operand.role, dimension);
    }
    if (operand.dtypes.empty() || operand.dtypes.size() > kMostNames)
      return fail(ErrorCode::invalid_input, "operands: {}: has no type; write dtype: f32",
                  operand.role);
    for (const DType dtype : operand.dtypes) {
      if (!info(dtype).supported)
        return fail(ErrorCode::unsupported,
                    "operands: {}: {} is not supported; use f64, f32, f16, bf16, s8 or s32",
                    operand.role, to_string(dtype));
      if (std::ranges::count(operand.dtypes, dtype) > 1)
        return fail(ErrorCode::invalid_input, "operands: {}: {} is given twice", operand.role,
                    to_string(dtype));
    }
    return {};
  }

  Status check_outputs() const {
    const auto outputs = std::ranges::count_if(d_.operands, &DefinedOperand::output);
    if (outputs == 1 && d_.operands.size() > 1) return {};
    if (outputs == 1)
      return fail(ErrorCode::invalid_input,
                  "operands: nothing is read; an operation has at least one input");
    return fail(ErrorCode::invalid_input, "operands: {} are outputs; exactly one has output: true",
                outputs);
  }

  Status check_flops() const {
    if (d_.flops.empty()) return {};
    if (d_.flops.size() > 1000)
      return fail(ErrorCode::invalid_input, "flops: more than 1000 characters");
    const auto parsed = Expression::parse(d_.flops);
    if (!parsed) return fail(with_context(parsed.error(), "flops"));
    for (const std::string& name : parsed->names())
      if (std::ranges::find(d_.dimensions, name) == d_.dimensions.end())
        return fail(ErrorCode::invalid_input, "flops: there is no dimension '{}'{}",
                    sanitize(name, 60), did_you_mean(name, d_.dimensions));
    return {};
  }

  Status check_tolerances() const {
    if (d_.tolerances.empty())
      return fail(ErrorCode::invalid_input,
                  "tolerance: missing; write {{relative: 1e-5, absolute: 1e-7}}");
    for (const auto& [type, tolerance] : d_.tolerances) {
      for (const double value : {tolerance.relative, tolerance.absolute})
        if (!(value >= 0 && std::isfinite(value)))
          return fail(ErrorCode::invalid_input, "tolerance: {} must be finite, and not below 0",
                      value);
      if (tolerance.relative >= 1)
        return fail(ErrorCode::invalid_input,
                    "tolerance: relative {} takes zeros for right; write less than 1",
                    tolerance.relative);
    }
    for (const DefinedOperand& operand : d_.operands) {
      if (!operand.output) continue;
      for (const auto& [type, unused] : d_.tolerances) {
        const auto dtype = find_dtype(type);
        const bool of_out =
            dtype && std::ranges::find(operand.dtypes, *dtype) != operand.dtypes.end();
        if (!type.empty() && !of_out)
          return fail(ErrorCode::invalid_input, "tolerance: '{}' is no type of {}",
                      sanitize(type, 40), operand.role);
      }
      for (const DType dtype : operand.dtypes)
        if (!d_.tolerances.contains("") && !d_.tolerances.contains(std::string(to_string(dtype))))
          return fail(ErrorCode::invalid_input, "tolerance: says nothing of {} in {}", operand.role,
                      to_string(dtype));
    }
    return {};
  }

  Status check_inputs() const {
    std::set<InputKind> seen;
    for (const InputKind kind : d_.inputs) {
      if (std::ranges::find(kInputs, kind) == std::end(kInputs))
        return fail(ErrorCode::invalid_input,
                    "inputs: {} cannot be; use uniform, wide_range, needle, exact, zeros and ones",
                    to_string(kind));
      if (!seen.insert(kind).second)
        return fail(ErrorCode::invalid_input, "inputs: {} is given twice", to_string(kind));
    }
    if (seen.contains(InputKind::uniform)) return {};
    return fail(ErrorCode::invalid_input,
                "inputs: uniform is missing; timed launches have no others");
  }

  Status check_reference() const {
    const ReferenceText& reference = d_.reference;
    if (!is_function(reference.function))
      return fail(ErrorCode::invalid_input,
                  "reference: '{}' cannot be a function's name; write FILE::FUNCTION, such as "
                  "softmax.cc::softmax_reference",
                  sanitize(reference.function, 60));
    if (reference.file.empty() || reference.file.size() > 200 ||
        reference.file.find_first_of("\"'\\/%{}") != std::string::npos ||
        sanitize(reference.file) != reference.file)
      return fail(ErrorCode::invalid_input, "reference: '{}' cannot be a file's name",
                  sanitize(reference.file, 60));
    if (reference.text.empty() || reference.text.size() > kMostReferenceBytes ||
        reference.text.find('\0') != std::string::npos)
      return fail(ErrorCode::invalid_input,
                  "reference: {} holds {} bytes; write text of 1 to {} bytes", reference.file,
                  reference.text.size(), kMostReferenceBytes);
    if (reference.program.empty()) return {};
    if (reference.language != Language::python || !reference.program.starts_with('/') ||
        reference.program.size() > 1000 || sanitize(reference.program) != reference.program)
      return fail(ErrorCode::invalid_input,
                  "python: '{}' is not the absolute path of an interpreter for a reference in "
                  "Python",
                  sanitize(reference.program, 60));
    return {};
  }

  const Definition& d_;
  std::set<std::string> names_;
};

// What is written, in words.
struct WrittenOperand {
  std::string role;
  std::vector<std::string> dimensions, dtypes;
  bool output = false;
};
struct WrittenScalar {
  std::string name;
  double value = 0;
};
struct WrittenTolerance {
  std::string dtype;
  double relative = 0, absolute = 0;
};
struct WrittenReference {
  std::string language, file, function, text, program;
};
struct Written {
  std::string name, flops;
  std::vector<std::string> dimensions, inputs;
  std::vector<WrittenOperand> operands;
  std::vector<WrittenScalar> scalars;
  std::vector<WrittenTolerance> tolerances;
  WrittenReference reference;
};

template <class A, archive::Is<WrittenOperand> T>
void describe(A& a, T& operand) {
  a.required("role", operand.role);
  a.required("dimensions", operand.dimensions, archive::at_most(kMostDimensions));
  a.required("dtypes", operand.dtypes, archive::at_most(kMostNames));
  a.required("output", operand.output);
}
template <class A, archive::Is<WrittenScalar> T>
void describe(A& a, T& scalar) {
  a.required("name", scalar.name);
  a.required("value", scalar.value);
}
template <class A, archive::Is<WrittenTolerance> T>
void describe(A& a, T& tolerance) {
  a.required("dtype", tolerance.dtype);
  a.required("relative", tolerance.relative);
  a.required("absolute", tolerance.absolute);
}
template <class A, archive::Is<WrittenReference> T>
void describe(A& a, T& reference) {
  a.required("language", reference.language);
  a.required("file", reference.file);
  a.required("function", reference.function);
  a.required("text", reference.text);
  a.required("program", reference.program);
}
template <class A, archive::Is<Written> T>
void describe(A& a, T& written) {
  a.required("name", written.name);
  a.required("dimensions", written.dimensions, archive::at_most(kMostNames));
  a.required("operands", written.operands, archive::at_most(kMostNames));
  a.required("scalars", written.scalars, archive::at_most(kMostNames));
  a.required("flops", written.flops);
  a.required("tolerances", written.tolerances, archive::at_most(kMostNames));
  a.required("inputs", written.inputs, archive::at_most(kMostNames));
  a.required("reference", written.reference);
}

Written write(const Definition& definition) {
  Written written{.name = definition.name,
                  .flops = definition.flops,
                  .dimensions = definition.dimensions,
                  .inputs = {},
                  .operands = {},
                  .scalars = {},
                  .tolerances = {},
                  .reference = {std::string(to_string(definition.reference.language)),
                                definition.reference.file, definition.reference.function,
                                definition.reference.text, definition.reference.program}};
  for (const InputKind kind : definition.inputs) written.inputs.emplace_back(to_string(kind));
  for (const DefinedOperand& operand : definition.operands) {
    WrittenOperand& one = written.operands.emplace_back(
        WrittenOperand{operand.role, operand.dimensions, {}, operand.output});
    for (const DType dtype : operand.dtypes) one.dtypes.emplace_back(to_string(dtype));
  }
  for (const auto& [name, value] : definition.scalars) written.scalars.push_back({name, value});
  for (const auto& [dtype, tolerance] : definition.tolerances)
    written.tolerances.push_back({dtype, tolerance.relative, tolerance.absolute});
  return written;
}

Result<Definition> read(Written written) {
  Definition definition;
  definition.name = std::move(written.name);
  definition.flops = std::move(written.flops);
  definition.dimensions = std::move(written.dimensions);
  for (const std::string& name : written.inputs) {
    const auto kind = find_input_kind(name);
    if (!kind)
      return fail(ErrorCode::invalid_input, "inputs: there is no kind '{}'", sanitize(name, 40));
    definition.inputs.push_back(*kind);
  }
  for (WrittenOperand& operand : written.operands) {
    DefinedOperand& one = definition.operands.emplace_back(
        DefinedOperand{std::move(operand.role), std::move(operand.dimensions), {}, operand.output});
    for (const std::string& name : operand.dtypes) {
      ASSAY_TRY(one.dtypes.emplace_back(), parse_dtype(name));
    }
  }
  for (WrittenScalar& scalar : written.scalars)
    definition.scalars.emplace_back(std::move(scalar.name), scalar.value);
  for (WrittenTolerance& one : written.tolerances)
    if (!definition.tolerances.try_emplace(one.dtype, Tolerance{one.relative, one.absolute}).second)
      return fail(ErrorCode::invalid_input, "tolerance: a type is given twice");
  const auto* const language = std::ranges::find(kLanguages, written.reference.language);
  if (language == std::end(kLanguages))
    return fail(ErrorCode::invalid_input, "reference: '{}' is no language of references",
                sanitize(written.reference.language, 40));
  definition.reference = {static_cast<Language>(language - std::begin(kLanguages)),
                          std::move(written.reference.file), std::move(written.reference.function),
                          std::move(written.reference.text), std::move(written.reference.program)};
  return definition;
}

std::string title_of(const Definition& definition, const std::string& json) {
  return fmt::format("{}@{}", definition.name, sha256_hex(json).substr(0, kHashDigits));
}

}  // namespace

std::string_view to_string(Language language) { return kLanguages[static_cast<size_t>(language)]; }

std::span<const InputKind> known_inputs() { return kInputs; }

Status check(const Definition& definition) { return Checker(definition).run(); }

std::string id_of(const Definition& definition) {
  const std::string json = canonical(archive::write_any(write(definition)));
  return fmt::format("user:{} {}", title_of(definition, json), json);
}

Result<Definition> parse_id(std::string_view defined) {
  const size_t blank = defined.find(' ');
  if (blank == std::string_view::npos)
    return fail(ErrorCode::not_found, "an operation of a user without its definition: '{}'",
                sanitize(defined, 80));
  ASSAY_TRY(const JsonDocument document,
            parse_json_document(defined.substr(blank + 1), "a user's operation"));
  Written written;
  ASSAY_TRY(
      archive::read_any(JsonField(document), written, archive::kAny, archive::Fields::exactly));
  ASSAY_TRY(Definition definition, read(std::move(written)));
  ASSAY_TRY(check(definition));
  // One definition has one name.
  if (id_of(definition) != fmt::format("user:{}", defined))
    return fail(ErrorCode::invalid_input,
                "a user's operation: '{}' is not the name of what it says",
                sanitize(defined.substr(0, blank), 80));
  return definition;
}

}  // namespace assay::user
