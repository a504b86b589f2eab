#include "cli/lab/lab_place.h"

#include "assay/base/text.h"
#include "assay/lab/files/history_index.h"
#include "cli/own_environment.h"

namespace assay::cli {

void CaseFlag::declare(Flags& app) {
  app.add_option("--case", folder_, "The case's folder (default: the one that this folder is in)")
      .type_name("DIR");
}

Result<LabPlace> find_place(const std::string& folder) {
  const std::filesystem::path from = folder.empty() ? "." : folder;
  // A copy of a case, which an attempt runs in, lies in no lab.
  if (const auto root = environment_value("ASSAY_LAB");
      root && lab::find_upward(from, "lab.yaml").empty()) {
    ASSAY_TRY(lab::Lab lab, lab::read_lab(*root));
    ASSAY_TRY(lab::Case target, lab::read_case(lab, lab::find_upward(from, "case.yaml")));
    return LabPlace{std::move(lab), std::move(target)};
  }
  ASSAY_TRY(lab::Lab lab, lab::find_lab(from));
  ASSAY_TRY(lab::Case target, lab::find_case(lab, from));
  return LabPlace{std::move(lab), std::move(target)};
}

Result<LabPlace> find_place_or_lab(const std::string& folder) {
  const std::filesystem::path from = folder.empty() ? "." : folder;
  if (!folder.empty() || environment_value("ASSAY_LAB") ||
      !lab::find_upward(from, "case.yaml").empty())
    return find_place(folder);
  ASSAY_TRY(lab::Lab lab, lab::find_lab(from));
  lab::Case all;
  all.name = "the lab";
  all.folder = lab.root;
  all.notify = lab.notify;
  return LabPlace{std::move(lab), std::move(all)};
}

Result<lab::HistoryContent> history_of(const Context& context, const LabPlace& place) {
  return lab::read_history(place.runs(),
                           lab::index_file(context.settings.cache, place.target.folder));
}

void AttemptFlag::declare(Flags& app) {
  case_.declare(app);
  app.add_option("attempt", name_, "Its number, or the first letters of its id")
      .required()
      .type_name("ID");
}

Result<AttemptFlag::Found> AttemptFlag::find(const Context& context) const {
  ASSAY_TRY(LabPlace place, case_.find());
  ASSAY_TRY(lab::HistoryContent content, history_of(context, place));
  ASSAY_TRY(lab::Attempt attempt, find_attempt(content, name_));
  return Found{std::move(place), std::move(content), std::move(attempt)};
}

Result<lab::Attempt> find_attempt(const lab::HistoryContent& content, const std::string& name) {
  if (const lab::Attempt* found = content.find(name)) return *found;
  return fail(ErrorCode::not_found,
              "no attempt is called '{}': give its number, or the first letters of its id (`assay "
              "lab history` lists them)",
              sanitize(name, 80));
}

Result<AttemptRecord> load_record_of(const LabPlace& place, const lab::Attempt& attempt) {
  if (attempt.record.empty())
    return fail(ErrorCode::not_found, "attempt {} was interrupted, and left no record",
                attempt.seq);
  return load_attempt_record((place.runs() / attempt.record).string());
}

report::TextStyle style_of(const Console& console) {
  return {console.width_out(), console.colour_out()};
}

}  // namespace assay::cli
