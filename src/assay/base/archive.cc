#include "assay/base/archive.h"

#include <fmt/format.h>

namespace assay {

void RecordWriter::set(const char* key, Json value) { json_[key] = std::move(value); }

std::optional<JsonField> RecordReader::find(const char* key) const {
  if (!status_) return std::nullopt;
  std::optional<JsonField> found = field_.find(key);
  if (found && found->is_null()) found.reset();
  return found;
}

std::optional<JsonField> RecordReader::at(const char* key) {
  if (!status_) return std::nullopt;
  if (fields_ == archive::Fields::exactly) named_.push_back(key);
  Result<JsonField> found = field_.at(key);
  if (found) return std::move(*found);
  status_ = fail(found.error());
  return std::nullopt;
}

Status RecordReader::status() const {
  // Each that was named is there: so many are there, or there are unknown ones.
  if (!status_ || fields_ == archive::Fields::some || field_.json().size() == named_.size())
    return status_;
  return field_.only_keys(named_);
}

namespace archive {
namespace {

Status check_size(const JsonField& field, std::size_t size, const Range& range,
                  std::string_view what) {
  if (size <= range.most) return {};
  return fail(field.error(ErrorCode::invalid_input,
                          fmt::format("may have {} {}, but has {}", range.most, what, size)));
}

}  // namespace

Status read_bool(const JsonField& field, bool& value) {
  ASSAY_TRY(value, field.as_bool());
  return {};
}

Status read_number(const JsonField& field, double& value, const Range& range) {
  ASSAY_TRY(value, field.as_double(range.min, range.max));
  return {};
}

Status read_text(const JsonField& field, std::string& value, const Range& range) {
  ASSAY_TRY(value, field.as_string());
  return check_size(field, value.size(), range, "bytes");
}

Result<std::int64_t> read_whole(const JsonField& field, const Range& range, std::int64_t lowest,
                                std::int64_t highest) {
  std::int64_t low = lowest, high = highest;
  if (range.min > static_cast<double>(low)) low = static_cast<std::int64_t>(range.min);
  if (range.min > 0 && range.min < 1) low = 1;
  if (range.max < static_cast<double>(high)) high = static_cast<std::int64_t>(range.max);
  return field.as_int64(low, high);
}

Result<std::vector<JsonField>> read_items(const JsonField& field, const Range& range) {
  if (field.json().is_array()) ASSAY_TRY(check_size(field, field.json().size(), range, "items"));
  return field.items();
}

Result<std::vector<std::pair<std::string, JsonField>>> read_members(const JsonField& field,
                                                                    const Range& range) {
  ASSAY_TRY(auto members, field.members());
  ASSAY_TRY(check_size(field, members.size(), range, "members"));
  return members;
}

}  // namespace archive
}  // namespace assay
