#include "assay/kernel/ranker.h"

#include "assay/base/json.h"

namespace assay::toy {
namespace {

class WideFirst final : public Scorer {
  void do_score(std::span<const KernelMetadata> rows, const Problem&, const DeviceFacts&,
                Scores& scores) const override {
    for (size_t i = 0; i < rows.size(); ++i) {
      const int64_t wide = rows[i].design.integer("tile_n", 0);
      if (wide > 0)
        scores.costs[i] = 1.0 / static_cast<double>(wide);
      else
        ++scores.unscored["its design says nothing of tiles"];
    }
  }
};

class Toy final : public Ranker {
 public:
  const RankerInfo& info() const override {
    static const RankerInfo info = {.name = "toy",
                                    .summary = "as many columns as a tile has",
                                    .licence = "Apache-2.0",
                                    .library = "",
                                    .packages = {}};
    return info;
  }

 private:
  Result<std::unique_ptr<Scorer>> do_open(const ProviderSettings&) const override {
    return std::make_unique<WideFirst>();
  }
};

}  // namespace

std::unique_ptr<Ranker> make_ranker() { return std::make_unique<Toy>(); }

}  // namespace assay::toy
