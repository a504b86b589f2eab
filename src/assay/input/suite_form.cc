// A suite's file: its own fields, and those of an operation's shapes.

#include <algorithm>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "assay/input/forms.h"
#include "assay/input/schemas.h"
#include "assay/input/shape_fields.h"

namespace assay::input {
namespace {

Form form_of(const FieldRule& rule) {
  switch (rule.kind) {
    case FieldRule::Kind::integer: {
      const auto [min, max] = bounds(rule);
      return rule.min < rule.max ? Form::integer(min, max) : Form::integer();
    }
    case FieldRule::Kind::number:
      return Form::number();
    case FieldRule::Kind::text_list:
      return Form::texts();
    case FieldRule::Kind::text:
    case FieldRule::Kind::dtype:
      return rule.name == "name" ? name_form() : Form::text();
  }
  return Form::any();
}

Form shape_form(const Operation& operation, bool named) {
  std::vector<FormField> fields;
  for (const FieldRule& rule : shape_rules(operation)) {
    if (rule.name == "name" && !named) continue;
    // Others may come from `defaults`, or from the name.
    fields.push_back({rule.name, form_of(rule), Need::optional, rule.help});
  }
  return Form::fields(std::move(fields));
}

}  // namespace

Form name_form() { return Form::text("^[A-Za-z0-9_.-]{1,200}$"); }

// Operations that users define become known in the course of time, each by the file that says it.
const Form& suite_form(const Operation& operation) {
  static std::mutex mutex;
  static std::map<std::string, Form, std::less<>> forms;
  const std::string name(operation.name());
  const bool is_built_in =
      std::ranges::find(built_in_operations(), &operation) != built_in_operations().end() &&
      !operation.words().operands.empty();
  const Need named = name == default_operation() ? Need::optional : Need::required;
  const std::scoped_lock lock(mutex);
  if (const auto found = forms.find(name); found != forms.end()) return found->second;
  Form form =
      Form::fields({{"suite", name_form(), Need::required, "Its name in records and reports."},
                    {"operation", is_built_in ? Form::words({name}) : Form::text(), named,
                     "What its shapes compute."},
                    {"defaults", shape_form(operation, false), Need::optional,
                     "Fields of each shape that does not say them itself."},
                    {"shapes", Form::list(shape_form(operation, true), 1), Need::required}});
  return forms.emplace(name, std::move(form)).first->second;
}

Json suite_schema() {
  std::vector<Form> forms;
  for (const Operation* operation : built_in_operations()) forms.push_back(suite_form(*operation));
  return file_schema("A suite of shapes (shapes/*.yaml)",
                     forms.size() == 1 ? forms.front() : Form::either(forms));
}

}  // namespace assay::input
