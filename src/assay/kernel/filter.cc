#include "assay/kernel/filter.h"

#include <algorithm>
#include <utility>

namespace assay {

Result<Filter> Filter::parse(std::string_view text) {
  auto expression = Expression::parse(text);
  if (!expression) return fail(with_context(std::move(expression.error()), "filter"));
  return Filter(std::move(*expression));
}

void Filter::resolve(const KernelMetadata& row) {
  if (traits_ && row.traits == traits_ && row.design.axes() == axes_) return;
  traits_ = row.traits;
  axes_ = row.design.axes();
  for (std::string& name : row.attribute_names()) seen_.insert(std::move(name));
  const std::vector<std::string>& names = expression_.names();
  sources_.assign(names.size(), {});
  values_.assign(names.size(), nullptr);
  for (size_t i = 0; i < names.size(); ++i) {
    Source& source = sources_[i];
    if (names[i] == "name") {
      source.kind = Source::Kind::name;
    } else if (KernelMetadata::is_shared_attribute(names[i]) || !row.design.find(names[i])) {
      if (std::optional<Value> value = row.lookup(names[i])) {
        source.kind = Source::Kind::shared;
        source.value = std::move(*value);
        values_[i] = &source.value;
      }
    } else {
      source.kind = Source::Kind::column;
      source.column = axes_->column(names[i]);
    }
  }
}

bool Filter::matches(const KernelMetadata& row) {
  resolve(row);
  for (size_t i = 0; i < sources_.size(); ++i) {
    Source& source = sources_[i];
    if (source.kind == Source::Kind::column) {
      values_[i] = &axes_->value(source.column, row.design.row());
    } else if (source.kind == Source::Kind::name) {
      source.value = row.name();
      values_[i] = &source.value;
    }
  }
  Result<bool> truth = expression_.holds(values_);
  if (truth) {
    any_evaluated_ = true;
    return *truth;
  }
  if (!error_) error_ = std::move(truth.error());
  return false;
}

std::vector<std::string> Filter::unknown() const {
  std::vector<std::string> names;
  for (const std::string& name : expression_.names()) {
    if (!seen_.contains(name)) names.push_back(name);
  }
  return names;
}

Status Filter::conclude() const {
  if (any_evaluated_ || !error_) return {};
  return fail(with_context(*error_, "filter"));
}

}  // namespace assay
