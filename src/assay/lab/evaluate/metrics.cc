#include "assay/lab/evaluate/metrics.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

#include <nlohmann/json.hpp>

#include "assay/base/json.h"
#include "assay/base/text.h"
#include "assay/stats/robust.h"

namespace assay::lab {
namespace {

constexpr size_t kMostMetrics = 10'000;

class Flattener {
 public:
  explicit Flattener(const Benchmark& benchmark) : benchmark_(benchmark) {}

  Result<Metrics> run(const Json& object) {
    ASSAY_TRY(take("", object));
    ASSAY_TRY(check_required());
    ASSAY_TRY(check_floors());
    return std::move(metrics_);
  }

 private:
  std::string full(const std::string& name) const { return benchmark_.name + '.' + name; }

  const MetricRule* rule_of(const std::string& name) const {
    const auto found = benchmark_.metrics.find(name);
    return found == benchmark_.metrics.end() ? nullptr : &found->second;
  }

  Status take(const std::string& name, const Json& value) {
    if (value.is_object()) {
      for (const auto& [key, member] : value.items())
        ASSAY_TRY(take(name.empty() ? key : name + '.' + key, member));
      return {};
    }
    if (value.is_array()) return take_list(name, value);
    if (value.is_boolean()) {
      metrics_.flags[full(name)] = value.get<bool>();
      return {};
    }
    if (value.is_number()) return take_number(name, value.get<double>());
    if (value.is_string())
      metrics_.texts[full(name)] = sanitize(value.get<std::string>(), 200);
    else
      nulls_.push_back(name);
    return {};
  }

  Status take_list(const std::string& name, const Json& list) {
    const MetricRule* rule = rule_of(name);
    if (rule == nullptr || rule->reduce.empty()) {
      for (size_t i = 0; i < list.size(); ++i)
        ASSAY_TRY(take(fmt::format("{}.{}", name, i), list[i]));
      return {};
    }
    std::vector<double> values;
    for (const Json& item : list) {
      if (!item.is_number())
        return fail(ErrorCode::failed, "{}: a list that is reduced holds numbers alone",
                    full(name));
      values.push_back(item.get<double>());
    }
    if (values.empty()) return fail(ErrorCode::failed, "{}: the list is empty", full(name));
    for (const std::string& how : rule->reduce)
      ASSAY_TRY(take_number(name + '.' + how, reduce(values, how)));
    return take_number(name + ".count", static_cast<double>(values.size()));
  }

  Status take_number(const std::string& name, double value) {
    if (!std::isfinite(value))
      return fail(ErrorCode::failed, "{}: not a finite number", full(name));
    const MetricRule* rule = rule_of(name);
    const std::string unit = rule != nullptr && !rule->unit.empty() ? rule->unit : unit_of(name);
    if (!metrics_.values.emplace(full(name), Metric{value, unit}).second)
      return fail(ErrorCode::failed, "{}: two values have this name", full(name));
    if (metrics_.values.size() > kMostMetrics)
      return fail(ErrorCode::failed, "{}: more than {} metrics", benchmark_.name, kMostMetrics);
    return {};
  }

  Status check_required() const {
    for (const std::string& name : benchmark_.require)
      if (!metrics_.values.contains(full(name)))
        return fail(ErrorCode::failed, "{}: required, and {}", full(name),
                    std::ranges::find(nulls_, name) != nulls_.end() ? "it is null"
                    : metrics_.flags.contains(full(name)) || metrics_.texts.contains(full(name))
                        ? "it is no number"
                        : "it is not there");
    return {};
  }

  Status check_floors() const {
    for (const auto& [name, rule] : benchmark_.metrics) {
      const auto found = metrics_.values.find(full(name));
      if (!rule.floor || found == metrics_.values.end()) continue;
      const double value = found->second.value;
      const bool beyond =
          rule.direction == Direction::minimize ? value < *rule.floor : value > *rule.floor;
      if (beyond)
        return fail(ErrorCode::unsupported,
                    "{}: {:.6g} lies beyond its floor of {:.6g}, which nothing honest can reach",
                    full(name), value, *rule.floor);
    }
    return {};
  }

  const Benchmark& benchmark_;
  Metrics metrics_;
  std::vector<std::string> nulls_;
};

}  // namespace

Result<Json> last_json_object(std::string_view text) {
  // A program may print a line of progress behind it, or braces in one before it.
  constexpr int kMostTries = 100;
  int tries = 0;
  for (size_t end = text.rfind('}'); end != std::string_view::npos && tries++ < kMostTries;
       end = end == 0 ? std::string_view::npos : text.rfind('}', end - 1)) {
    int depth = 0;
    bool quoted = false;
    for (size_t at = end + 1; at-- > 0;) {
      const bool escaped = at > 0 && text[at - 1] == '\\';
      if (text[at] == '"' && !escaped) quoted = !quoted;
      if (quoted) continue;
      if (text[at] == '}') ++depth;
      if (text[at] == '{' && --depth == 0) {
        auto object = parse_json(text.substr(at, end + 1 - at), "output");
        if (object) return object;
        break;
      }
    }
  }
  return fail(ErrorCode::failed, "its output holds no JSON object");
}

Result<Metrics> flatten(const Json& object, const Benchmark& benchmark) {
  return Flattener(benchmark).run(object);
}

std::string unit_of(std::string_view name) {
  static constexpr std::array<std::string_view, 12> kUnits = {
      "ns", "us", "ms", "s", "tok_s", "gb_s", "tflops", "gflops", "bytes", "mib", "gib", "percent"};
  std::string_view best;
  for (const std::string_view unit : kUnits)
    if (name.size() > unit.size() + 1 && name.ends_with(unit) &&
        name[name.size() - unit.size() - 1] == '_' && unit.size() > best.size())
      best = unit;
  return std::string(best);
}

double reduce(std::vector<double> values, std::string_view how) {
  std::ranges::sort(values);
  if (how == "mean") return stats::mean(values);
  if (how == "min") return values.front();
  if (how == "max") return values.back();
  if (how == "median") return stats::median(values);
  const double share = std::strtod(std::string(how.substr(1)).c_str(), nullptr) / 100;
  const auto at = static_cast<size_t>(std::ceil(share * static_cast<double>(values.size())));
  return values[std::clamp<size_t>(at, 1, values.size()) - 1];
}

}  // namespace assay::lab
