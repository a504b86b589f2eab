#pragma once

// A climb as a drawing: what each attempt measured, and the best kept so far. Of no script, no font
// but the reader's, and no text that is not escaped.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "assay/record/attempt.h"

namespace assay::report {

struct AttemptPoint {
  std::int64_t seq = 0;
  std::optional<double> value;  // Of the objective; none where it was not measured.
  AttemptOutcome outcome = AttemptOutcome::interrupted;
  bool baseline = false;
  bool moves_best = false;  // It was kept, and is what later ones are held against.
  std::string run_tag, label;
  // Of guardrails that were judged: the ratio's one-sided bound, above 1 where nothing is lost, and
  // by how much it may be below.
  struct Guardrail {
    std::string metric;
    double low = 1, tolerance = 0;
    bool holds = true;
  };
  std::vector<Guardrail> guardrails;
};

struct AttemptPlot {
  std::string title, metric, unit;
  bool minimize = true;
  double noise = 0;  // The smallest gain that could be kept, as a fraction; 0: not known.
  std::string cost;  // A sentence; empty: nobody says what turns cost.
  std::vector<AttemptPoint> points;
};

// A whole SVG file.
std::string attempt_svg(const AttemptPlot& plot);

}  // namespace assay::report
