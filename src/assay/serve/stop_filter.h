#pragma once

// What of a job's bytes a client may see: nothing of a stop string, and only whole characters.

#include <string>
#include <string_view>
#include <vector>

namespace assay::serve {

class StopFilter {
 public:
  StopFilter() = default;
  explicit StopFilter(std::vector<std::string> stops) : stops_(std::move(stops)) {}

  // What can be told now. Bytes that may be the begin of a stop string, or of a character, are
  // held.
  std::string take(std::string_view bytes);
  std::string flush();  // The rest, at the end. Nothing once stopped.
  bool stopped() const { return stopped_; }

 private:
  std::size_t begin_of_stop() const;

  std::vector<std::string> stops_;
  std::string held_;
  bool stopped_ = false;
};

}  // namespace assay::serve
