#include "assay/lab/files/lab_file.h"

#include "assay/base/text.h"
#include "assay/lab/files/forms.h"
#include "assay/lab/files/read_yaml_fields.h"

namespace assay::lab {

std::filesystem::path find_upward(const std::filesystem::path& from, const char* name) {
  std::error_code failed;
  std::filesystem::path folder = std::filesystem::weakly_canonical(from, failed);
  for (;; folder = folder.parent_path()) {
    if (std::filesystem::is_regular_file(folder / name, failed)) return folder;
    if (!folder.has_relative_path()) return {};
  }
}

Result<Lab> find_lab(const std::filesystem::path& from) {
  const std::filesystem::path root = find_upward(from, "lab.yaml");
  if (root.empty())
    return fail(ErrorCode::not_found,
                "no folder from '{}' upward holds a lab.yaml; `assay lab init` makes a lab here",
                sanitize(from.string(), 300));
  return read_lab(root);
}

Result<Lab> read_lab(const std::filesystem::path& root) {
  ASSAY_TRY(const auto file, input::read_yaml(root / "lab.yaml"));
  ASSAY_TRY(only(file, lab_form()));
  ASSAY_TRY(check_schema(file, "assay.lab/1"));
  Lab lab;
  lab.root = root;
  ASSAY_TRY(lab.device, text_or(file, "device", ""));
  ASSAY_TRY(const auto cases, file.find("cases_dir"));
  if (cases) {
    ASSAY_TRY(lab.cases_folder, as_inner_path(*cases));
  }
  ASSAY_TRY(lab.store, text_or(file, "store", ""));
  ASSAY_TRY(lab.notify, read_notify_rules(file, {}));
  return lab;
}

}  // namespace assay::lab
