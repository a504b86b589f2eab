// A file by which a user defines an operation.

#include <string>
#include <vector>

#include "assay/input/forms.h"
#include "assay/input/schemas.h"
#include "assay/op/user/definition.h"

namespace assay::input {
namespace {

Form operand_form() {
  return Form::fields(
      {{"dimensions", Form::texts(Form::text(), 1), Need::required, "Outermost first."},
       {"dtype", Form::texts(Form::text(), 1), Need::required,
        "One type, or several to choose of."},
       {"output", Form::truth(), Need::optional, "True of one operand."}});
}

Form input_kinds() {
  std::vector<std::string> words;
  for (const InputKind kind : user::known_inputs()) words.emplace_back(to_string(kind));
  return Form::texts(Form::words(std::move(words)));
}

}  // namespace

const Form& tolerance_form() {
  static const Form form =
      Form::fields({{"relative", Form::number()}, {"absolute", Form::number()}})
          .with_any_of({{"relative"}, {"absolute"}});
  return form;
}

const Form& operation_form() {
  static const Form form = Form::fields(
      {{"operation", Form::text("^[A-Za-z0-9_.-]{1,60}$"), Need::required, "Its name for people."},
       {"dimensions", Form::texts(Form::text(), 1), Need::required,
        "The sizes that a shape gives."},
       {"operands", Form::map(operand_form()), Need::required, "By name; one is the output."},
       {"scalars", Form::map(Form::number()), Need::optional, "Numbers with their defaults."},
       {"flops", Form::either({Form::text(), Form::number()}), Need::optional,
        "The least arithmetic of one launch, as an expression of dimensions."},
       {"tolerance", Form::either({tolerance_form(), Form::map(tolerance_form())}), Need::required,
        "An element is right within absolute + relative * |expected|; for all types of the output, "
        "or by type."},
       {"inputs", input_kinds(), Need::optional, "Kinds of inputs; else all."},
       {"reference", Form::text(R"(^[^:]+\.(cc|cpp|cxx|C|py)(::.*)?$)"), Need::required,
        "FILE::FUNCTION beside this file: it says what is right."},
       {"python", Form::text(), Need::optional, "The interpreter of a reference in Python."}});
  return form;
}

Json operation_schema() {
  return file_schema("An operation that a user defines (*.op.yaml)", operation_form());
}

}  // namespace assay::input
