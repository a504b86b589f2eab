#include "assay/kernel/design.h"

#include <algorithm>

namespace assay {
namespace {

constexpr uint64_t kMostRows = uint64_t{1} << 32;

using Entries = std::vector<std::pair<std::string, Value>>;

void put(Entries& entries, std::string_view name, Value value) {
  for (auto& [known, old] : entries) {
    if (known == name) {
      old = std::move(value);
      return;
    }
  }
  entries.emplace_back(name, std::move(value));
}

std::shared_ptr<const DesignAxes> single_row(Entries entries) {
  std::vector<DesignAxis> axes;
  axes.reserve(entries.size());
  for (auto& [name, value] : entries) axes.push_back({{std::move(name)}, {{std::move(value)}}});
  return std::make_shared<const DesignAxes>(std::move(axes));
}

}  // namespace

DesignAxes::DesignAxes(std::vector<DesignAxis> axes) {
  uint64_t stride = 1;
  // From the last axis, whose rows are neighbours, to the first.
  for (auto at = axes.rbegin(); at != axes.rend(); ++at) {
    const size_t choices = at->choices.size();
    for (size_t column = at->names.size(); column-- > 0;) {
      Column made{std::move(at->names[column]), {}, stride};
      made.values.reserve(choices);
      for (std::vector<Value>& choice : at->choices) {
        if (column >= choice.size()) valid_ = false;
        if (column < choice.size()) made.values.push_back(std::move(choice[column]));
      }
      columns_.push_back(std::move(made));
    }
    for (const std::vector<Value>& choice : at->choices) {
      if (choice.size() != at->names.size()) valid_ = false;
    }
    rows_ = rows_ * choices;
    if (rows_ > kMostRows || choices > kMostRows) valid_ = false;
    if (!valid_) break;
    stride *= std::max<size_t>(choices, 1);
    if (stride > kMostRows) valid_ = false;
    if (!valid_) break;
  }
  std::reverse(columns_.begin(), columns_.end());
  for (size_t column = 0; column < columns_.size(); ++column) {
    if (this->column(columns_[column].name) != column || columns_[column].name.empty()) {
      valid_ = false;
    }
  }
  if (!valid_) rows_ = 0;
}

size_t DesignAxes::column(std::string_view name) const {
  size_t at = 0;
  while (at < columns_.size() && columns_[at].name != name) ++at;
  return at;
}

Design::Design(std::initializer_list<std::pair<std::string_view, Value>> entries) {
  if (entries.size() == 0) return;
  Entries unique;
  for (const auto& [name, value] : entries) put(unique, name, value);
  axes_ = single_row(std::move(unique));
}

void Design::set(std::string_view name, Value value) {
  Entries entries;
  entries.reserve(size() + 1);
  for (const auto& [known, old] : *this) entries.emplace_back(known, old);
  put(entries, name, std::move(value));
  axes_ = single_row(std::move(entries));
  row_ = 0;
}

const Value* Design::find(std::string_view name) const {
  if (!axes_) return nullptr;
  const size_t column = axes_->column(name);
  return column < axes_->columns() ? &axes_->value(column, row_) : nullptr;
}

bool Design::operator==(const Design& other) const {
  if (size() != other.size()) return false;
  if (axes_ == other.axes_ && row_ == other.row_) return true;
  for (size_t i = 0; i < size(); ++i) {
    const auto mine = (*this)[i], theirs = other[i];
    if (mine.first != theirs.first || mine.second != theirs.second) return false;
  }
  return true;
}

bool Design::Entry::operator==(int64_t other) const {
  if (!value) return false;
  if (const auto* integer = std::get_if<int64_t>(value)) return *integer == other;
  if (const auto* real = std::get_if<double>(value)) return *real == static_cast<double>(other);
  return false;
}

bool Design::Entry::operator==(double other) const {
  if (!value) return false;
  if (const auto* integer = std::get_if<int64_t>(value)) {
    return static_cast<double>(*integer) == other;
  }
  const auto* real = std::get_if<double>(value);
  return real && *real == other;
}

bool Design::Entry::operator==(std::string_view other) const {
  const auto* text = value ? std::get_if<std::string>(value) : nullptr;
  return text && *text == other;
}

bool Design::Entry::operator==(bool other) const {
  const auto* truth = value ? std::get_if<bool>(value) : nullptr;
  return truth && *truth == other;
}

int64_t Design::integer(std::string_view name, int64_t fallback) const {
  const Value* value = find(name);
  const auto* integer = value ? std::get_if<int64_t>(value) : nullptr;
  return integer ? *integer : fallback;
}

std::string_view Design::text(std::string_view name, std::string_view fallback) const {
  const Value* value = find(name);
  const auto* text = value ? std::get_if<std::string>(value) : nullptr;
  return text ? std::string_view(*text) : fallback;
}

bool Design::truth(std::string_view name, bool fallback) const {
  const Value* value = find(name);
  const auto* truth = value ? std::get_if<bool>(value) : nullptr;
  return truth ? *truth : fallback;
}

}  // namespace assay
