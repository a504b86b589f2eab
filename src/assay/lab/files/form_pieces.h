#pragma once

// Forms that several of a lab's files have. Private to this folder; read_yaml_fields.h has the
// functions that read them.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assay/input/form.h"

namespace assay::lab {

using input::Form;
using input::Need;

// Bounds that readers and forms share.
inline constexpr double kLeastSeconds = 0.001, kMostSeconds = 7 * 86400;
inline constexpr int kMostHoldoutDraws = 64;
inline constexpr int kFewestPairs = 6, kMostPairs = 1024;  // Of a look.
inline constexpr std::int64_t kMostSeed = 1 << 30;
inline constexpr std::int64_t kMostDiskMib = 1 << 30;

// text_at(): text that is not blank.
inline Form filled_text() { return Form::text("\\S"); }
// check_schema().
inline Form schema_word(const std::string& word) { return Form::words({word}); }
// seconds_or(), as_fraction(), as_direction(), as_inner_path(), as_environment().
Form seconds_form();
Form share_form();
Form direction_form();
Form inner_path_form();
Form environment_form();

inline Form words_form(std::span<const std::string_view> words) {
  return Form::words(std::vector<std::string>(words.begin(), words.end()));
}

}  // namespace assay::lab
