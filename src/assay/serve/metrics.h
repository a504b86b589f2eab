#pragma once

// What Prometheus and load generators read, under vLLM's names.

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "assay/net/http.h"
#include "assay/serve/answer_pieces.h"
#include "assay/serve/backend.h"

namespace assay::serve {

class Histogram {
 public:
  void add(double seconds);
  void append(std::string& out, std::string_view name, std::string_view labels) const;

 private:
  static constexpr std::array<double, 20> kBounds = {0.001, 0.0025, 0.005, 0.0075, 0.01, 0.02, 0.04,
                                                     0.06,  0.08,   0.1,   0.25,   0.5,  0.75, 1,
                                                     2.5,   5,      7.5,   10,     30,   60};
  std::array<std::int64_t, kBounds.size()> counts_{};  // Of values up to each bound, no lower one.
  std::int64_t count_ = 0;
  double sum_ = 0;
};

struct Metrics {
  Histogram first_token, between_tokens, whole;
  Usage usage;
  std::map<std::string, std::int64_t, std::less<>> endings;  // "stop", "length", "gone", ...

  std::string text(std::string_view model, const Load& load) const;
};

net::Response metrics_response(std::string text);

}  // namespace assay::serve
