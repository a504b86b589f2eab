#include "assay/serve/stop_filter.h"

#include <algorithm>
#include <utility>

#include "assay/text/utf8.h"

namespace assay::serve {

// Where the longest end of what is held begins that a stop string could begin with.
std::size_t StopFilter::begin_of_stop() const {
  std::size_t least = held_.size();
  for (const std::string& stop : stops_) {
    for (std::size_t size = std::min(stop.size() - 1, held_.size()); size > 0; --size) {
      if (!std::string_view(held_).ends_with(std::string_view(stop).substr(0, size))) continue;
      least = std::min(least, held_.size() - size);
      break;
    }
  }
  return least;
}

std::string StopFilter::take(std::string_view bytes) {
  if (stopped_) return {};
  if (held_.empty() && stops_.empty() && text::whole_characters(bytes) == bytes.size())
    return std::string(bytes);
  held_.append(bytes);
  std::size_t found = std::string::npos;
  for (const std::string& stop : stops_) found = std::min(found, held_.find(stop));
  if (found != std::string::npos) {
    stopped_ = true;
    held_.resize(found);
    return std::exchange(held_, {});
  }
  const std::size_t tellable =
      text::whole_characters(std::string_view(held_).substr(0, begin_of_stop()));
  std::string told = held_.substr(0, tellable);
  held_.erase(0, tellable);
  return told;
}

std::string StopFilter::flush() { return std::exchange(held_, {}); }

}  // namespace assay::serve
