#pragma once

// Labs and cases are stamped from folders of templates: a lab's own under templates/, or those in
// the program. `{{assay.name}}` in YAML and markdown stands for what was asked for; all other files
// are copied as they are.

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/result.h"

namespace assay::lab {

using TemplateValues = std::map<std::string, std::string>;

struct TemplateFile {
  std::string path;  // In the folder that is made.
  std::string text;
};

// Of a folder in the program ("lab", "kernel_hillclimb_case"), or of `own`/name where that is
// there. not_found names those that there are.
Result<std::vector<TemplateFile>> read_template(const std::filesystem::path& own,
                                                std::string_view name);

// The text with its markers replaced; a marker without a value is an error with file and line.
Result<std::string> fill_template(const TemplateFile& file, const TemplateValues& values);

// Writes all of them below `folder`; programs (of which the first line begins with #!) can be run.
// Where any is there already nothing is written: the error names it.
Status stamp(const std::vector<TemplateFile>& files, const TemplateValues& values,
             const std::filesystem::path& folder);

// A name of a case or model: small letters, digits, _ and -, not more than 80.
Status check_slug(std::string_view flag, std::string_view slug);

// A text as YAML takes it between double quotes.
std::string yaml_quoted(std::string_view text);

}  // namespace assay::lab
