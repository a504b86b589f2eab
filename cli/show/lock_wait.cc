#include "cli/show/lock_wait.h"

#include <utility>

#include <fmt/format.h>

#include "assay/base/text.h"
#include "assay/report/width.h"
#include "cli/show/live_text.h"

namespace assay::cli {

std::string wait_line(const DeviceWait& wait, int width) {
  const std::string device = wait.device == "cpu" ? "the cores" : wait.device;
  const std::string line =
      fmt::format("waiting {} for {}, {} ahead (Ctrl-C gives up): {}", clock_text(wait.seconds),
                  device, wait.ahead, sanitize(wait.holder, 300));
  return report::fit(line, width);
}

DeviceWaitObserver show_wait(Console& console) {
  if (!console.live())
    return in_two_lines([&console](std::string_view line) { console.note(line); });
  return [&console, drawn = std::string()](const DeviceWait& wait) mutable {
    if (wait.over) return console.note(waited_sentence(wait));
    const std::string line = wait_line(wait, console.width_error() - 1) + '\n';
    if (line != drawn) console.redraw(line);
    drawn = line;
  };
}

}  // namespace assay::cli
