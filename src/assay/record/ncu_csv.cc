#include "assay/record/ncu_csv.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "assay/base/text.h"
#include "assay/record/csv.h"

namespace assay {
namespace {

constexpr std::size_t kLongestName = 240;

// From the line on whose first cell is ID: what stands before it are the tool's messages.
std::size_t find_table(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    if (text.substr(at).starts_with("\"ID\",")) return at;
    const std::size_t end = text.find('\n', at);
    if (end == std::string_view::npos) break;
    at = end + 1;
  }
  return std::string_view::npos;
}

// "1,234.5" is a number of the tool's; "n/a" and the like are none.
std::optional<double> number(std::string_view text) {
  std::string digits(trim(text));
  std::erase(digits, ',');
  double value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return std::isfinite(value) && value >= 0 ? std::optional(value) : std::nullopt;
}

// What a base unit is times; nothing: not a unit that these metrics have.
std::optional<double> scale(std::string_view unit) {
  static constexpr std::pair<std::string_view, double> kUnits[] = {
      {"", 1},          {"byte", 1},       {"Kbyte", 1e3},       {"Mbyte", 1e6},
      {"Gbyte", 1e9},   {"byte/block", 1}, {"Kbyte/block", 1e3}, {"ns", 1},
      {"nsecond", 1},   {"us", 1e3},       {"usecond", 1e3},     {"ms", 1e6},
      {"msecond", 1e6}, {"%", 1},          {"inst", 1},          {"register/thread", 1},
      {"block", 1},     {"thread", 1}};
  for (const auto& [name, factor] : kUnits)
    if (name == unit) return factor;
  return std::nullopt;
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

}  // namespace

Result<std::vector<ProfiledKernel>> read_ncu_csv(std::string_view text, std::string_view origin,
                                                 std::span<const std::string_view> metrics) {
  const std::size_t start = find_table(text);
  if (start == std::string_view::npos)
    return fail(ErrorCode::not_found, "{}: there is no table of kernels in it", origin);
  // Behind the table there may be messages again.
  std::string_view table = text.substr(start);
  if (const std::size_t end = table.find("\n=="); end != std::string_view::npos)
    table = table.substr(0, end);
  ASSAY_TRY(const std::vector<CsvRow> rows, read_csv(table, origin));
  const CsvRow& header = rows.front();
  const auto column = [&](std::string_view name) -> std::optional<std::size_t> {
    const auto found = std::ranges::find(header, name, &CsvCell::text);
    return found == header.end() ? std::nullopt
                                 : std::optional<std::size_t>(found - header.begin());
  };
  const auto name = column("Kernel Name");
  if (!name)
    return fail(ErrorCode::invalid_input, "{}: its table has no column 'Kernel Name'", origin);
  if (rows.size() > kMaxProfiledKernels + 2)
    return fail(ErrorCode::invalid_input, "{}: more than {} kernels", origin, kMaxProfiledKernels);
  std::vector<ProfiledKernel> kernels;
  for (std::size_t r = 2; r < rows.size(); ++r) {
    const CsvRow& row = rows[r];
    if (row.size() != header.size())
      return fail(ErrorCode::invalid_input, "{}:{}:{}: {} cells, where the header has {}", origin,
                  row.front().line, row.front().column, row.size(), header.size());
    ProfiledKernel& kernel = kernels.emplace_back();
    kernel.name = sanitize(row[*name].text, kLongestName);
    for (const std::string_view metric : metrics) {
      const auto at = column(metric);
      if (!at || *at >= rows[1].size()) continue;
      const auto value = number(row[*at].text);
      const auto factor = scale(trim(rows[1][*at].text));
      if (value && factor) kernel.metrics[std::string(metric)] = *value * *factor;
    }
  }
  return kernels;
}

Result<std::vector<ProfiledKernel>> one_launch(std::span<const ProfiledKernel> all, int launches) {
  const auto times = static_cast<std::size_t>(std::max(launches, 1));
  const auto plural = [](std::size_t n) { return n == 1 ? "" : "s"; };
  if (all.empty())
    return fail(ErrorCode::failed, "it saw no kernel of the GPU in {} launch{}", times,
                times == 1 ? "" : "es");
  if (all.size() % times != 0)
    return fail(ErrorCode::failed, "it saw {} kernel{} in {} launches, which are not the same ones",
                all.size(), plural(all.size()), times);
  const std::size_t count = all.size() / times;
  std::vector<ProfiledKernel> one;
  for (std::size_t i = 0; i < count; ++i) {
    ProfiledKernel& kernel = one.emplace_back();
    kernel.name = all[i].name;
    std::map<std::string, std::vector<double>> values;
    for (std::size_t launch = 0; launch < times; ++launch) {
      const ProfiledKernel& seen = all[launch * count + i];
      if (seen.name != kernel.name)
        return fail(ErrorCode::failed, "it saw {} where {} was launched before", seen.name,
                    kernel.name);
      for (const auto& [metric, value] : seen.metrics) values[metric].push_back(value);
    }
    for (auto& [metric, list] : values)
      if (list.size() == times) kernel.metrics[metric] = median(std::move(list));
  }
  return one;
}

}  // namespace assay
