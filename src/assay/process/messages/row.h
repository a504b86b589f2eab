#pragma once

// Structs of numbers that are told with each burst: their fields as a list, in the order of their
// description, since keys would take longer to write and to read than what they name. Private to
// messages/.

#include <cstddef>
#include <utility>
#include <vector>

#include "assay/base/archive.h"

namespace assay::process {

class RowWriter {
 public:
  template <class T>
  void operator()(const char*, const T& value, archive::Range = archive::kAny) {
    row_.push_back(archive::write_any(value));
  }
  Json take() { return std::move(row_); }

 private:
  Json row_ = Json::array();
};

class RowReader {
 public:
  explicit RowReader(const JsonField& field) : field_(field) {
    auto fields = field.items();
    if (fields)
      fields_ = std::move(*fields);
    else
      status_ = fail(std::move(fields).error());
  }

  template <class T>
  void operator()(const char* key, T& value, archive::Range range = archive::kAny) {
    if (!status_) return;
    if (next_ == fields_.size())
      status_ = fail(field_.error(ErrorCode::invalid_input, fmt::format("lacks its {}", key)));
    else
      status_ = archive::read_any(fields_[next_++], value, range, archive::Fields::exactly);
  }
  Status status() const {
    if (!status_ || next_ == fields_.size()) return status_;
    return fail(field_.error(ErrorCode::invalid_input, "is longer than it may be"));
  }

 private:
  const JsonField& field_;
  std::vector<JsonField> fields_;
  size_t next_ = 0;
  Status status_;
};

template <class T>
Json write_row(const T& value) {
  RowWriter writer;
  describe(writer, value);
  return writer.take();
}

template <class T>
Status read_row(const JsonField& field, T& value) {
  RowReader reader(field);
  describe(reader, value);
  return reader.status();
}

}  // namespace assay::process
