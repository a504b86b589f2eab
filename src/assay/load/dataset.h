#pragma once

// What is asked: a function of the seed and a number, so that every run with one seed asks the
// same.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/load/word_text.h"

namespace assay::load {

struct Turn {
  Json messages = Json::array();   // Added to what was said before.
  std::int64_t input_tokens = 0;   // Asked of the data set; 0: none in particular.
  std::int64_t output_tokens = 0;  // Likewise.
  double think_s = 0;              // After the answer before.
};

// Turns of one user, one after the other; a plain prompt is one turn.
using Conversation = std::vector<Turn>;

class Dataset {
 public:
  virtual ~Dataset() = default;
  virtual Conversation at(std::int64_t number) const = 0;
  // Seconds from the run's begin, of a trace; none where it has no times, or no such number.
  virtual std::optional<double> arrival_s(std::int64_t) const { return std::nullopt; }
  virtual std::int64_t size() const { return 0; }  // 0: no end.
  virtual Json description() const = 0;
};

// A number of tokens: mean and standard deviation of a normal law, or a uniform share around it.
struct Length {
  double mean = 0;
  double std = 0;
  double spread = 0;  // 0.2: uniform from 80 % to 120 %. Not with std.

  std::int64_t draw(const CounterRandom& random, std::uint64_t index) const;  // At least 1.
};

struct RandomOptions {
  Length input{512, 0, 0}, output{128, 0, 0};
  std::int64_t prefix_tokens = 0;  // That prompts have in common, before the input.
  std::int64_t prefix_pool = 1;    // So many prefixes, drawn.
};
std::unique_ptr<Dataset> random_dataset(const RandomOptions& options, WordText text,
                                        std::uint64_t seed);

// output_tokens: 0 lets the server choose.
std::unique_ptr<Dataset> fixed_dataset(const std::string& prompt, std::int64_t output_tokens);

// A file of lines of JSON: {"prompt": TEXT}, {"messages": [...]} or {"turns": [TEXT or {"content",
// "think_s"}]}, each with an optional "output_tokens"; used from the start again at its end.
Result<std::unique_ptr<Dataset>> jsonl_dataset(const std::string& path, std::int64_t output_tokens);

// {"timestamp": ms, "input_length", "output_length", "hash_ids"}: the blocks that prompts share
// have the same text. speed: 2 plays it twice as fast.
Result<std::unique_ptr<Dataset>> trace_dataset(const std::string& path, double speed, WordText text,
                                               std::uint64_t seed);

}  // namespace assay::load
