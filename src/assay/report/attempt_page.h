#pragma once

// A climb as one self-contained page: the drawing, where it stands, and each attempt with its
// patch folded.

#include <string>
#include <vector>

#include "assay/record/attempt.h"
#include "assay/report/attempt_plot.h"
#include "assay/report/table.h"

namespace assay::report {

struct AttemptEntry {
  std::int64_t seq = 0;
  std::string outcome, family, description, hypothesis, reason;
  std::string value;  // Of the objective, with its unit; empty: not measured.
  std::string claim;  // "+3.2 % [2.1, 4.3]"; empty: none.
  std::string patch;  // Against its parent; empty: none is kept.
  Tone tone = Tone::plain;
};

struct AttemptPage {
  AttemptPlot plot;
  std::vector<std::string> standing;   // Sentences: best state, noise, attempts.
  std::vector<AttemptEntry> attempts;  // Oldest first.
};

std::string attempt_html(const AttemptPage& page);

}  // namespace assay::report
