#include "cli/show/console.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <sys/ioctl.h>
#include <unistd.h>

#include <fmt/format.h>

#include "assay/base/fd.h"
#include "assay/base/text.h"
#include "assay/report/width.h"

namespace assay::cli {
namespace {

constexpr int kDefaultWidth = 80, kDefaultHeight = 24;

// What names and files of users bring along does nothing to a terminal. Lines that a sentence goes
// on with are ours if they are indented; any other would be taken for a message of its own.
std::string harmless(std::string_view text) {
  const std::string safe = sanitize(text, text.size() * 8 + 16, Newlines::keep);
  std::string out;
  for (std::size_t i = 0; i < safe.size(); ++i)
    if (safe[i] != '\n' || std::string_view(safe).substr(i + 1).starts_with("  "))
      out += safe[i];
    else if (i + 1 < safe.size())
      out += "\\n";
  return out;
}

void put(int fd, std::string_view text) { static_cast<void>(write_all(fd, text)); }

winsize size_of(int fd) {
  winsize size{};
  if (::ioctl(fd, TIOCGWINSZ, &size) != 0) return {};
  return size;
}

int width_of(int fd) {
  const int columns = size_of(fd).ws_col;
  return columns > 0 ? std::clamp(columns, 40, 240) : kDefaultWidth;
}

}  // namespace

void Console::configure(bool json, bool quiet, Colour colour, int verbosity) {
  json_ = json;
  quiet_ = quiet;
  verbosity_ = verbosity;
  const char* term = std::getenv("TERM");
  const bool dumb = term == nullptr || std::string_view(term) == "dumb";
  const bool plain = std::getenv("NO_COLOR") != nullptr;
  const auto wants = [&](int fd) {
    return colour == Colour::always ||
           (colour == Colour::automatic && ::isatty(fd) == 1 && !dumb && !plain);
  };
  colour_out_ = wants(STDOUT_FILENO);
  colour_error_ = wants(STDERR_FILENO);
  live_ = ::isatty(STDERR_FILENO) == 1 && !dumb && !quiet;
}

bool Console::terminal_out() const { return ::isatty(STDOUT_FILENO) == 1; }
int Console::width_out() const { return width_of(STDOUT_FILENO); }
int Console::width_error() const { return width_of(STDERR_FILENO); }

int Console::height_error() const {
  const int rows = size_of(STDERR_FILENO).ws_row;
  return rows > 0 ? rows : kDefaultHeight;
}

void Console::result(std::string_view text) {
  const std::lock_guard lock(mutex_);
  clear_block();
  if (const Status written = write_all(STDOUT_FILENO, text); !written && errno != EPIPE)
    lost_result_ = written.error().message;
}

void Console::progress(std::string_view line) { note(line); }

void Console::note(std::string_view line) {
  if (quiet_) return;
  const std::lock_guard lock(mutex_);
  clear_block();
  put(STDERR_FILENO, fmt::format("{}\n", harmless(line)));
}

void Console::error(std::string_view sentence) {
  const std::lock_guard lock(mutex_);
  clear_block();
  const std::string text = fmt::format("assay: {}", harmless(sentence));
  // A terminal would break a line within a word. What has lines of its own keeps them.
  const bool wraps = ::isatty(STDERR_FILENO) == 1 && text.find('\n') == std::string::npos;
  std::string shown = wraps ? report::wrap(text, width_error(), 2) : text + '\n';
  constexpr std::string_view kName = "assay:";
  if (colour_error_) shown.replace(0, kName.size(), "\033[31massay:\033[0m");
  put(STDERR_FILENO, shown);
}

void Console::redraw(std::string_view block) {
  if (!live_) return;
  const std::lock_guard lock(mutex_);
  // One write, and each line is overwritten before its rest is cleared: nothing flickers.
  std::string text;
  if (drawn_lines_ > 0) text += fmt::format("\033[{}A\r", drawn_lines_);
  for (const char c : block) {
    if (c == '\n') text += "\033[K";
    text += c;
  }
  text += "\033[J";
  put(STDERR_FILENO, text);
  drawn_lines_ = static_cast<int>(std::count(block.begin(), block.end(), '\n'));
}

void Console::finish_redraw() {
  const std::lock_guard lock(mutex_);
  clear_block();
}

void Console::clear_block() {
  if (drawn_lines_ > 0) put(STDERR_FILENO, fmt::format("\033[{}A\r\033[J", drawn_lines_));
  drawn_lines_ = 0;
}

}  // namespace assay::cli
