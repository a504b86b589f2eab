#pragma once

// A filter's text, evaluated for row after row: what rows share is looked up once.

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/expression.h"
#include "assay/kernel/metadata.h"

namespace assay {

class Filter {
 public:
  static Result<Filter> parse(std::string_view text);

  // False also where the row lacks an attribute that decides, or has another type than the filter
  // compares with; conclude() tells if the latter was so for all.
  bool matches(const KernelMetadata& row);

  // Takes notice of a row's attributes without asking whether it matches.
  void note(const KernelMetadata& row) { resolve(row); }

  // Names of the filter that no row seen so far has.
  std::vector<std::string> unknown() const;
  const std::set<std::string>& seen() const { return seen_; }

  // The error that made every row that has all attributes fail to match, if there was one.
  Status conclude() const;

 private:
  explicit Filter(Expression expression) : expression_(std::move(expression)) {}
  void resolve(const KernelMetadata& row);

  // Where a name's value comes from in rows of the present traits and axes.
  struct Source {
    enum class Kind { missing, shared, column, name } kind = Kind::missing;
    size_t column = 0;
    Value value;  // For shared, and for the name of the present row.
  };

  Expression expression_;
  std::shared_ptr<const KernelTraits> traits_;
  std::shared_ptr<const DesignAxes> axes_;
  std::vector<Source> sources_;
  std::vector<const Value*> values_;
  std::set<std::string> seen_;
  bool any_evaluated_ = false;
  std::optional<Error> error_;
};

}  // namespace assay
