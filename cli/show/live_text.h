#pragma once

// The live view's text: pure, so that tests can read it.

#include <string>
#include <vector>

#include "assay/record/ceilings.h"
#include "assay/sweep/sweep.h"

namespace assay::cli {

struct LiveState {
  std::string title;      // "assay sweep  transformer_cpu"
  std::string machine;    // "Intel Xeon, 1 thread"
  std::string condition;  // Of the current problem: "weights cold, back to back, plain"
  size_t problems = 0;
  size_t done = 0;      // Problems with an ending.
  double progress = 0;  // Of all problems, 0 .. 1.
  double elapsed = 0;   // Seconds.
  double left = 0;      // Estimated seconds; 0: not known yet.

  std::string shape;                       // The current problem's name; empty before the first.
  std::string stage;                       // "prove", "race, round 9" ...
  std::string doing;                       // "12 of 61: native_cpu/...", may be empty.
  std::vector<sweep::Standing> standings;  // Best first; empty while nobody races.
  // What rates and shares are of; the ceiling may be unknown yet.
  double flops = 0, bytes = 0;
  Roof roof;

  std::int64_t refused = 0, wrong = 0, crashed = 0, dropped = 0;
  std::string last_fall;  // "mine/skinny: wrong: ...": the latest kernel that fell; may be empty.
  std::string load;       // "load 0.41", "governor performance" ...
};

// Lines of at most `width` columns, at most `height` of them, each with a newline. Text from
// outside is sanitized.
std::string live_text(const LiveState& state, int width, int height);

// "0:41", "1:02:03".
std::string clock_text(double seconds);

// "[=======>------]": `columns` wide with the brackets.
std::string bar_text(double share, int columns);

// An interval on a line from `first` to `last`: "   |--o--|". Ends outside are cut.
std::string interval_text(double low, double middle, double high, double first, double last,
                          int columns);

}  // namespace assay::cli
