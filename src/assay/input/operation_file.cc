#include "assay/input/operation_file.h"

#include <algorithm>
#include <map>
#include <span>

#include <fmt/format.h>

#include "assay/base/file.h"
#include "assay/base/text.h"
#include "assay/input/file_and_entry.h"
#include "assay/input/forms.h"
#include "assay/input/yaml.h"
#include "assay/op/user/places.h"
#include "assay/op/user/user.h"

namespace assay::input {
namespace {

constexpr std::string_view kSuffix = ".op.yaml";

class Reader {
 public:
  Reader(const YamlField& file, std::filesystem::path folder)
      : file_(file), folder_(std::move(folder)) {}

  Result<const Operation*> run() {
    if (file_.kind() != YamlField::Kind::map)
      return fail(file_.error(
          "a file that defines an operation is a map with the fields operation, dimensions, "
          "operands, tolerance and reference"));
    ASSAY_TRY(only(file_, operation_form()));
    ASSAY_TRY(const YamlField name, file_.at("operation"));
    ASSAY_TRY(made_.name, name.as_string());
    ASSAY_TRY(const YamlField dimensions, file_.at("dimensions"));
    ASSAY_TRY(made_.dimensions, dimensions.as_strings());
    ASSAY_TRY(read_operands());
    ASSAY_TRY(read_scalars());
    ASSAY_TRY(read_flops());
    ASSAY_TRY(read_tolerance());
    ASSAY_TRY(read_inputs());
    ASSAY_TRY(read_reference());
    auto defined = user::define(made_);
    if (!defined) return located(std::move(defined).error());
    ASSAY_TRY(const auto fields, file_.members());
    std::map<std::string, std::string> places;
    for (const auto& [key, field] : fields)
      places[key] = fmt::format("{}:{}", field.origin(), field.line());
    user::note_places((*defined)->name(), std::move(places));
    return defined;
  }

 private:
  // Errors of the definition begin with the field.
  Result<const Operation*> located(const Error& error) const {
    const size_t colon = error.message.find(": ");
    const std::string field = error.message.substr(0, colon);
    if (colon != std::string::npos) {
      const auto found = file_.find(field);
      if (found && *found)
        return fail((*found)->error(error.message.substr(colon + 2), error.code));
    }
    return fail(file_.error(error.message, error.code));
  }

  Status read_operands() {
    ASSAY_TRY(const YamlField list, file_.at("operands"));
    if (list.kind() != YamlField::Kind::map)
      return fail(list.error("is a map by name, such as x: {dimensions: [m, n], dtype: f32}"));
    ASSAY_TRY(const auto members, list.members());
    for (const auto& [role, field] : members) {
      if (field.kind() != YamlField::Kind::map)
        return fail(field.error("is a map, such as {dimensions: [m, n], dtype: f32}"));
      ASSAY_TRY(only(field, operation_form().at("operands").item()));
      user::DefinedOperand& operand = made_.operands.emplace_back();
      operand.role = role;
      ASSAY_TRY(const YamlField dimensions, field.at("dimensions"));
      ASSAY_TRY(operand.dimensions, dimensions.as_strings());
      ASSAY_TRY(const YamlField types, field.at("dtype"));
      ASSAY_TRY(const auto names, types.as_strings());
      for (const std::string& name : names) {
        const auto dtype = parse_dtype(name);
        if (!dtype) return fail(types.error(dtype.error().message));
        operand.dtypes.push_back(*dtype);
      }
      ASSAY_TRY(const auto output, field.find("output"));
      if (output) {
        ASSAY_TRY(operand.output, output->as_bool());
      }
    }
    return {};
  }

  Status read_scalars() {
    ASSAY_TRY(const auto field, file_.find("scalars"));
    if (!field) return {};
    if (field->kind() != YamlField::Kind::map)
      return fail(field->error("is a map of names and defaults, such as {epsilon: 1e-6}"));
    ASSAY_TRY(const auto members, field->members());
    for (const auto& [name, value] : members) {
      ASSAY_TRY(const double number, value.as_double());
      made_.scalars.emplace_back(name, number);
    }
    return {};
  }

  Status read_flops() {
    ASSAY_TRY(const auto field, file_.find("flops"));
    if (!field) return {};
    ASSAY_TRY(const Value value, field->as_value());
    if (std::holds_alternative<bool>(value))
      return fail(field->error("a number or a formula belongs here, like 5 * m * n"));
    const auto* const text = std::get_if<std::string>(&value);
    made_.flops = text != nullptr ? *text : to_string(value);
    return {};
  }

  static Result<user::Tolerance> tolerance(const YamlField& field) {
    if (field.kind() != YamlField::Kind::map)
      return fail(field.error("is a map, such as {relative: 1e-5, absolute: 1e-7}"));
    ASSAY_TRY(only(field, tolerance_form()));
    user::Tolerance tolerance;
    ASSAY_TRY(const auto relative, field.find("relative"));
    if (relative) {
      ASSAY_TRY(tolerance.relative, relative->as_double());
    }
    ASSAY_TRY(const auto absolute, field.find("absolute"));
    if (absolute) {
      ASSAY_TRY(tolerance.absolute, absolute->as_double());
    }
    if (!relative && !absolute)
      return fail(field.error("has neither relative nor absolute; write {relative: 1e-5}"));
    return tolerance;
  }

  // One for all types of the output, or a map by type.
  Status read_tolerance() {
    ASSAY_TRY(const YamlField field, file_.at("tolerance"));
    if (field.kind() == YamlField::Kind::map) {
      ASSAY_TRY(const auto members, field.members());
      const bool by_type = !members.empty() && std::ranges::all_of(members, [](const auto& member) {
        return find_dtype(member.first).has_value();
      });
      for (const auto& [type, member] : members) {
        if (!by_type) break;
        const std::string name(to_string(*find_dtype(type)));
        if (made_.tolerances.contains(name))
          return fail(member.error(fmt::format("{} is given twice", name)));
        ASSAY_TRY(made_.tolerances[name], tolerance(member));
      }
      if (by_type) return {};
    }
    ASSAY_TRY(made_.tolerances[""], tolerance(field));
    return {};
  }

  Status read_inputs() {
    ASSAY_TRY(const auto field, file_.find("inputs"));
    if (!field) {
      const auto known = user::known_inputs();
      made_.inputs.assign(known.begin(), known.end());
      return {};
    }
    ASSAY_TRY(const auto names, field->as_strings());
    for (const std::string& name : names) {
      const auto kind = find_input_kind(name);
      if (!kind)
        return fail(field->error(
            fmt::format("there are no inputs '{}'; use uniform, wide_range, needle, exact, zeros "
                        "and ones",
                        sanitize(name, 40))));
      made_.inputs.push_back(*kind);
    }
    return {};
  }

  // FILE::FUNCTION; of a file alone the function is called as the operation is.
  Status read_reference() {
    ASSAY_TRY(const YamlField field, file_.at("reference"));
    ASSAY_TRY(const std::string text, field.as_string());
    const auto [name, function] = split_entry(text);
    const std::filesystem::path file(name);
    user::ReferenceText& reference = made_.reference;
    reference.function = function.empty() ? made_.name : function;
    reference.file = file.filename().string();
    const std::string extension = file.extension().string();
    static const std::vector<std::string> kCpp = {".cc", ".cpp", ".cxx", ".C"};
    if (extension == ".py") {
      reference.language = user::Language::python;
    } else if (std::ranges::find(kCpp, extension) == kCpp.end()) {
      return fail(
          field.error("is a function of C++ or of Python, such as softmax.cc::softmax_reference or "
                      "softmax.py"));
    }
    auto read = read_file((folder_ / file).string(), user::kMostReferenceBytes);
    if (!read) return fail(field.error(read.error().message, read.error().code));
    reference.text = std::move(*read);
    ASSAY_TRY(const auto python, file_.find("python"));
    if (python) {
      ASSAY_TRY(reference.program, python->as_string());
    }
    return {};
  }

  const YamlField& file_;
  std::filesystem::path folder_;
  user::Definition made_;
};

}  // namespace

bool is_operation_file(std::string_view text) { return text.ends_with(kSuffix); }

Result<const Operation*> read_operation_file(const std::filesystem::path& path) {
  ASSAY_TRY(const YamlField file, read_yaml(path, {.bytes = size_t{1} << 20, .nodes = 10'000}));
  return Reader(file, path.parent_path()).run();
}

Result<const Operation*> read_operation(std::string_view text,
                                        const std::filesystem::path& folder) {
  if (is_operation_file(text)) return read_operation_file(folder / text);
  return find_operation(text);
}

}  // namespace assay::input
