#pragma once

// What suites and --shape share: the fields that a shape may have, and names that carry sizes. Not
// for use outside this folder.

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/op/operation.h"

namespace assay::input {

// The operation's fields, and name, role and weight where it does not list them itself.
std::vector<FieldRule> shape_rules(const Operation& operation);
const FieldRule* find_rule(const std::vector<FieldRule>& rules, std::string_view name);
std::vector<std::string> rule_names(const std::vector<FieldRule>& rules);

// Inclusive bounds of an integer field; without bounds of its own, any int64.
std::pair<int64_t, int64_t> bounds(const FieldRule& rule);

// What is wrong with a text as this field's value, or nothing.
std::optional<std::string> text_problem(const FieldRule& rule, std::string_view text);

// {"m", 4}, {"n", 4096} of decode_mlp_m4_n4096: a part between _ . or - that is an integer field's
// name and digits. l stands for batch.
std::vector<std::pair<std::string, int64_t>> sizes_in_name(std::string_view name,
                                                           const std::vector<FieldRule>& rules);

// Adds sizes that only the name has, and refuses those that disagree with a field; the error is a
// bare sentence.
Result<Json> with_sizes_of_name(Json fields, const std::vector<FieldRule>& rules);

// An operation's error "k: ..." taken apart; field is empty where it begins with none.
struct FieldError {
  std::string field, sentence;
};
FieldError take_apart(std::string_view message, const std::vector<FieldRule>& rules);

}  // namespace assay::input
