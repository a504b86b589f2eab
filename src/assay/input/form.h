#pragma once

// What a user's file may hold, said once: its reader takes the names of its fields from here, and
// its JSON Schema (draft 2020-12) is written from here. A test spoils sample files, and asks
// whether reader and schema agree on each.

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/base/json.h"
#include "assay/input/yaml.h"

namespace assay::input {

struct FormField;

// The form of one value.
class Form {
 public:
  static Form any();
  static Form text();
  static Form text(const std::string& pattern);  // As ECMA-262 has regular expressions.
  static Form words(std::vector<std::string> words);
  static Form truth();
  static Form integer(std::optional<std::int64_t> least = {},
                      std::optional<std::int64_t> most = {});
  static Form number(std::optional<double> least = {}, std::optional<double> most = {});
  static Form scalar();  // A text, a number, true or false.
  static Form list(const Form& item, std::size_t least = 0);
  static Form texts(const Form& item = text(), std::size_t least = 0);  // A list, or one alone.
  static Form map(const Form& value);                                   // Names are the user's.
  static Form either(const std::vector<Form>& forms);
  // These fields and no others.
  static Form fields(std::vector<FormField> fields);

  // The same, with all fields of one of these sets there at least; or of one and no other.
  Form with_any_of(const std::vector<std::vector<std::string>>& sets) const;
  Form with_one_of(const std::vector<std::vector<std::string>>& sets) const;

  // Of fields: their names, in the order in which they were said.
  const std::vector<std::string>& names() const { return names_; }
  // The form of the field of this name, which must be there.
  const Form& at(std::string_view name) const;
  // Of a list or a map: the form of what it holds.
  const Form& item() const { return forms_.front(); }

  const Json& schema() const { return schema_; }

 private:
  explicit Form(Json schema) : schema_(std::move(schema)) {}
  Form holding(const Form& item) &&;
  Form with_sets(const char* word, const std::vector<std::vector<std::string>>& sets) const;

  Json schema_;
  std::vector<std::string> names_;
  std::vector<Form> forms_;
};

enum class Need : bool { optional, required };

struct FormField {
  std::string name;
  Form form;
  Need need = Need::optional;
  std::string help = {};  // A sentence for the schema's readers; may be empty.
};

// An error on the first field that is not of this form, naming the nearest. `but`: fields of the
// form that are not there in this case.
Status only(const YamlField& field, const Form& form,
            std::initializer_list<std::string_view> but = {});

// The schema of a whole file.
Json file_schema(std::string_view title, const Form& form);

}  // namespace assay::input
