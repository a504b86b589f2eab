#pragma once

// One client of the Model Context Protocol: JSON-RPC 2.0, a message a line. What it asks for is
// answered at once, but for calls of tools, which run one after the other beside this.

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/result.h"

namespace assay::cli {

// What a command said, and how it ended.
struct ToolOutput {
  std::string text;
  bool failed = false;
};

class McpSession {
 public:
  // Runs a command line; cancel_fd becomes readable where nobody wants its answer any more.
  using Run = std::function<ToolOutput(const std::vector<std::string>& words, int cancel_fd)>;
  // Says a line, from any thread; one at a time.
  using Say = std::function<void(const std::string& line)>;

  McpSession(Run run, Say say);
  ~McpSession();  // Cancels what still runs.
  McpSession(const McpSession&) = delete;
  McpSession& operator=(const McpSession&) = delete;

  // A line of the client's, without its end. What is no message is answered by the protocol's
  // error.
  void hear(std::string_view line);
  // The client says no more: what it asked for is answered first.
  void finish();
  // Nobody hears answers any more.
  void cancel_all();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace assay::cli
