#include "assay/op/user/first_kernel.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "assay/base/text.h"
#include "assay/op/element_text.h"

namespace assay::user {
namespace {

// Names of ours begin with assay_, which no name of a definition does.
class Writer {
 public:
  Writer(const Definition& definition, const NewKernel& kernel, const Problem& problem)
      : d_(definition), kernel_(kernel), problem_(problem) {}

  Result<std::string> text() const {
    std::set<std::string_view> used;
    for (const Operand& operand : problem_.operands()) {
      const ElementType* type = find_element_type(operand.dtype);
      if (type == nullptr) return fail(ErrorCode::internal, "new: a type without a text");
      used.insert(operand.access == Access::read ? type->load : type->store);
    }
    return comment() + "#include <vector>\n" +
           includes_and_functions(SourceLanguage::cpp, std::move(used)) + reference() + function();
  }

 private:
  std::string comment() const {
    std::vector<std::string> types, arguments;
    std::set<DType> dtypes;
    for (const Operand& operand : problem_.operands()) {
      types.push_back(fmt::format("{}: {}", operand.role, to_string(operand.dtype)));
      arguments.push_back(operand.role);
      dtypes.insert(operand.dtype);
    }
    arguments.insert(arguments.end(), d_.dimensions.begin(), d_.dimensions.end());
    for (const auto& [name, unused] : d_.scalars) arguments.push_back(name);
    return fmt::format(
        "// A kernel to begin with: it calls the function that defines {}, whose text it holds.\n"
        "//   {}\n//\n// assay: {{entry: {}, operation: {},\n//         {},\n"
        "//         args: [{}]}}\n\n",
        d_.name, kernel_.command, kernel_.entry, kernel_.operation,
        dtypes.size() == 1 ? fmt::format("dtype: {}", to_string(*dtypes.begin()))
                           : join(types, ", "),
        join(arguments, ", "));
  }

  std::string reference() const {
    return fmt::format("// Of {}:\n{}\n", d_.reference.file, d_.reference.text);
  }

  std::string function() const {
    std::vector<std::string> parameters, arguments;
    std::string before, after;
    for (const Operand& operand : problem_.operands()) {
      const ElementType& type = *find_element_type(operand.dtype);
      const bool read = operand.access == Access::read;
      const std::string count = elements(operand);
      parameters.push_back(fmt::format("{}{}* {}", read ? "const " : "", type.plain, operand.role));
      arguments.push_back(fmt::format("assay_{}.data()", operand.role));
      before += fmt::format("  std::vector<double> assay_{}({});\n", operand.role, count);
      const std::string loop =
          fmt::format("  for (int64_t assay_i = 0; assay_i < {}; ++assay_i)\n    ", count);
      const std::string element = operand.role + "[assay_i]";
      if (read)
        before += fmt::format("{}assay_{} = {};\n", loop, element, call_text(type.load, element));
      else
        after += fmt::format(
            "{}{} = {};\n", loop, element,
            call_text(type.store.empty() ? fmt::format("static_cast<{}>", type.plain)
                                         : fmt::format("{}", type.store),
                      type.store.empty() ? "assay_" + element
                                         : fmt::format("static_cast<float>(assay_{})", element)));
    }
    for (const std::string& dimension : d_.dimensions) {
      parameters.push_back("int64_t " + dimension);
      arguments.push_back(dimension);
    }
    for (const auto& [name, unused] : d_.scalars) {
      parameters.push_back("double " + name);
      arguments.push_back(name);
    }
    return fmt::format("void {}({}) {{\n{}  ::{}({});\n{}}}\n", kernel_.entry,
                       join(parameters, ", "), before, d_.reference.function, join(arguments, ", "),
                       after);
  }

  std::string elements(const Operand& operand) const {
    for (const DefinedOperand& defined : d_.operands)
      if (defined.role == operand.role) return join(defined.dimensions, " * ");
    return "0";
  }

  const Definition& d_;
  const NewKernel& kernel_;
  const Problem& problem_;
};

}  // namespace

Result<std::string> naive_kernel(const Definition& definition, const NewKernel& kernel,
                                 const Problem& problem) {
  if (definition.reference.language != Language::cpp)
    return fail(ErrorCode::invalid_input,
                "new: the function that defines {} is in Python; a kernel can begin with one in "
                "C++ alone",
                definition.name);
  if (kernel.language != SourceLanguage::cpp)
    return fail(ErrorCode::invalid_input,
                "new: a kernel of {} begins with the function of C++ that defines it; end the "
                "file's name in .cc, .cpp or .cxx",
                definition.name);
  const std::string& function = definition.reference.function;
  if (function == kernel.entry)
    return fail(ErrorCode::invalid_input,
                "new: the kernel would be called {} after its file, as the function that defines "
                "{} is; choose another name for the file",
                function, definition.name);
  return Writer(definition, kernel, problem).text();
}

}  // namespace assay::user
