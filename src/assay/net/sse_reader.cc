#include "assay/net/sse_reader.h"

namespace assay::net {
namespace {

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

}  // namespace

void SseReader::hold(std::string_view part) {
  if (line_.size() + part.size() + data_.size() > most_)
    refused_ = true;
  else
    line_.append(part);
}

bool SseReader::take_line(std::string_view line) {
  if (first_line_ && line.starts_with(kByteOrderMark)) line.remove_prefix(kByteOrderMark.size());
  first_line_ = false;
  if (line.empty()) {
    if (!has_data_) name_.clear();
    return has_data_;
  }
  const std::size_t colon = line.find(':');
  const std::string_view field = line.substr(0, colon);
  std::string_view value =
      colon == std::string_view::npos ? std::string_view() : line.substr(colon + 1);
  if (value.starts_with(' ')) value.remove_prefix(1);
  if (field == "event") name_ = value;
  if (field != "data") return false;
  if (data_.size() + value.size() > most_) {
    refused_ = true;
    return false;
  }
  if (has_data_) data_ += '\n';
  data_ += value;
  has_data_ = true;
  return false;
}

}  // namespace assay::net
