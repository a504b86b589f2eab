#include "assay/kernel/device_code/resources.h"

#include <algorithm>
#include <charconv>
#include <vector>

#include <nlohmann/json.hpp>

#include "assay/base/text.h"

namespace assay::device_code {
namespace {

constexpr std::string_view kEntry = "Compiling entry function '";

std::optional<int64_t> number_before(std::string_view line, std::string_view words) {
  const size_t end = line.find(words);
  if (end == std::string_view::npos) return std::nullopt;
  size_t from = end;
  while (from > 0 && line[from - 1] >= '0' && line[from - 1] <= '9') --from;
  int64_t number = 0;
  const auto [behind, error] = std::from_chars(line.data() + from, line.data() + end, number);
  if (error != std::errc() || behind != line.data() + end) return std::nullopt;
  return number;
}

void take_larger(std::optional<int64_t>& most, std::optional<int64_t> read) {
  if (read) most = std::max(most.value_or(*read), *read);
}

// The name that a line begins a kernel's lines with; none: it begins none.
std::optional<std::string_view> entry_in(std::string_view line) {
  const size_t at = line.find(kEntry);
  if (at == std::string_view::npos) return std::nullopt;
  line.remove_prefix(at + kEntry.size());
  return line.substr(0, line.find('\''));
}

}  // namespace

Resources resources_of(std::string_view log, std::string_view symbol) {
  const auto lines = split(log, '\n');
  const auto kernels =
      std::ranges::count_if(lines, [](const auto line) { return entry_in(line).has_value(); });
  const bool takes_all = symbol.empty() || kernels <= 1;
  bool is_of_it = takes_all;
  Resources most;
  for (const std::string_view line : lines) {
    if (const auto entry = entry_in(line)) is_of_it = takes_all || *entry == symbol;
    if (!is_of_it) continue;
    take_larger(most.registers, number_before(line, " registers"));
    take_larger(most.static_shared_bytes, number_before(line, " bytes smem"));
    take_larger(most.stack_bytes, number_before(line, " bytes stack frame"));
    take_larger(most.spill_store_bytes, number_before(line, " bytes spill stores"));
    take_larger(most.spill_load_bytes, number_before(line, " bytes spill loads"));
  }
  return most;
}

void add_resources(std::string_view log, std::string_view symbol, Json& facts) {
  const Resources found = resources_of(log, symbol);
  const auto add = [&](const char* name, std::optional<int64_t> number) {
    if (number) facts[name] = *number;
  };
  add("registers", found.registers);
  add("spill_store_bytes", found.spill_store_bytes);
  add("spill_load_bytes", found.spill_load_bytes);
  add("static_shared_bytes", found.static_shared_bytes);
}

}  // namespace assay::device_code
