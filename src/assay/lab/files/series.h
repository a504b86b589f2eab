#pragma once

// What must stay the same for attempts to be compared with one another.

#include <string>
#include <string_view>

#include "assay/lab/files/case_file.h"
#include "assay/lab/files/tree.h"

namespace assay::lab {

struct Series {
  std::string id;                 // Of all of it: 16 digits.
  std::string fixed_hash;         // Of case.yaml and of what gates or scores.
  std::string model_fingerprint;  // Empty where there is no model.
};

// Where the model lies: relative to the lab.
std::filesystem::path model_folder(const Lab& lab, const Case& target);

// Of the names and sizes of the model's files, of small ones whole and of large ones their ends:
// a model of 100 GB is told from another in a second. Empty where there is nothing.
Result<std::string> model_fingerprint(const std::filesystem::path& path);

// `tree`: of the whole case.
Result<Series> series_of(const Lab& lab, const Case& target, const Tree& tree,
                         std::string_view device);

// The part of a case's tree that gates or scores.
bool is_fixed(const Case& target, std::string_view path);
Tree fixed_part(const Case& target, const Tree& tree);
Tree workspace_part(const Tree& tree);

}  // namespace assay::lab
