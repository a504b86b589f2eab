#include "assay/kernel/design_space.h"

#include <mutex>
#include <utility>

namespace assay {

DesignAxis axis(std::string name, std::vector<Value> values) {
  DesignAxis made{{std::move(name)}, {}};
  made.choices.reserve(values.size());
  for (Value& value : values) made.choices.push_back({std::move(value)});
  return made;
}

DesignAxis preset(std::vector<std::string> names, std::vector<std::vector<Value>> choices) {
  return {std::move(names), std::move(choices)};
}

struct DesignSpace::Group {
  std::shared_ptr<const KernelTraits> traits;
  std::shared_ptr<const DesignAxes> axes;
  std::vector<DesignConstraint> constraints;

  // Rows that the constraints leave, found when they are first needed; unused without constraints.
  mutable std::once_flag once;
  mutable std::vector<uint32_t> chosen;

  const std::vector<uint32_t>& choose() const {
    std::call_once(once, [&] {
      Design design(axes, 0);
      for (uint64_t row = 0; row < axes->rows(); ++row) {
        design.select(row);
        bool good = true;
        for (size_t i = 0; good && i < constraints.size(); ++i) good = constraints[i](design);
        if (good) chosen.push_back(static_cast<uint32_t>(row));
      }
    });
    return chosen;
  }

  int64_t size() const {
    return static_cast<int64_t>(constraints.empty() ? axes->rows() : choose().size());
  }

  template <class Visit>
  void each_row(const Visit& visit) const {
    if (constraints.empty()) {
      for (uint64_t row = 0; row < axes->rows(); ++row) visit(row);
    } else {
      for (uint32_t row : choose()) visit(row);
    }
  }
};

DesignSpace::DesignSpace(std::vector<DesignGroup> groups) {
  groups_.reserve(groups.size());
  for (DesignGroup& group : groups) {
    auto made = std::make_unique<Group>();
    made->traits = std::make_shared<const KernelTraits>(std::move(group.traits));
    made->axes = std::make_shared<const DesignAxes>(std::move(group.axes));
    made->constraints = std::move(group.constraints);
    groups_.push_back(std::move(made));
  }
}

DesignSpace::~DesignSpace() = default;
DesignSpace::DesignSpace(DesignSpace&&) noexcept = default;
DesignSpace& DesignSpace::operator=(DesignSpace&&) noexcept = default;

void DesignSpace::enumerate(const Query& query, const MetadataSink& sink) const {
  for (const auto& group : groups_) {
    if (!group->axes->valid()) {
      query.refuse(Reason::other,
                   "a defect of the family: its axes repeat a name, have choices of "
                   "different lengths, or more than 2^32 rows");
      continue;
    }
    if (group->traits->rule && !query.admits(*group->traits->rule, group->size())) continue;
    KernelMetadata row(group->traits, Design(group->axes, 0));
    group->each_row([&](uint64_t number) {
      row.design.select(number);
      sink(row);
    });
  }
}

int64_t DesignSpace::size() const {
  int64_t rows = 0;
  for (const auto& group : groups_) rows += group->size();
  return rows;
}

}  // namespace assay
