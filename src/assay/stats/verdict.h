#pragma once

// The one place that says "faster" of an interval. compare, sweep and lab call judge(); besides it
// only record/bounds.h says the words, where too few rounds were clean for an interval.

#include <limits>
#include <span>
#include <string>
#include <string_view>

#include "assay/base/result.h"
#include "assay/stats/interval.h"
#include "assay/stats/paired.h"

namespace assay::stats {

enum class Word { faster, slightly_faster, same, slightly_slower, slower, unsure };

// "faster", "slightly faster", "same", "slightly slower", "slower", "unsure".
std::string_view to_string(Word word);
Result<Word> parse_word(std::string_view text);

struct JudgeOptions {
  double margin = 0.01;  // The difference that matters, as a fraction: 0.01 is 1 %.
  double confidence = kConfidence;
  int min_processes = kMinProcesses;
  // What all processes of one run may share, and their spread therefore cannot show: one standard
  // deviation of a log ratio. On a CPU two mappings of one library differ by that
  // (kCpuSystematicError in sweep.h).
  double systematic = 0;
  // Of the processes' means, the share cut at each end: 0 where each is a mean of its own rounds.
  double trim_fraction = 0;
};

// All ratios are time of the other over time of the candidate: above 1 the candidate is faster.
struct Verdict {
  Word word = Word::unsure;
  // exp of the mean over the processes; 1 where no process gave a mean.
  double ratio = 1;
  // The interval; 0 to infinity where there is none (has_interval() is false): such ends are
  // written as null.
  double low = 0;
  double high = std::numeric_limits<double>::infinity();
  double margin = 0;      // As given to judge().
  double systematic = 0;  // Likewise.
  // The smallest difference (a fraction, as the margin) that a run with this spread would find
  // clear of 0 in about three runs of four; infinite where there is no interval. It is the usual
  // sum of the two quantiles of t, which promises four of five; over six or seven processes, whose
  // spread comes out low more often than high, 72 to 77 % are simulated.
  double smallest_detectable = std::numeric_limits<double>::infinity();
  int processes = 0;   // Processes that gave a mean.
  std::string reason;  // Why it is unsure: a sentence; empty for every other word.

  bool has_interval() const;
  // One end alone: the difference is at least that. `low` of `faster`, `high` of `slower`.
  bool is_bound() const;
};

// The interval is Student's over the processes' means, widened in quadrature by as many standard
// deviations of what they share as the confidence asks of a normal error. With L = log(1 + margin)
// and the interval of the log ratios:
//   faster           the low end lies above L        slower           the high end lies below -L
//   slightly faster  above 0, not beyond L           slightly slower  below 0, not beyond -L
//   same             holds 0 and lies within -L..L   unsure           everything else
// Options out of range (margin <= 0, confidence outside 0..1, under two processes, a systematic
// error below 0) give `unsure`.
Verdict judge(std::span<const ProcessMean> processes, const JudgeOptions& options = {});

// What a systematic error (JudgeOptions) alone takes of an interval to either side, in log ratio.
double shared_half_width(double systematic, double confidence = kConfidence);

// From the strongest claim to the weakest: faster, slightly faster, same, unsure, slightly slower,
// slower. `unsure` stands above the slower words because those are certain: being shown slower than
// one stock kernel means being slower than the best, whatever else is unknown.
Word weakest(Word first, Word second);

// "Against the best stock" over every confirmed stock kernel: the verdict with the weakest word,
// and among equals the one with the lowest low end, or if both are bounds the lowest. `unsure`
// where there is none.
Verdict weakest(std::span<const Verdict> verdicts);

}  // namespace assay::stats
