// A manifest, and each kind of its entries.

#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "assay/input/forms.h"
#include "assay/input/schemas.h"
#include "assay/tensor/error_bound.h"

namespace assay::input {
namespace {

// A number of bytes, or an expression over sizes and tunables.
Form size() { return Form::either({Form::integer(0), Form::text()}); }

// YAML cuts expressions at commas, and what was between two may look like a number.
Form extents() { return Form::either({size(), Form::list(size(), 1)}); }

Form types() { return Form::texts(Form::text(), 1); }

Form map_form() {
  return Form::fields({{"box", Form::list(size(), 2), Need::required, "Innermost first."},
                       {"swizzle", Form::integer(0, kMostMapBytes), Need::optional, "Bytes."},
                       {"promotion", Form::integer(0, kMostMapBytes), Need::optional, "Bytes."}});
}

Form launch_form(const KernelWords& words) {
  std::vector<FormField> maps;
  for (const auto& operand : words.operands) maps.push_back({operand.role, map_form()});
  return Form::fields(
      {{"grid", extents(), Need::required, "Blocks: x, y, z."},
       {"block", extents(), Need::optional, "Threads: x, y, z; needed unless a compiler knows."},
       {"cluster", extents(), Need::optional, "Blocks of a cluster: x, y, z."},
       {"shared", size(), Need::optional, "Bytes of dynamic shared memory."},
       {"dependent", Form::truth(), Need::optional,
        "Whether it is written for programmatic dependent launch."},
       {"maps", Form::fields(std::move(maps)), Need::optional,
        "How the copy engine sees operands that args calls map_b and the like."}});
}

Form prepare_form() {
  return Form::fields({{"bytes", size(), Need::required, "Of the memory that is written."},
                       {"args", Form::list(Form::text(), 1), Need::required},
                       {"entry", Form::text(), Need::required, "The function."}});
}

// One number for all operands, or a number for each.
Form multiples(const KernelWords& words, std::int64_t most, bool of_sizes) {
  std::vector<FormField> each;
  for (const auto& operand : words.operands) each.push_back({operand.role, Form::integer(1, most)});
  if (of_sizes)
    for (const std::string& name : words.dimensions) each.push_back({name, Form::integer(1, most)});
  return Form::either({Form::integer(1, most), Form::fields(std::move(each))});
}

Form error_bounds() {
  std::vector<std::string> words;
  for (const ErrorBound bound : kErrorBounds) words.emplace_back(to_string(bound));
  return Form::words(std::move(words));
}

std::vector<FormField> kernel_fields(const std::string& operation, const KernelWords& words) {
  std::vector<FormField> fields = {
      {"name", name_form(), Need::optional, "In tables of results; else the function's."},
      {"operation", operation.empty() ? Form::text() : Form::words({operation}),
       operation == default_operation() ? Need::optional : Need::required},
      {"dtype", types(), Need::optional, "Of all operands that have no field of their own."},
      {"accumulate", types()},
      {"args", Form::list(Form::text(), 1), Need::required,
       "What the function's parameters are, in order."},
      {"tunables", Form::map(Form::list(Form::scalar(), 1)), Need::optional,
       "Macros with their values: each combination is a kernel."},
      {"constraints",
       Form::either({Form::text(), Form::list(Form::either({Form::text(), Form::number()}))}),
       Need::optional, "Expressions over sizes and tunables that must hold."},
      {"alignment", multiples(words, kMaxAlignment, false), Need::optional, "Bytes."},
      {"workspace", size(), Need::optional, "Bytes that a launch needs."},
      {"prepare", prepare_form(), Need::optional, "The function that packs constants ahead."},
      {"divisibility", multiples(words, kMaxDivisibility, true)},
      {"targets", Form::texts(Form::text(), 1), Need::optional, "Instruction sets or GPUs."},
      {"epilogues", Form::texts()},
      {"deterministic", Form::truth()},
      {"error", error_bounds()},
      {"provider", Form::text(), Need::optional, "Who compiles it; else the file's ending says."},
      {"source", Form::text(), Need::required, "Relative to the manifest."},
      {"entry", Form::text(), Need::required, "The function, as it is declared."},
      {"flags", Form::texts(Form::text("^-.")), Need::optional, "Of the compiler."},
      {"specialised_on", Form::texts(), Need::optional, "Sizes that become macros."}};
  for (const auto& operand : words.operands)
    fields.push_back({operand.role, types(), Need::optional, "Its types."});
  if (words.has_layouts)
    fields.push_back({"layout", Form::texts(Form::text("^(any|[tn]+)$"), 1), Need::required,
                      "t (row-major) or n (column-major) for each operand; or any."});
  fields.push_back({"launch", launch_form(words), Need::optional, "Of device code."});
  return fields;
}

}  // namespace

// Operations that users define become known in the course of time, each by the file that says it.
const Form& kernel_form(const KernelWords& words) {
  static std::mutex mutex;
  static std::map<const KernelWords*, Form> forms;
  std::string name;
  for (const Operation* one : built_in_operations())
    if (!one->words().operands.empty() && find_words(one->name()) == &words) name = one->name();
  const std::scoped_lock lock(mutex);
  if (const auto found = forms.find(&words); found != forms.end()) return found->second;
  std::vector<std::string> all;  // Those that every problem has.
  for (const auto& operand : words.operands)
    if (!operand.optional) all.push_back(operand.role);
  Form form = Form::fields(kernel_fields(name, words));
  if (!all.empty()) form = form.with_any_of({{"dtype"}, all});
  return forms.emplace(&words, std::move(form)).first->second;
}

const Form& plugin_entry_form() {
  static const Form form =
      Form::fields({{"name", name_form()},
                    {"provider", Form::words({kPluginProvider}), Need::required},
                    {"source", Form::text(), Need::required, "The shared object."},
                    {"entry", Form::text(), Need::optional, "One of its kernels; else all."}});
  return form;
}

const Form& manifest_form() {
  static const Form form = [] {
    // One that does not name its provider is known by its ending.
    std::vector<Form> kinds = {
        plugin_entry_form(),
        Form::fields({{"name", name_form()},
                      {"source", Form::text("\\.so(\\.|$)"), Need::required},
                      {"entry", Form::text()}}),
        Form::fields({{"source", Form::text(), Need::required,
                       "A source whose own comment describes its kernels."}})};
    for (const Operation* operation : built_in_operations())
      kinds.push_back(kernel_form(*find_words(operation->name())));
    return Form::fields({{"kernels", Form::list(Form::either(kinds), 1), Need::required}});
  }();
  return form;
}

Json manifest_schema() {
  const Form& map = manifest_form();
  return file_schema("Kernels that a user brings (kernel_manifest.yaml)",
                     Form::either({map, map.at("kernels")}));
}

}  // namespace assay::input
