#include "assay/load/search.h"

#include <algorithm>
#include <cmath>

namespace assay::load {
namespace {

class Searcher {
 public:
  Searcher(const SearchOptions& options, const Attempt& attempt)
      : options_(options), attempt_(attempt) {}

  Result<SearchResult> run() {
    ASSAY_TRY(bracket());
    ASSAY_TRY(halve());
    ASSAY_TRY(confirm());
    return std::move(result_);
  }

 private:
  Result<bool> keeps(double load, bool confirming = false) {
    ASSAY_TRY(Tried tried, attempt_(load, number_++));
    tried.load = load;
    tried.confirming = confirming;
    // A client that is the limit can make a good server look bad, never a bad one good: a load that
    // was not delivered is not kept.
    if (tried.client_limited && !tried.keeps) result_.client_limited = true;
    result_.tried.push_back(tried);
    return tried.keeps;
  }

  Status bracket() {
    double load = options_.from;
    while (true) {
      ASSAY_TRY(const bool kept, keeps(load));
      if (!kept) {
        above_ = load;
        return {};
      }
      below_ = load;
      if (load >= options_.most) {
        result_.reached_most = true;
        above_ = 0;
        return {};
      }
      load = std::min(2 * load, options_.most);
    }
  }

  bool is_fine() const {
    const double gap = above_ - below_;
    return gap <= std::max(options_.whole ? 1.0 : 0.0, options_.resolution * below_);
  }

  Status halve() {
    if (below_ == 0 && !options_.whole) {
      // The first was too much: look below it, down to a hundredth.
      while (below_ == 0 && above_ > options_.from / 100) {
        ASSAY_TRY(const bool kept, keeps(above_ / 2));
        if (kept)
          below_ = above_ / 2;
        else
          above_ /= 2;
      }
    }
    while (below_ > 0 && above_ > 0 && !is_fine()) {
      double middle = (below_ + above_) / 2;
      if (options_.whole) middle = std::floor(middle);
      ASSAY_TRY(const bool kept, keeps(middle));
      (kept ? below_ : above_) = middle;
    }
    return {};
  }

  // The answer must hold in most of its fresh runs; else the next smaller one is asked.
  Status confirm() {
    while (below_ > 0) {
      int held = 0;
      for (int i = 0; i < options_.confirming; ++i) {
        ASSAY_TRY(const bool kept, keeps(below_, true));
        held += kept;
      }
      if (2 * held > options_.confirming) break;
      const double step = std::max(options_.whole ? 1.0 : 0.0, options_.resolution * below_);
      below_ = options_.whole ? std::floor(below_ - step) : below_ - step;
      if (below_ < options_.from / 100) below_ = 0;
    }
    result_.largest = std::max(0.0, below_);
    return {};
  }

  SearchOptions options_;
  const Attempt& attempt_;
  SearchResult result_;
  double below_ = 0, above_ = 0;  // Keeps it; does not.
  int number_ = 0;
};

}  // namespace

Result<SearchResult> search_load(const SearchOptions& options, const Attempt& attempt) {
  return Searcher(options, attempt).run();
}

Json search_json(const SearchResult& result) {
  Json tried = Json::array();
  for (const Tried& one : result.tried)
    tried.push_back({{"load", one.load},
                     {"keeps", one.keeps},
                     {"client_limited", one.client_limited},
                     {"confirming", one.confirming}});
  return {{"schema", "assay.load_search/1"},
          {"largest", result.largest},
          {"client_limited", result.client_limited},
          {"reached_most", result.reached_most},
          {"tried", tried}};
}

}  // namespace assay::load
