#pragma once

// The design of a row: named attributes such as tile_m, stages or threads. 100,000 rows of a family
// are choices from one set of axes, so a row is a shared pointer to the axes and a number.

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/base/expression.h"

namespace assay {

// One or more attributes that are chosen together: {"tile_m"} with {{32}, {16}}, or a preset of
// {"tile_m", "tile_n"} with {{32, 32}, {16, 8}}.
struct DesignAxis {
  std::vector<std::string> names;
  std::vector<std::vector<Value>> choices;  // One value per name in each.
};

// All choices of some axes, numbered with the last axis changing fastest. Never changes.
class DesignAxes {
 public:
  // Names must differ and every choice must have one value per name; what does not fit is a defect
  // of the family, and the axes are then empty of rows (valid() says so).
  explicit DesignAxes(std::vector<DesignAxis> axes);

  bool valid() const { return valid_; }
  uint64_t rows() const { return rows_; }  // 1 without axes. At most 2^32; more makes it not valid.
  size_t columns() const { return columns_.size(); }
  const std::string& name(size_t column) const { return columns_[column].name; }
  const Value& value(size_t column, uint64_t row) const {
    const Column& at = columns_[column];
    return at.values[at.values.size() == 1 ? 0 : row / at.stride % at.values.size()];
  }
  // columns() if there is none of that name.
  size_t column(std::string_view name) const;

 private:
  struct Column {
    std::string name;
    std::vector<Value> values;
    uint64_t stride = 1;
  };
  std::vector<Column> columns_;
  uint64_t rows_ = 1;
  bool valid_ = true;
};

// Attributes in a fixed order. Cheap to copy.
class Design {
 public:
  Design() = default;
  Design(std::initializer_list<std::pair<std::string_view, Value>> entries);
  Design(std::shared_ptr<const DesignAxes> axes, uint64_t row)
      : axes_(std::move(axes)), row_(row) {}

  // Changes or appends. Makes axes of its own: fine for a few rows, a DesignSpace is for many.
  void set(std::string_view name, Value value);
  const Value* find(std::string_view name) const;

  // For predicates: design["tile_m"] == 32 is false when there is no tile_m.
  struct Entry {
    const Value* value;
    bool operator==(int64_t other) const;
    bool operator==(int other) const { return *this == static_cast<int64_t>(other); }
    bool operator==(double other) const;
    bool operator==(std::string_view other) const;
    bool operator==(const char* other) const { return *this == std::string_view(other); }
    bool operator==(bool other) const;
  };
  Entry operator[](std::string_view name) const { return {find(name)}; }
  int64_t integer(std::string_view name, int64_t fallback) const;
  std::string_view text(std::string_view name, std::string_view fallback) const;
  bool truth(std::string_view name, bool fallback) const;

  size_t size() const { return axes_ ? axes_->columns() : 0; }
  std::pair<const std::string&, const Value&> operator[](size_t index) const {
    return {axes_->name(index), axes_->value(index, row_)};
  }

  // for (const auto& [name, value] : design)
  class Iterator {
   public:
    using difference_type = std::ptrdiff_t;
    using value_type = std::pair<const std::string&, const Value&>;
    using iterator_category = std::input_iterator_tag;
    using reference = value_type;
    using pointer = void;
    Iterator(const Design* design, size_t index) : design_(design), index_(index) {}
    value_type operator*() const { return (*design_)[index_]; }
    Iterator& operator++() {
      ++index_;
      return *this;
    }
    Iterator operator++(int) {
      Iterator was = *this;
      ++index_;
      return was;
    }
    bool operator==(const Iterator& other) const { return index_ == other.index_; }

   private:
    const Design* design_;
    size_t index_;
  };
  Iterator begin() const { return {this, 0}; }
  Iterator end() const { return {this, size()}; }

  // Same names, same values, same order.
  bool operator==(const Design& other) const;

  const std::shared_ptr<const DesignAxes>& axes() const { return axes_; }
  uint64_t row() const { return row_; }
  void select(uint64_t row) { row_ = row; }  // Another row of the same axes.

 private:
  std::shared_ptr<const DesignAxes> axes_;  // Null: no attributes.
  uint64_t row_ = 0;
};

}  // namespace assay
