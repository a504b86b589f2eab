#include "assay/op/user/export_front.h"

#include <fmt/format.h>

#include "assay/base/text.h"
#include "assay/op/user/problem.h"
#include "assay/op/user/reference.h"

namespace assay::user {
namespace {

// The reference runs once, over float64s of every operand.
constexpr const char* kText = R"(
class Reference {
 public:
  static constexpr double kCost = 1;

  explicit Reference(const Buffers& set) {
    std::vector<std::vector<double>> values;
    std::vector<double*> places;
    for (std::size_t i = 0; i < kOperands; ++i) {
      const Operand& operand = kOperand[i];
      const std::int64_t elements = elements_of(operand);
      values.emplace_back(static_cast<std::size_t>(elements));
      for (std::int64_t e = 0; e < elements && !operand.output; ++e)
        values.back()[static_cast<std::size_t>(e)] =
            static_cast<double>(element(operand.type, set.operand[i], e));
    }
    for (std::vector<double>& one : values) places.push_back(one.data());
    assay_reference(places.data());
    expected_ = std::move(values[kOut]);
  }

  Expected at(std::size_t operand, const std::int64_t* index) const {
    std::int64_t place = 0;
    for (int i = 0; i < kOperand[operand].rank; ++i)
      place += index[i] * kOperand[operand].strides[i];
    const double value = expected_[static_cast<std::size_t>(place)];
    return {value, kAbsolute + kRelative * std::fabs(value), !std::isfinite(value)};
  }

 private:
  std::vector<double> expected_;
};

}  // namespace problem
)";

std::string reference_call(const Definition& definition, const Problem& problem) {
  std::vector<std::string> arguments;
  for (size_t i = 0; i < definition.operands.size(); ++i)
    arguments.push_back(definition.operands[i].output
                            ? fmt::format("data[{}]", i)
                            : fmt::format("static_cast<const double*>(data[{}])", i));
  for (const auto& [name, size] : problem.dimensions())
    arguments.push_back(fmt::format("static_cast<std::int64_t>({})", size));
  for (const auto& [name, unused] : definition.scalars)
    arguments.push_back(scalar_text(problem, name));
  return fmt::format(
      "// The user's own words of what is right.\n#include <cstdint>\n\n#include "
      "\"reference/{}\"\n\n"
      "void assay_reference(double* const* data);\n"
      "void assay_reference(double* const* data) {{\n  ::{}({});\n}}\n",
      definition.reference.file, definition.reference.function, join(arguments, ", "));
}

}  // namespace

std::string formula_of(const Definition& definition) {
  return fmt::format("{}, as its user's {} defines it", definition.name,
                     definition.reference.function);
}

Result<std::vector<ReferenceFile>> reference_files(const Definition& definition,
                                                   const Problem& problem) {
  const std::string source = "reference/" + definition.reference.file;
  if (!ReferenceFile{source}.lies_below())
    return fail(ErrorCode::invalid_input, "the reference's file '{}' is no name of a file",
                sanitize(definition.reference.file, 100));
  if (definition.reference.language != Language::cpp)
    return std::vector<ReferenceFile>{
        {"reference.h",
         fmt::format("#pragma once\n\nnamespace problem {{\n\n"
                     "inline constexpr const char* kUnchecked = \"its reference, {}, is no C++\";\n"
                     "struct Reference {{\n  static constexpr double kCost = 1;\n"
                     "  explicit Reference(const Buffers&) {{}}\n"
                     "  Expected at(std::size_t, const std::int64_t*) const {{ return {{}}; }}\n"
                     "}};\n\n}}  // namespace problem\n",
                     source)},
        {source, definition.reference.text}};
  const Tolerance tolerance = tolerance_of(definition, problem);
  return std::vector<ReferenceFile>{
      {"reference.h",
       fmt::format("// What caller.cc checks by: the user's reference, within his tolerance.\n"
                   "#pragma once\n\nvoid assay_reference(double* const* data);\n\n"
                   "namespace problem {{\n\ninline constexpr const char* kUnchecked = nullptr;\n"
                   "constexpr std::size_t kOut = {};\n"
                   "constexpr double kRelative = {:a}, kAbsolute = {:a};\n{}",
                   output_of(problem), tolerance.relative, tolerance.absolute, kText)},
      {"reference.cc", reference_call(definition, problem), true},
      {source, definition.reference.text}};
}

}  // namespace assay::user
