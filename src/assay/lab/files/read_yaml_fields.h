#pragma once

// What several kinds of a lab's files hold.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "assay/input/yaml.h"

namespace assay::lab {

enum class Direction { minimize, maximize };
std::string_view to_string(Direction direction);

// The file is of this schema: "assay.case/1".
Status check_schema(const input::YamlField& root, std::string_view schema);

Result<std::string> text_at(const input::YamlField& field, std::string_view key);
// Absent: `otherwise`.
Result<std::string> text_or(const input::YamlField& field, std::string_view key,
                            std::string otherwise);
Result<std::vector<std::string>> texts_or_none(const input::YamlField& field, std::string_view key);
Result<double> seconds_or(const input::YamlField& field, std::string_view key, double otherwise);

// "0.5%", or 0.005: not below 0, at most 1.
Result<double> as_fraction(const input::YamlField& field);
Result<Direction> as_direction(const input::YamlField& field);
// A path that stays within the folder of its file: relative, and without "..".
Result<std::string> as_inner_path(const input::YamlField& field);
// NAME: text, number or truth, as a child's environment has it.
Result<std::map<std::string, std::string>> as_environment(const input::YamlField& field);

}  // namespace assay::lab
