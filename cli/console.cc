#include "cli/console.h"

#include <algorithm>
#include <cstdlib>
#include <sys/ioctl.h>
#include <unistd.h>

#include <fmt/format.h>

#include "assay/base/fd.h"

namespace assay::cli {
namespace {
constexpr int kDefaultWidth = 80;
void put(int fd, std::string_view text) { static_cast<void>(write_all(fd, text)); }
}  // namespace

void Console::configure(bool json, bool quiet, Colour colour, int verbosity) {
  json_ = json;
  quiet_ = quiet;
  verbosity_ = verbosity;
  const char* term = std::getenv("TERM");
  const bool dumb = term == nullptr || std::string_view(term) == "dumb";
  const bool plain = std::getenv("NO_COLOR") != nullptr;
  const auto wants = [&](int fd) {
    return colour == Colour::always || (colour == Colour::automatic && ::isatty(fd) == 1 && !dumb && !plain);
  };
  colour_out_ = wants(STDOUT_FILENO);
  colour_error_ = wants(STDERR_FILENO);
  live_ = ::isatty(STDERR_FILENO) == 1 && !dumb && !quiet;
}

int Console::width() const {
  winsize size{};
  for (const int fd : {STDERR_FILENO, STDOUT_FILENO})
    if (::ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return std::clamp<int>(size.ws_col, 40, 240);
  return kDefaultWidth;
}

void Console::result(std::string_view text) {
  finish_redraw();
  put(STDOUT_FILENO, text);
}

void Console::progress(std::string_view line) {
  if (!quiet_) put(STDERR_FILENO, fmt::format("{}\n", line));
}

void Console::note(std::string_view line) {
  if (quiet_) return;
  finish_redraw();
  put(STDERR_FILENO, fmt::format("{}\n", line));
}

void Console::error(std::string_view sentence) {
  finish_redraw();
  put(STDERR_FILENO, fmt::format("{}assay:{} {}\n", colour_error_ ? "\033[31m" : "", colour_error_ ? "\033[0m" : "", sentence));
}

void Console::redraw(std::string_view block) {
  if (!live_) return;
  std::string text;
  if (drawn_lines_ > 0) text += fmt::format("\033[{}A", drawn_lines_);
  text += "\r\033[J";
  text += block;
  put(STDERR_FILENO, text);
  drawn_lines_ = static_cast<int>(std::count(block.begin(), block.end(), '\n'));
}

void Console::finish_redraw() {
  if (drawn_lines_ > 0) put(STDERR_FILENO, fmt::format("\033[{}A\r\033[J", drawn_lines_));
  drawn_lines_ = 0;
}

}  // namespace assay::cli
