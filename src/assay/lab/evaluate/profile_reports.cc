#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <map>

#include <nlohmann/json.hpp>

#include "assay/base/json.h"
#include "assay/base/text.h"
#include "assay/lab/evaluate/profile_stage.h"
#include "assay/record/ncu_csv.h"

namespace assay::lab {
namespace {

constexpr std::size_t kMostBuckets = 10;
constexpr std::size_t kMostName = 160;

void add(std::vector<AttemptBucket>& buckets, std::string_view name, double percent) {
  name = trim(name);
  if (name.empty() || !std::isfinite(percent) || percent <= 0 || percent > 100.5) return;
  buckets.push_back({sanitize(name, kMostName), percent / 100});
}

std::vector<AttemptBucket> largest(std::vector<AttemptBucket> buckets) {
  std::ranges::stable_sort(buckets, std::ranges::greater(), &AttemptBucket::share);
  if (buckets.size() > kMostBuckets) buckets.resize(kMostBuckets);
  return buckets;
}

// A field of a line of CSV, and what follows; a field in quotes may hold commas.
std::string_view take_field(std::string_view& line) {
  if (line.starts_with('"')) {
    const std::size_t end = line.find('"', 1);
    const std::string_view field = line.substr(1, end == std::string_view::npos ? end : end - 1);
    const std::size_t comma = end == std::string_view::npos ? end : line.find(',', end);
    line = comma == std::string_view::npos ? std::string_view() : line.substr(comma + 1);
    return field;
  }
  const std::size_t comma = line.find(',');
  const std::string_view field = line.substr(0, comma);
  line = comma == std::string_view::npos ? std::string_view() : line.substr(comma + 1);
  return field;
}

double number(std::string_view text) { return std::strtod(std::string(text).c_str(), nullptr); }

}  // namespace

std::vector<AttemptBucket> read_perf_report(std::string_view text) {
  std::vector<AttemptBucket> buckets;
  for (const std::string_view raw : split(text, '\n')) {
    const std::string_view line = trim(raw);
    const std::size_t percent = line.find('%');
    const std::size_t kind = line.find("] ", percent);
    if (line.starts_with('#') || percent == std::string_view::npos ||
        kind == std::string_view::npos)
      continue;
    add(buckets, line.substr(kind + 2), number(line.substr(0, percent)));
  }
  return largest(std::move(buckets));
}

// "1,234,567 (45.23%)  file.c:work [/path/to/program]"
std::vector<AttemptBucket> read_callgrind_report(std::string_view text) {
  std::vector<AttemptBucket> buckets;
  for (const std::string_view line : split(text, '\n')) {
    const std::size_t open = line.find('('), close = line.find("%)", open);
    if (open == std::string_view::npos || close == std::string_view::npos) continue;
    std::string_view name = trim(line.substr(close + 2));
    name = name.substr(0, name.rfind(" ["));
    if (name == "PROGRAM TOTALS") continue;
    const std::size_t colon = name.find(':');
    if (colon != std::string_view::npos && colon + 1 < name.size()) name = name.substr(colon + 1);
    add(buckets, name, number(trim(line.substr(open + 1, close - open - 1))));
  }
  return largest(std::move(buckets));
}

// "Time (%),Total Time (ns),Instances,...,Name"
std::vector<AttemptBucket> read_nsys_kernels(std::string_view csv) {
  std::vector<AttemptBucket> buckets;
  bool in_table = false;
  for (const std::string_view raw : split(csv, '\n')) {
    std::string_view line = trim(raw);
    if (line.starts_with("Time (%)")) {
      in_table = line.ends_with("Name");
      continue;
    }
    if (!in_table || line.empty()) continue;
    const double percent = number(take_field(line));
    std::string_view name;
    while (!line.empty()) name = take_field(line);
    add(buckets, name, percent);
  }
  return largest(std::move(buckets));
}

std::vector<AttemptBucket> read_ncu_kernels(std::string_view csv) {
  constexpr std::array<std::string_view, 1> kAsked = {metric::kNanoseconds};
  const auto kernels = read_ncu_csv(csv, "ncu.csv", kAsked);
  if (!kernels) return {};
  std::map<std::string, double> ns;
  double all = 0;
  for (const ProfiledKernel& kernel : *kernels) {
    const double took = std::max(0.0, kernel.at(metric::kNanoseconds).value_or(0));
    ns[kernel.name] += took;
    all += took;
  }
  std::vector<AttemptBucket> buckets;
  for (const auto& [name, took] : ns)
    if (all > 0) add(buckets, name, 100 * took / all);
  return largest(std::move(buckets));
}

Explained read_why(std::string_view text) {
  const auto json = parse_json(text, "assay why");
  if (!json) return {};
  const auto member = [](const Json& object, const char* name) {
    const auto found = object.is_object() ? object.find(name) : object.end();
    return object.is_object() && found != object.end() ? *found : Json(nullptr);
  };
  const auto first = [&](const Json& object, const char* name) {
    const Json list = member(object, name);
    return list.is_array() && !list.empty() ? list.front() : Json(nullptr);
  };
  const auto words = [](const Json& value) {
    return value.is_string() ? sanitize(value.get<std::string>(), 400) : std::string();
  };
  const Json kernel = first(first(*json, "problems"), "kernels");
  // One sentence a reason, the nearest ceiling's first.
  std::string because;
  if (const Json sentences = member(kernel, "because"); sentences.is_array())
    for (const Json& sentence : sentences)
      if (const std::string one = words(sentence); !one.empty())
        because += (because.empty() ? "" : " ") + one;
  return {because, words(member(member(kernel, "profile"), "tool"))};
}

}  // namespace assay::lab
