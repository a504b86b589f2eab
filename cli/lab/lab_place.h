#pragma once

// Which lab and case a command is about: those of the current folder, or --case.

#include <string>

#include "assay/lab/files/case_file.h"
#include "assay/lab/files/history.h"
#include "assay/lab/files/tree.h"
#include "assay/report/table.h"
#include "cli/command.h"

namespace assay::cli {

struct LabPlace {
  lab::Lab lab;
  lab::Case target;

  std::filesystem::path runs() const { return target.folder / "runs"; }
};

// Of this folder, or of the current one where it is empty.
Result<LabPlace> find_place(const std::string& folder);
// The same; where a lab and no case is found, the lab with what it says for all of its cases.
Result<LabPlace> find_place_or_lab(const std::string& folder);

// What was tried in the case, by its index.
Result<lab::HistoryContent> history_of(const Context& context, const LabPlace& place);

class CaseFlag {
 public:
  void declare(Flags& app);
  Result<LabPlace> find() const { return find_place(folder_); }
  Result<LabPlace> find_or_lab() const { return find_place_or_lab(folder_); }

 private:
  std::string folder_;
};

// Which attempt of a case a command is about.
class AttemptFlag {
 public:
  void declare(Flags& app);
  // The case, what was tried in it, and that attempt.
  struct Found {
    LabPlace place;
    lab::HistoryContent content;
    lab::Attempt attempt;
    lab::TreeStore trees() const { return lab::TreeStore(place.runs() / "objects"); }
  };
  Result<Found> find(const Context& context) const;

 private:
  CaseFlag case_;
  std::string name_;
};

// The attempt of that name (lab/files/history.h); not_found says what names one.
Result<lab::Attempt> find_attempt(const lab::HistoryContent& content, const std::string& name);

// The record of an attempt; not_found where it left none.
Result<AttemptRecord> load_record_of(const LabPlace& place, const lab::Attempt& attempt);

report::TextStyle style_of(const Console& console);

}  // namespace assay::cli
