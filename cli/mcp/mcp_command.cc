#include <array>
#include <cerrno>
#include <poll.h>
#include <stop_token>
#include <thread>
#include <unistd.h>

#include <fmt/format.h>

#include "assay/base/subprocess.h"
#include "assay/base/supervise.h"
#include "assay/base/text.h"
#include "cli/command.h"
#include "cli/exit_code.h"
#include "cli/mcp/session.h"
#include "cli/own_environment.h"

namespace assay::cli {
namespace {

constexpr std::size_t kMostLine = std::size_t{1} << 20;
constexpr std::size_t kMostOutput = std::size_t{200} << 10;

void write_all(const std::string& text) {
  for (std::size_t at = 0; at < text.size();) {
    const ssize_t wrote = ::write(STDOUT_FILENO, text.data() + at, text.size() - at);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) return;  // Nobody listens any more.
    at += static_cast<std::size_t>(wrote);
  }
}

class McpCommand : public Command {
 public:
  const char* name() const override { return "mcp"; }
  const char* summary() const override {
    return "Offer race, why and the lab to an agent, by the Model Context Protocol";
  }
  const char* example() const override { return "assay mcp"; }
  const char* description() const override {
    return "Speaks JSON-RPC on stdin and stdout, one message a line, until stdin ends. Each tool "
           "is "
           "a command of this program, run in the current folder: race, kernels, why, and of a "
           "case brief, evaluate, history, show, diff, status. One runs at a time; a call that is "
           "cancelled ends at once.";
  }
  void declare(Flags&) override {}

  Result<int> run(Context& context) override {
    McpSession session(run_tool, [](const std::string& line) { write_all(line + '\n'); });
    std::string heard;
    bool too_long = false;
    std::array<char, 1 << 14> buffer;
    for (;;) {
      std::array<pollfd, 2> watched = {{{STDIN_FILENO, POLLIN, 0}, {context.cancel_fd, POLLIN, 0}}};
      if (::poll(watched.data(), watched.size(), -1) < 0 && errno != EINTR) break;
      if ((watched[1].revents & POLLIN) != 0)
        return fail(ErrorCode::interrupted, "stopped by the user");
      if (watched[0].revents == 0) continue;
      const ssize_t got = ::read(STDIN_FILENO, buffer.data(), buffer.size());
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) break;
      for (const char c : std::string_view(buffer.data(), static_cast<std::size_t>(got))) {
        if (c != '\n') {
          too_long = too_long || heard.size() >= kMostLine;
          if (!too_long) heard += c;
          continue;
        }
        // Half a message is none, and is answered so.
        session.hear(too_long ? "message too long" : heard);
        heard.clear();
        too_long = false;
      }
    }
    // A client that is gone waits for nothing; one that only says no more does.
    const std::jthread watch([&session](const std::stop_token& stop) {
      constexpr int kLookMs = 50;
      pollfd out{STDOUT_FILENO, 0, 0};
      while (!stop.stop_requested())
        if (::poll(&out, 1, kLookMs) > 0 && (out.revents & (POLLERR | POLLNVAL)) != 0)
          return session.cancel_all();
    });
    session.finish();
    return kDone;
  }

 private:
  static ToolOutput run_tool(const std::vector<std::string>& words, int cancel_fd) {
    SubprocessOptions options;
    options.argv = {"/proc/self/exe"};
    options.argv.insert(options.argv.end(), words.begin(), words.end());
    options.env = own_environment();
    CommandLimits limits;
    limits.max_output = kMostOutput;
    limits.cancel_fd = cancel_fd;
    const auto output = run_supervised(options, limits);
    if (!output) return {output.error().message, true};
    std::string text = output->out;
    if (output->truncated) text += "\n... the output was longer than is shown here\n";
    if (const std::string_view said = trim(output->err); !said.empty())
      text += fmt::format("{}{}\n", text.empty() ? "" : "\n", said);
    const int code = output->status.code;
    if (!output->status.success()) text += fmt::format("({})\n", output->status.describe());
    // 1 is an answer: a gate that does not hold, an attempt that was not kept.
    return {sanitize(text, 2 * kMostOutput, Newlines::keep),
            !output->status.success() && code != kRefuted};
  }
};

}  // namespace

std::unique_ptr<Command> make_mcp_command() { return std::make_unique<McpCommand>(); }

}  // namespace assay::cli
