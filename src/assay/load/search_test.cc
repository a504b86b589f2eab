#include "assay/load/search.h"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "assay/load/duel.h"

namespace assay::load {
namespace {

SearchResult search(const SearchOptions& options, double knee) {
  const Attempt attempt = [&](double load, int) -> Result<Tried> {
    return Tried{load, load <= knee, false, false};
  };
  return *search_load(options, attempt);
}

TEST(Search, FindsEveryKneeOfWholeLoads) {
  for (int knee = 1; knee <= 200; ++knee)
    EXPECT_LE(std::abs(search({}, knee).largest - knee), std::max(0.0, 0.02 * knee)) << knee;
  EXPECT_EQ(search({}, 0).largest, 0);
}

TEST(Search, RatesAreFoundToTheResolution) {
  SearchOptions options;
  options.whole = false;
  for (const double knee : {0.3, 1.7, 33.3, 5000.0})
    EXPECT_NEAR(search(options, knee).largest / knee, 1, 0.021) << knee;
}

TEST(Search, TheAnswerIsConfirmed) {
  const SearchResult result = search({}, 10);
  EXPECT_EQ(std::ranges::count_if(result.tried, &Tried::confirming), 3);
  SearchOptions options;
  options.most = 8;
  EXPECT_TRUE(search(options, 100).reached_most);
  EXPECT_EQ(search(options, 100).largest, 8);
}

// It held once by luck: fresh runs say no, and a smaller load is the answer.
TEST(Search, LuckIsNotConfirmed) {
  const Attempt attempt = [](double load, int number) -> Result<Tried> {
    return Tried{load, load <= 9 || (load == 10 && number < 8), false, false};
  };
  EXPECT_EQ(search_load({}, attempt)->largest, 9);
}

TEST(Search, AClientThatIsTheLimitIsTold) {
  const Attempt attempt = [](double load, int) -> Result<Tried> {
    return Tried{load, load <= 4, load > 4, false};
  };
  EXPECT_TRUE(search_load({}, attempt)->client_limited);
}

Duel duel(double ratio, double noise) {
  const CounterRandom random{1, 5};
  std::uint64_t drawn = 0;
  const Measure measure = [&](bool candidate, std::uint64_t) -> Result<double> {
    return (candidate ? ratio : 1) * std::exp(noise * random.uniform(drawn++));
  };
  return *run_duel("output_throughput_tok_s", 0.01, 1, measure, nullptr);
}

TEST(Duel, WordsOfKnownDifferences) {
  EXPECT_EQ(duel(0.95, 0.005).verdict.word, stats::Word::slower);
  EXPECT_EQ(duel(1.05, 0.005).verdict.word, stats::Word::faster);
  EXPECT_EQ(duel(1, 0.002).verdict.word, stats::Word::same);
  EXPECT_EQ(duel(1, 0.2).pairs.size(), 32U);
}

TEST(Duel, LessIsBetterOfLatencies) {
  EXPECT_TRUE(less_is_better("ttft_ms.median"));
  EXPECT_FALSE(less_is_better("output_throughput_tok_s"));
  EXPECT_FALSE(less_is_better("goodput_req_s"));
}

TEST(Duel, BothSidesOfAPairHaveOneSeed) {
  std::vector<std::uint64_t> seeds;
  const Measure measure = [&](bool, std::uint64_t seed) -> Result<double> {
    seeds.push_back(seed);
    return 1;
  };
  ASSERT_TRUE(run_duel("request_throughput", 0.01, 7, measure, nullptr));
  for (std::size_t i = 0; i < seeds.size(); i += 2) EXPECT_EQ(seeds[i], seeds[i + 1]);
  EXPECT_NE(seeds[0], seeds[2]);
}

}  // namespace
}  // namespace assay::load
