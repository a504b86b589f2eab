#include "assay/measure/condition.h"

#include <array>
#include <utility>

#include <nlohmann/json.hpp>

#include "assay/base/text.h"
#include "assay/op/operation.h"

namespace assay::measure {
namespace {

template <class Enum, size_t N>
using Names = std::array<std::pair<Enum, std::string_view>, N>;

constexpr Names<Cache, 3> kCaches{
    {{Cache::cold_weights, "cold_weights"}, {Cache::cold, "cold"}, {Cache::warm, "warm"}}};
constexpr Names<Spacing, 3> kSpacings{{{Spacing::isolated, "isolated"},
                                       {Spacing::back_to_back, "back_to_back"},
                                       {Spacing::chain, "chain"}}};
constexpr Names<Launch, 2> kLaunches{{{Launch::plain, "plain"}, {Launch::graph, "graph"}}};
constexpr Names<Preparation, 2> kPreparations{
    {{Preparation::none, "none"}, {Preparation::allowed, "allowed"}}};
constexpr Names<DependentLaunch, 2> kDependentLaunches{
    {{DependentLaunch::forbidden, "forbidden"}, {DependentLaunch::allowed, "allowed"}}};

template <class Enum, size_t N>
std::string_view name_of(const Names<Enum, N>& names, Enum value) {
  for (const auto& [candidate, name] : names)
    if (candidate == value) return name;
  return "?";
}

template <class Enum, size_t N>
Result<Enum> value_of(const Names<Enum, N>& names, std::string_view what, std::string_view text) {
  std::string known;
  for (const auto& [value, name] : names) {
    if (name == text) return value;
    known += known.empty() ? "" : ", ";
    known += name;
  }
  return fail(ErrorCode::invalid_input, "{}: '{}' is not known; use one of {}", what,
              sanitize(std::string(text)), known);
}

bool can_vary(const Problem& problem) {
  const auto operation = find_operation(problem.operation());
  return operation && (*operation)->varied_operand(problem) < problem.operands().size();
}

}  // namespace

std::string_view to_string(Cache cache) { return name_of(kCaches, cache); }
std::string_view to_string(Spacing spacing) { return name_of(kSpacings, spacing); }
std::string_view to_string(Launch launch) { return name_of(kLaunches, launch); }
std::string_view to_string(Preparation preparation) { return name_of(kPreparations, preparation); }
std::string_view to_string(DependentLaunch dependent_launch) {
  return name_of(kDependentLaunches, dependent_launch);
}
Result<Preparation> parse_preparation(std::string_view text) {
  return value_of(kPreparations, "preparation", text);
}
Result<DependentLaunch> parse_dependent_launch(std::string_view text) {
  return value_of(kDependentLaunches, "dependent launch", text);
}

Result<ConditionRequest> parse_condition(std::string_view text, Place place) {
  ConditionRequest request;
  request.place = place;
  while (!text.empty()) {
    const auto comma = text.find(',');
    const auto part = text.substr(0, comma);
    text = comma == std::string_view::npos ? std::string_view{} : text.substr(comma + 1);
    const auto equals = part.find('=');
    const auto key = part.substr(0, equals);
    const auto value =
        equals == std::string_view::npos ? std::string_view{} : part.substr(equals + 1);
    if (key == "cache" && !request.has_cache) {
      ASSAY_TRY(request.values.cache, value_of(kCaches, "condition, cache", value));
      request.has_cache = true;
    } else if (key == "spacing" && !request.has_spacing) {
      if (value == "chain" && place == Place::cpu)
        return fail(ErrorCode::invalid_input,
                    "condition, spacing: chain needs a GPU: on a CPU launches do not overlap; use "
                    "back_to_back or isolated");
      ASSAY_TRY(request.values.spacing, value_of(kSpacings, "condition, spacing", value));
      request.has_spacing = true;
    } else if (key == "launch" && !request.has_launch) {
      if (value == "graph" && place == Place::cpu)
        return fail(ErrorCode::invalid_input, "condition, launch: graph needs a GPU; use plain");
      ASSAY_TRY(request.values.launch, value_of(kLaunches, "condition, launch", value));
      request.has_launch = true;
    } else {
      return fail(ErrorCode::invalid_input,
                  "condition: '{}' is not understood (or given twice); write e.g. "
                  "cache=cold_weights,spacing=back_to_back,launch=plain",
                  sanitize(std::string(part)));
    }
  }
  return request;
}

Condition condition_for(const Problem& problem, const ConditionRequest& request) {
  Condition condition;
  condition.cache = request.has_cache        ? request.values.cache
                    : problem.has_constant() ? Cache::cold_weights
                                             : Cache::cold;
  // Without a constant operand there are no weights to be cold: the honest name is `cold`.
  if (condition.cache == Cache::cold_weights && !problem.has_constant())
    condition.cache = Cache::cold;
  if (request.has_spacing)
    condition.spacing = request.values.spacing;
  else if (request.place == Place::gpu && can_vary(problem))
    condition.spacing = Spacing::chain;
  if (request.has_launch) condition.launch = request.values.launch;
  return condition;
}

Status check_measurable(const Problem& problem) {
  if (can_vary(problem)) return {};
  return fail(ErrorCode::invalid_input,
              "{} cannot be measured: all of its inputs are constant, so a kernel could hand out a "
              "product that it kept; leave one of them out of 'constant'",
              problem.name());
}

bool is_cold(const Operand& operand, const Condition& condition) {
  return condition.cache == Cache::cold ||
         (condition.cache == Cache::cold_weights && operand.lifetime == Lifetime::constant);
}

Json to_json(const Condition& condition) {
  return {{"cache", to_string(condition.cache)},
          {"spacing", to_string(condition.spacing)},
          {"launch", to_string(condition.launch)}};
}
Json to_json(const RaceClass& race_class) {
  return {{"preparation", to_string(race_class.preparation)},
          {"dependent_launch", to_string(race_class.dependent_launch)}};
}
Result<Condition> condition_from_json(const Json& json) {
  Condition condition;
  for (const char* key : {"cache", "spacing", "launch"})
    if (!json.is_object() || !json.contains(key) || !json[key].is_string())
      return fail(ErrorCode::invalid_input, "condition: field {} is missing or not text", key);
  ASSAY_TRY(condition.cache,
            value_of(kCaches, "condition, cache", json["cache"].get_ref<const std::string&>()));
  ASSAY_TRY(condition.spacing, value_of(kSpacings, "condition, spacing",
                                        json["spacing"].get_ref<const std::string&>()));
  ASSAY_TRY(condition.launch,
            value_of(kLaunches, "condition, launch", json["launch"].get_ref<const std::string&>()));
  return condition;
}

}  // namespace assay::measure
