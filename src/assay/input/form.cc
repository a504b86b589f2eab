#include "assay/input/form.h"

#include <algorithm>

namespace assay::input {

Form Form::any() { return Form(Json::object()); }
Form Form::text() { return Form(Json{{"type", "string"}}); }
Form Form::text(const std::string& pattern) {
  return Form(Json{{"type", "string"}, {"pattern", pattern}});
}
Form Form::words(std::vector<std::string> words) {
  return Form(Json{{"type", "string"}, {"enum", std::move(words)}});
}
Form Form::truth() { return Form(Json{{"type", "boolean"}}); }

Form Form::integer(std::optional<std::int64_t> least, std::optional<std::int64_t> most) {
  Json schema = {{"type", "integer"}};
  if (least) schema["minimum"] = *least;
  if (most) schema["maximum"] = *most;
  return Form(std::move(schema));
}

Form Form::number(std::optional<double> least, std::optional<double> most) {
  Json schema = {{"type", "number"}};
  if (least) schema["minimum"] = *least;
  if (most) schema["maximum"] = *most;
  return Form(std::move(schema));
}

Form Form::scalar() { return Form(Json{{"type", {"string", "number", "boolean"}}}); }

Form Form::list(const Form& item, std::size_t least) {
  Json schema = {{"type", "array"}, {"items", item.schema_}};
  if (least > 0) schema["minItems"] = least;
  return Form(std::move(schema)).holding(item);
}

Form Form::holding(const Form& item) && {
  forms_ = {item};
  return std::move(*this);
}

Form Form::texts(const Form& item, std::size_t least) { return either({item, list(item, least)}); }

Form Form::map(const Form& value) {
  return Form(Json{{"type", "object"}, {"additionalProperties", value.schema_}}).holding(value);
}

Form Form::either(const std::vector<Form>& forms) {
  Json any = Json::array();
  for (const Form& form : forms) any.push_back(form.schema_);
  return Form(Json{{"anyOf", std::move(any)}});
}

Form Form::fields(std::vector<FormField> fields) {
  Json properties = Json::object(), required = Json::array();
  Form form(Json::object());
  for (FormField& field : fields) {
    Json& schema = properties[field.name] = field.form.schema_;
    if (!field.help.empty()) schema["description"] = field.help;
    if (field.need == Need::required) required.push_back(field.name);
    form.names_.push_back(field.name);
    form.forms_.push_back(std::move(field.form));
  }
  form.schema_ = {
      {"type", "object"}, {"properties", std::move(properties)}, {"additionalProperties", false}};
  if (!required.empty()) form.schema_["required"] = std::move(required);
  return form;
}

Form Form::with_sets(const char* word, const std::vector<std::vector<std::string>>& sets) const {
  Form form = *this;
  for (const std::vector<std::string>& set : sets)
    form.schema_[word].push_back(Json{{"required", set}});
  return form;
}

Form Form::with_any_of(const std::vector<std::vector<std::string>>& sets) const {
  return with_sets("anyOf", sets);
}

Form Form::with_one_of(const std::vector<std::vector<std::string>>& sets) const {
  return with_sets("oneOf", sets);
}

const Form& Form::at(std::string_view name) const {
  const auto found = std::find(names_.begin(), names_.end(), name);
  return forms_[static_cast<std::size_t>(found - names_.begin())];
}

Status only(const YamlField& field, const Form& form, std::initializer_list<std::string_view> but) {
  std::vector<std::string> names = form.names();
  std::erase_if(names, [&](const std::string& name) {
    return std::find(but.begin(), but.end(), name) != but.end();
  });
  return field.only(names);
}

Json file_schema(std::string_view title, const Form& form) {
  Json schema = form.schema();
  schema["$schema"] = "https://json-schema.org/draft/2020-12/schema";
  schema["title"] = std::string(title);
  return schema;
}

}  // namespace assay::input
