#pragma once

// What is measured (cache x spacing x launch) and what a kernel is allowed to do (class): named in
// every record and claim. Kernels of different conditions are never compared.

#include <string>
#include <string_view>

#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/op/problem.h"

namespace assay::measure {

enum class Cache : uint8_t {
  cold_weights,  // Constant operands cold, activations as the producer left them.
  cold,          // Every operand cold.
  warm,          // One set of operands, used over and over.
};
// chain: behind a kernel that writes the activations and ahead of one that reads the output, as in
// a model; what those two take by themselves is subtracted (docs/method.md). chain and graph: on
// GPUs.
enum class Spacing : uint8_t { isolated, back_to_back, chain };
enum class Launch : uint8_t { plain, graph };

// Where launches can overlap, and where they cannot.
enum class Place : uint8_t { cpu, gpu };

struct Condition {
  Cache cache = Cache::cold_weights;
  Spacing spacing = Spacing::back_to_back;
  Launch launch = Launch::plain;
  bool operator==(const Condition&) const = default;
};

enum class Preparation : uint8_t { none, allowed };
enum class DependentLaunch : uint8_t { forbidden, allowed };

struct RaceClass {
  Preparation preparation = Preparation::allowed;
  DependentLaunch dependent_launch = DependentLaunch::forbidden;
  bool operator==(const RaceClass&) const = default;
};

std::string_view to_string(Cache cache);
std::string_view to_string(Spacing spacing);
std::string_view to_string(Launch launch);
std::string_view to_string(Preparation preparation);
std::string_view to_string(DependentLaunch dependent_launch);
Result<Preparation> parse_preparation(std::string_view text);
Result<DependentLaunch> parse_dependent_launch(std::string_view text);

// What a user asked for, e.g. "cache=cold,spacing=isolated": parts left out take the problem's own
// default (cold_weights where an operand is constant, else cold; back_to_back, on a GPU chain
// where there is an operand that a producer can write; plain).
struct ConditionRequest {
  bool has_cache = false, has_spacing = false, has_launch = false;
  Condition values;
  Place place = Place::cpu;
};
// ErrorCode::invalid_input, saying what would be right; what only a GPU can do is refused
// elsewhere.
Result<ConditionRequest> parse_condition(std::string_view text, Place place = Place::cpu);
Condition condition_for(const Problem& problem, const ConditionRequest& request);

// invalid_input where no input that matters varies from launch to launch.
Status check_measurable(const Problem& problem);

// Whether launches must find that operand in no cache.
bool is_cold(const Operand& operand, const Condition& condition);

Json to_json(const Condition& condition);
Json to_json(const RaceClass& race_class);
Result<Condition> condition_from_json(const Json& json);

}  // namespace assay::measure
