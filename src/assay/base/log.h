#pragma once

// Where the library's remarks go: to a sink that the caller gave, and nowhere by default. There is
// no global log.

#include <functional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace assay {

enum class Level { debug, info, warning, error };
std::string_view to_string(Level level);

// Called from any thread that logs; must not throw.
using Sink = std::function<void(Level, std::string_view)>;

class Log {
 public:
  Log() = default;  // Silent.
  explicit Log(Sink sink, Level least = Level::info) : sink_(std::move(sink)), least_(least) {}

  bool enabled(Level level) const { return sink_ && level >= least_; }

  template <class... Args>
  void write(Level level, fmt::format_string<Args...> text, Args&&... args) const {
    if (enabled(level)) sink_(level, fmt::format(text, std::forward<Args>(args)...));
  }
  template <class... Args>
  void debug(fmt::format_string<Args...> text, Args&&... args) const {
    write(Level::debug, text, std::forward<Args>(args)...);
  }
  template <class... Args>
  void info(fmt::format_string<Args...> text, Args&&... args) const {
    write(Level::info, text, std::forward<Args>(args)...);
  }
  template <class... Args>
  void warning(fmt::format_string<Args...> text, Args&&... args) const {
    write(Level::warning, text, std::forward<Args>(args)...);
  }
  template <class... Args>
  void error(fmt::format_string<Args...> text, Args&&... args) const {
    write(Level::error, text, std::forward<Args>(args)...);
  }

 private:
  Sink sink_;
  Level least_ = Level::info;
};

}  // namespace assay
