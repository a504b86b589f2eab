#include "assay/compare/match.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>

#include "assay/base/text.h"
#include "assay/record/name_sizes.h"

namespace assay {
namespace {

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

// The fields that a result states, by name.
std::map<std::string, std::string> fields_of(const ProviderResult& result) {
  std::map<std::string, std::string> fields;
  const auto size = [&](const char* name, const std::optional<std::int64_t>& value) {
    if (value) fields[name] = std::to_string(*value);
  };
  size("m", result.m);
  size("n", result.n);
  size("k", result.k);
  size("batch", result.batch);
  // Whoever says nothing of the factors means a plain product.
  fields["alpha"] = fmt::format("{:g}", result.alpha.value_or(1));
  fields["beta"] = fmt::format("{:g}", result.beta.value_or(0));
  for (const auto& [operand, dtype] : result.dtypes) fields["dtype " + operand] = dtype;
  if (!result.layout.empty()) fields["layout"] = lower(result.layout);
  if (result.constant) fields["constant"] = "[" + join(*result.constant, ", ") + "]";
  if (!result.condition.empty()) fields["condition"] = result.condition;
  if (!result.race_class.empty()) fields["class"] = result.race_class;
  return fields;
}

int agreeing(const ProviderResult& first, const ProviderResult& second) {
  const auto one = fields_of(first), two = fields_of(second);
  int count = 0;
  for (const auto& [name, value] : one) {
    const auto other = two.find(name);
    if (other != two.end() && other->second == value) ++count;
  }
  return count;
}

using Sizes = std::array<std::int64_t, 3>;  // m, n, k.

std::optional<Sizes> sizes_of(const ProviderResult& result) {
  if (result.m && result.n && result.k) return Sizes{*result.m, *result.n, *result.k};
  const auto told = sizes_in_name(result.name);
  if (!told) return std::nullopt;
  return Sizes{told->m, told->n, told->k};
}

// "m and n swapped" of the same three sizes in another order; empty of others.
std::string order_text(const Sizes& wanted, const Sizes& found) {
  Sizes one = wanted, other = found;
  std::ranges::sort(one);
  std::ranges::sort(other);
  if (wanted == found || one != other) return {};
  std::vector<std::string> moved;
  constexpr const char* kNames[] = {"m", "n", "k"};
  for (std::size_t i = 0; i < wanted.size(); ++i)
    if (wanted[i] != found[i]) moved.emplace_back(kNames[i]);
  return moved.size() == 2 ? fmt::format("{} and {} swapped", moved[0], moved[1])
                           : std::string("m, n and k in another order");
}

std::string place(const ProviderResults& results, std::size_t index) {
  return fmt::format("{}:{}", results.origin, results.results[index].line);
}

Error ambiguous(const ProviderResults& from, std::size_t index, const ProviderResults& in,
                std::size_t first, std::size_t second) {
  return {ErrorCode::invalid_input,
          fmt::format("{}: '{}' matches both {} and {}; give condition, class, dtypes, layout or "
                      "constant so that only one does",
                      place(from, index), from.results[index].name, place(in, first),
                      place(in, second))};
}

// Of those in `choices`, the one that agrees with `result` in most fields.
Result<std::optional<std::size_t>> closest(const ProviderResults& from, std::size_t index,
                                           const ProviderResults& in,
                                           const std::vector<std::size_t>& choices) {
  std::optional<std::size_t> best, rival;
  int best_count = -1;
  for (const std::size_t choice : choices) {
    const int count = agreeing(from.results[index], in.results[choice]);
    if (count > best_count) {
      best = choice;
      best_count = count;
      rival.reset();
    } else if (count == best_count) {
      rival = choice;
    }
  }
  if (rival) return fail(ambiguous(from, index, in, *best, *rival));
  return best;
}

}  // namespace

std::string mismatch(const ProviderResult& first, const ProviderResult& second) {
  const auto one = fields_of(first), two = fields_of(second);
  for (const auto& [name, value] : one) {
    const auto other = two.find(name);
    if (other != two.end() && other->second != value) {
      return fmt::format("{} {} and {}", name, value, other->second);
    }
  }
  return {};
}

std::string in_another_order(const ProviderResult& wanted, const ProviderResults& results) {
  const auto sizes = sizes_of(wanted);
  if (!sizes) return {};
  for (const ProviderResult& other : results.results) {
    const auto found = sizes_of(other);
    const std::string order = found ? order_text(*sizes, *found) : std::string();
    if (!order.empty())
      return fmt::format("{}{} has its sizes with {}", other.name,
                         other.line > 0 ? fmt::format(" on line {}", other.line) : "", order);
  }
  return {};
}

Result<std::vector<std::optional<std::size_t>>> match_results(const ProviderResults& baseline,
                                                              const ProviderResults& other) {
  std::map<std::string_view, std::vector<std::size_t>> by_name;
  for (std::size_t i = 0; i < other.results.size(); ++i) {
    by_name[other.results[i].name].push_back(i);
  }
  std::vector<std::optional<std::size_t>> matches(baseline.results.size());
  std::map<std::size_t, std::vector<std::size_t>> claimed;  // By the other's index.
  for (std::size_t i = 0; i < baseline.results.size(); ++i) {
    std::vector<std::size_t> choices;
    for (const std::size_t j : by_name[baseline.results[i].name]) {
      if (mismatch(baseline.results[i], other.results[j]).empty()) choices.push_back(j);
    }
    ASSAY_TRY(matches[i], closest(baseline, i, other, choices));
    if (matches[i]) claimed[*matches[i]].push_back(i);
  }
  // A result of few words may fit several of the baseline's: then it has to be unique from its
  // side.
  for (const auto& [j, claimants] : claimed) {
    if (claimants.size() == 1) continue;
    ASSAY_TRY(const auto rightful, closest(other, j, baseline, claimants));
    for (const std::size_t i : claimants) {
      if (i != rightful) matches[i].reset();
    }
  }
  return matches;
}

std::vector<std::string> display_keys(const ProviderResults& results) {
  std::map<std::string_view, int> count;
  for (const ProviderResult& result : results.results) ++count[result.name];
  std::vector<std::string> keys;
  for (const ProviderResult& result : results.results) {
    std::string key = result.name;
    if (count[result.name] > 1) {
      for (const auto& [name, value] : fields_of(result)) {
        bool tells = false;
        for (const ProviderResult& other : results.results) {
          if (other.name != result.name) continue;
          const auto fields = fields_of(other);
          const auto found = fields.find(name);
          tells = tells || found == fields.end() || found->second != value;
        }
        if (tells) key += fmt::format(" {}={}", name, value);
      }
    }
    keys.push_back(std::move(key));
  }
  return keys;
}

}  // namespace assay
