#include "assay/report/why_report.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <vector>

#include <fmt/format.h>

#include "assay/base/text.h"
#include "assay/report/safe.h"
#include "assay/report/words.h"

namespace assay::report {
namespace {

std::string rate(double value, const std::string& unit) {
  return format_si(value, unit == "byte/s" ? "B/s" : unit == "flop/s" ? "FLOP/s" : unit);
}

std::string time_text(const Limits& kernel) {
  if (kernel.us <= 0) return "-";
  if (kernel.low_us <= 0) return microseconds(kernel.us);
  return fmt::format("{} [{}, {}]", microseconds(kernel.us), microseconds(kernel.low_us),
                     microseconds(kernel.high_us));
}

std::string reached_text(const Limits& kernel, const std::string& name) {
  for (const CeilingShare& ceiling : kernel.ceilings)
    if (ceiling.ceiling == name)
      return fmt::format("{} ({})", share_text(ceiling.share()),
                         rate(ceiling.reached, ceiling.unit));
  return "-";
}

std::string number(double value) { return value > 0 ? significant(value) : std::string("-"); }

// Thousands and more without a fraction; "-" for an event that was not counted.
std::string count_text(const Limits& kernel, const std::string& event) {
  const auto found = kernel.counts.find(event);
  if (found == kernel.counts.end()) return "-";
  return found->second >= 1000 ? thousands(static_cast<std::int64_t>(std::min(found->second, 9e18)))
                               : significant(found->second);
}

std::string what_of(const std::string& event) {
  if (event == "l1d_misses") return "L1 data misses";
  if (event == "llc_misses") return "cache misses (LLC)";
  if (event == "dtlb_misses") return "dTLB misses";
  std::string words = safe(event);
  std::replace(words.begin(), words.end(), '_', ' ');
  return words;
}

using AddRow =
    std::function<void(const std::string&, const std::function<std::string(const Limits&)>&)>;

std::string each_text(const std::vector<std::string>& texts) {
  return texts.empty() ? std::string("-") : join(texts, "; ");
}

std::string seen_number(const ProfiledKernel& kernel, std::string_view metric) {
  const auto value = kernel.at(metric);
  return value ? thousands(static_cast<std::int64_t>(std::min(*value, 9e18))) : std::string("-");
}

// What device code asks of the GPU: by the driver, or of a library's own launches by a profiler.
void add_launches(const AddRow& add) {
  add("least bytes moved",
      [](const Limits& kernel) { return kernel.bytes > 0 ? format_si(kernel.bytes, "B") : "-"; });
  // Of several launches, one after the other.
  const auto each = [&](const std::string& what,
                        const std::function<std::string(const GpuLaunchFacts&)>& of,
                        const std::function<std::string(const ProfiledKernel&)>& seen) {
    add(what, [of, seen](const Limits& kernel) {
      std::vector<std::string> texts;
      for (const GpuLaunchFacts& launch : kernel.launches) texts.push_back(of(launch));
      if (texts.empty() && kernel.profile)
        for (const ProfiledKernel& one : kernel.profile->kernels) texts.push_back(seen(one));
      return each_text(texts);
    });
  };
  const auto seen = [](std::string_view metric) {
    return [metric](const ProfiledKernel& kernel) { return seen_number(kernel, metric); };
  };
  const auto not_seen = [](const ProfiledKernel&) { return std::string("-"); };
  each(
      "blocks x threads",
      [](const GpuLaunchFacts& launch) {
        return fmt::format("{} x {}{}", launch.blocks, launch.threads,
                           launch.cluster_blocks > 1
                               ? fmt::format(", clusters of {}", launch.cluster_blocks)
                               : "");
      },
      [](const ProfiledKernel& kernel) {
        return seen_number(kernel, metric::kBlocks) + " x " + seen_number(kernel, metric::kThreads);
      });
  each(
      "waves",
      [](const GpuLaunchFacts& launch) {
        return launch.waves() <= 0
                   ? std::string("-")
                   : fmt::format("{} ({} x {} blocks at once)", significant(launch.waves()),
                                 launch.multiprocessors, launch.resident_blocks);
      },
      [](const ProfiledKernel& kernel) { return number(kernel.at(metric::kWaves).value_or(0)); });
  each(
      "occupancy",
      [](const GpuLaunchFacts& launch) {
        return launch.occupancy() <= 0 ? std::string("-") : percent(launch.occupancy());
      },
      not_seen);
  each(
      "registers of a thread",
      [](const GpuLaunchFacts& launch) { return fmt::format("{}", launch.registers); },
      seen(metric::kRegisters));
  each(
      "local memory of a thread, B",
      [](const GpuLaunchFacts& launch) { return fmt::format("{}", launch.local_bytes); }, not_seen);
  each(
      "shared memory of a block, B",
      [](const GpuLaunchFacts& launch) { return thousands(launch.shared_bytes); },
      seen(metric::kShared));
}

// What a profiler counted.
void add_profile(const AddRow& add) {
  const auto profiled = [&](const std::string& what,
                            const std::function<std::string(const GpuProfile&)>& of) {
    add(what, [of](const Limits& kernel) {
      return kernel.profile && !kernel.profile->kernels.empty() ? of(*kernel.profile)
                                                                : std::string("-");
    });
  };
  const auto busy = [&](const std::string& what, std::string_view metric) {
    profiled(what, [metric](const GpuProfile& profile) {
      const auto value = profile.mean(metric);
      return value ? percent(*value / 100) : std::string("-");
    });
  };
  const auto bytes = [&](const std::string& what, std::string_view metric) {
    profiled(what, [metric](const GpuProfile& profile) {
      const auto value = profile.sum(metric);
      return value ? format_si(*value, "B") : std::string("-");
    });
  };
  profiled("kernels, by ncu", [](const GpuProfile& profile) {
    constexpr std::size_t kShown = 60;
    std::vector<std::string> names;
    for (const ProfiledKernel& kernel : profile.kernels)
      names.push_back(sanitize(kernel.name, kShown));
    return each_text(names);
  });
  profiled("us in it, by ncu", [](const GpuProfile& profile) {
    const auto ns = profile.sum(metric::kNanoseconds);
    return ns ? microseconds(*ns * 1e-3) : std::string("-");
  });
  bytes("read from DRAM", metric::kRead);
  bytes("written to DRAM", metric::kWritten);
  busy("DRAM busy", metric::kMemory);
  busy("L2 busy", metric::kL2);
  busy("tensor pipe busy", metric::kTensor);
  busy("occupancy reached", metric::kOccupancy);
}

// Rows in which no kernel has anything say nothing.
void drop_empty_rows(Table& table) {
  std::erase_if(table.rows, [](const Table::Row& row) {
    return std::all_of(row.cells.begin() + 1, row.cells.end(),
                       [](const auto& cell) { return cell.text == "-"; });
  });
}

Table table_of(std::span<const Limits> kernels) {
  Table table;
  table.columns.push_back({.title = ""});
  for (const Limits& kernel : kernels)
    table.columns.push_back({.title = safe(kernel.label), .shrinks_to = 20});
  const auto add = [&](const std::string& what,
                       const std::function<std::string(const Limits&)>& of) {
    Table::Row row;
    row.cells.push_back({what, Tone::dim});
    for (const Limits& kernel : kernels) row.cells.push_back({of(kernel)});
    table.rows.push_back(std::move(row));
  };
  add("us a launch", time_text);
  const bool on_cores =
      std::any_of(kernels.begin(), kernels.end(), [](const Limits& k) { return k.threads > 0; });
  if (on_cores)
    add("threads", [](const Limits& kernel) { return fmt::format("{}", kernel.threads); });
  // Both kernels were timed in one window, under the same ceilings.
  std::map<std::string, CeilingShare> ceilings;
  std::set<std::string> events;
  for (const Limits& kernel : kernels) {
    for (const CeilingShare& ceiling : kernel.ceilings) ceilings.emplace(ceiling.ceiling, ceiling);
    for (const auto& [event, count] : kernel.counts) events.insert(event);
  }
  // Memory first, as a reader goes through it.
  for (const bool memory : {true, false})
    for (const auto& [name, ceiling] : ceilings)
      if ((name == "read") == memory)
        add(fmt::format("of {}, {}", safe(name), rate(ceiling.value, ceiling.unit)),
            [&, of = name](const Limits& kernel) { return reached_text(kernel, of); });
  if (!on_cores) {
    add_launches(add);
    add_profile(add);
    drop_empty_rows(table);
    return table;
  }
  add("cycles per FMA", [](const Limits& kernel) { return number(kernel.cycles_per_fma); });
  add("FMAs per cycle", [](const Limits& kernel) { return number(kernel.fmas_per_cycle); });
  add("core clock, MHz", [](const Limits& kernel) { return number(kernel.clock_hz * 1e-6); });
  for (const std::string& event : events) {
    add(what_of(event), [&](const Limits& kernel) { return count_text(kernel, event); });
    if (event == "instructions")
      add("instructions per cycle",
          [](const Limits& kernel) { return number(kernel.instructions_per_cycle); });
  }
  drop_empty_rows(table);
  return table;
}

// Each reason once, with the events that it keeps from being counted.
std::vector<std::string> unavailable_lines(std::span<const Limits> kernels) {
  std::map<std::string, std::set<std::string>> events;
  for (const Limits& kernel : kernels)
    for (const auto& [event, why] : kernel.unavailable) events[why].insert(what_of(event));
  std::vector<std::string> lines;
  for (const auto& [why, names] : events) {
    const std::vector<std::string> list(names.begin(), names.end());
    lines.push_back(fmt::format("not counted: {}: {}", join(list, ", "), safe(why)));
  }
  std::set<std::string> reasons;
  for (const Limits& kernel : kernels) {
    if (!kernel.profile) continue;
    const GpuProfile& profile = *kernel.profile;
    if (!profile.unavailable.empty()) reasons.insert("no counters: " + profile.unavailable);
    if (!profile.note.empty()) reasons.insert("not all counters: " + profile.note);
  }
  for (const std::string& reason : reasons) lines.push_back(sanitize(reason, 600));
  return lines;
}

}  // namespace

std::string why_text(std::span<const Limits> kernels, const TextStyle& style) {
  std::string out = text_table(table_of(kernels), style);
  const bool estimated = std::any_of(kernels.begin(), kernels.end(), [](const Limits& kernel) {
    return kernel.cycles > 0 && !kernel.cycles_counted;
  });
  if (estimated) out += wrap("cycles are time x measured clock x threads", style.width, 2);
  for (const std::string& line : unavailable_lines(kernels)) out += wrap(line, style.width, 2);
  out += '\n';
  for (const Limits& kernel : kernels) {
    std::string text = safe(kernel.label) + ":";
    if (!kernel.failure.empty()) text += " " + safe(kernel.failure);
    for (const std::string& sentence : kernel.because) text += " " + sentence;
    out += wrap(text, style.width, 2);
  }
  return out;
}

}  // namespace assay::report
