#include "assay/load/dataset.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace assay::load {
namespace {

// What is drawn for what: streams of one seed.
enum Stream : std::uint64_t { kLengths = 1, kPrefixes = 2, kTexts = 1ull << 32 };

Json user_says(std::string text) {
  return Json::array({{{"role", "user"}, {"content", std::move(text)}}});
}

class RandomDataset final : public Dataset {
 public:
  RandomDataset(const RandomOptions& options, WordText text, std::uint64_t seed)
      : options_(options), text_(std::move(text)), seed_(seed) {
    for (std::int64_t i = 0; options.prefix_tokens > 0 && i < options.prefix_pool; ++i)
      prefixes_.push_back(
          text_.make({seed, (std::uint64_t{kPrefixes} << 40) + static_cast<std::uint64_t>(i)},
                     options.prefix_tokens));
  }

  Conversation at(std::int64_t number) const override {
    const auto index = static_cast<std::uint64_t>(number);
    const CounterRandom lengths{seed_, kLengths};
    Turn turn;
    const std::int64_t own = options_.input.draw(lengths, 8 * index);
    turn.output_tokens = options_.output.draw(lengths, 8 * index + 4);
    turn.input_tokens = own + options_.prefix_tokens;
    std::string text;
    if (!prefixes_.empty())
      text = prefixes_[CounterRandom{seed_, kPrefixes}.below(index, prefixes_.size())];
    text += text_.make({seed_, kTexts + index}, own);
    turn.messages = user_says(std::move(text));
    return {std::move(turn)};
  }

  Json description() const override {
    const auto length = [](const Length& asked) {
      return Json{{"mean", asked.mean}, {"std", asked.std}, {"spread", asked.spread}};
    };
    return {{"kind", options_.prefix_tokens > 0 ? "prefix" : "random"},
            {"input_tokens", length(options_.input)},
            {"output_tokens", length(options_.output)},
            {"prefix_tokens", options_.prefix_tokens},
            {"prefix_pool", options_.prefix_pool},
            {"counted_by", text_.counter()}};
  }

 private:
  RandomOptions options_;
  WordText text_;
  std::uint64_t seed_;
  std::vector<std::string> prefixes_;
};

class FixedDataset final : public Dataset {
 public:
  FixedDataset(const std::string& prompt, std::int64_t output_tokens) {
    turn_.messages = user_says(prompt);
    turn_.output_tokens = output_tokens;
  }
  Conversation at(std::int64_t) const override { return {turn_}; }
  Json description() const override {
    return {{"kind", "fixed"}, {"output_tokens", turn_.output_tokens}};
  }

 private:
  Turn turn_;
};

}  // namespace

std::int64_t Length::draw(const CounterRandom& random, std::uint64_t index) const {
  double value = mean;
  if (spread > 0) value = mean * (1 + spread * random.uniform(index));
  if (std > 0)
    value = mean + std * std::sqrt(-2 * std::log1p(-random.uniform_unit(index))) *
                       std::cos(2 * std::numbers::pi * random.uniform_unit(index + 1));
  return std::max<std::int64_t>(1, std::llround(value));
}

std::unique_ptr<Dataset> random_dataset(const RandomOptions& options, WordText text,
                                        std::uint64_t seed) {
  return std::make_unique<RandomDataset>(options, std::move(text), seed);
}

std::unique_ptr<Dataset> fixed_dataset(const std::string& prompt, std::int64_t output_tokens) {
  return std::make_unique<FixedDataset>(prompt, output_tokens);
}

}  // namespace assay::load
