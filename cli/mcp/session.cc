#include "cli/mcp/session.h"

#include <algorithm>
#include <array>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <sys/eventfd.h>
#include <thread>
#include <unistd.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "assay/base/fd.h"
#include "assay/base/json.h"
#include "assay/base/text.h"
#include "assay/base/version.h"
#include "cli/mcp/tools.h"

namespace assay::cli {
namespace {

// JSON-RPC 2.0, section 5.1.
constexpr int kParseError = -32700, kInvalidRequest = -32600, kMethodNotFound = -32601,
              kInvalidParams = -32602;

// Newest first.
constexpr std::array<std::string_view, 3> kVersions = {"2025-06-18", "2025-03-26", "2024-11-05"};

constexpr std::size_t kMostWaiting = 64;

constexpr const char* kInstructions =
    "assay races kernels and says which is faster, with proof and interval. Write a kernel in a "
    "file, then call race with it and a shape. In a lab, call brief, change the workspace, call "
    "evaluate, and read the outcome; never edit files outside workspace/.";

Json answer(const Json& id, Json result) {
  return {{"jsonrpc", "2.0"}, {"id", id}, {"result", std::move(result)}};
}

Json error(const Json& id, int code, const std::string& message) {
  return {{"jsonrpc", "2.0"}, {"id", id}, {"error", {{"code", code}, {"message", message}}}};
}

Json tool_result(const ToolOutput& output) {
  return {{"content", {{{"type", "text"}, {"text", output.text}}}}, {"isError", output.failed}};
}

bool is_id(const Json& id) { return id.is_string() || id.is_number_integer(); }

std::string_view version_for(const Json& params) {
  const auto wanted = params.find("protocolVersion");
  if (wanted != params.end() && wanted->is_string()) {
    const auto found = std::ranges::find(kVersions, wanted->get_ref<const std::string&>());
    if (found != kVersions.end()) return *found;
  }
  return kVersions.front();
}

// JSON that is not read here may be some to others, who wait for an answer to what they asked: a
// number of more than 64 bits, a member twice.
Json id_of(std::string_view line) {
  const Json message = Json::parse(line, nullptr, false);
  const Json id = message.is_object() ? message.value("id", Json()) : Json();
  return is_id(id) ? id : Json();
}

}  // namespace

struct McpSession::State {
  struct Call {
    Json id;
    std::vector<std::string> words;
    UniqueFd cancel;  // An eventfd.
    bool cancelled = false;
  };

  State(Run run, Say say) : run_(std::move(run)), say_(std::move(say)) {
    worker_ = std::thread([this] { work(); });
  }
  ~State() {
    cancel_all();
    finish();
  }

  void cancel_all() {
    const std::lock_guard hold(mutex_);
    waiting_.clear();
    if (running_) cancel(*running_);
  }

  void say(const Json& message) {
    const std::lock_guard hold(saying_);
    say_(message.dump(-1, ' ', false, Json::error_handler_t::replace));
  }

  void hear(std::string_view line) {
    if (trim(line).empty()) return;
    const auto message = parse_json(line, "a message");
    if (!message) return say(error(id_of(line), kParseError, message.error().message));
    const Json id = message->is_object() ? message->value("id", Json()) : Json();
    const auto method = message->is_object() ? message->find("method") : message->end();
    if (!message->is_object() || message->value("jsonrpc", Json()) != "2.0")
      return say(error(nullptr, kInvalidRequest, "a message is a JSON-RPC 2.0 object"));
    if (method == message->end() && is_id(id)) return;  // An answer: we ask for nothing.
    if (method == message->end() || !method->is_string() || (message->contains("id") && !is_id(id)))
      return say(error(nullptr, kInvalidRequest, "a request has a method and an id"));
    const Json params = message->value("params", Json::object());
    if (!params.is_object()) return say(error(id, kInvalidParams, "params is an object"));
    const auto& name = method->get_ref<const std::string&>();
    if (is_id(id))
      request(id, name, params);
    else if (name == "notifications/cancelled")
      cancel(params.value("requestId", Json()));
  }

  void request(const Json& id, const std::string& method, const Json& params) {
    if (method == "initialize")
      return say(answer(id, {{"protocolVersion", version_for(params)},
                             {"capabilities", {{"tools", Json::object()}}},
                             {"serverInfo", {{"name", "assay"}, {"version", build_info().version}}},
                             {"instructions", kInstructions}}));
    if (method == "ping") return say(answer(id, Json::object()));
    if (method == "tools/list") {
      Json list = Json::array();
      for (const Tool& tool : tools()) list.push_back(tool_json(tool));
      return say(answer(id, {{"tools", std::move(list)}}));
    }
    if (method == "tools/call") return call(id, params);
    say(error(id, kMethodNotFound, fmt::format("no method '{}'", sanitize(method, 80))));
  }

  void call(const Json& id, const Json& params) {
    const Json name = params.value("name", Json());
    const Tool* tool = name.is_string() ? find_tool(name.get<std::string>()) : nullptr;
    const Json arguments = params.value("arguments", Json::object());
    if (tool == nullptr || !(arguments.is_object() || arguments.is_null()))
      return say(error(id, kInvalidParams,
                       tool == nullptr ? "there is no such tool: tools/list names them"
                                       : "arguments is an object"));
    auto words = command_line_of(*tool, arguments.is_null() ? Json::object() : arguments);
    // What an agent can mend is the tool's answer, and no error of the protocol.
    if (!words) return say(answer(id, tool_result({words.error().message, true})));
    const std::lock_guard hold(mutex_);
    if (waiting_.size() >= kMostWaiting)
      return say(answer(id, tool_result({"too many calls are waiting: wait for answers", true})));
    waiting_.push_back({id, std::move(*words), UniqueFd(::eventfd(0, EFD_CLOEXEC)), false});
    changed_.notify_all();
  }

  // Of a running call or one that waits: no answer follows.
  void cancel(const Json& id) {
    const std::lock_guard hold(mutex_);
    std::erase_if(waiting_, [&](const Call& call) { return call.id == id; });
    if (running_ && running_->id == id) cancel(*running_);
  }
  static void cancel(Call& call) {
    call.cancelled = true;
    const std::uint64_t one = 1;
    (void)!::write(call.cancel.get(), &one, sizeof one);
  }

  void work() {
    for (;;) {
      {
        std::unique_lock hold(mutex_);
        changed_.wait(hold, [&] { return ends_ || !waiting_.empty(); });
        if (ends_ && waiting_.empty()) return;
        running_ = std::move(waiting_.front());
        waiting_.pop_front();
      }
      const ToolOutput output = run_(running_->words, running_->cancel.get());
      std::optional<Call> done;
      {
        const std::lock_guard hold(mutex_);
        done = std::exchange(running_, std::nullopt);
      }
      if (!done->cancelled) say(answer(done->id, tool_result(output)));
    }
  }

  void finish() {
    {
      const std::lock_guard hold(mutex_);
      ends_ = true;
    }
    changed_.notify_all();
    if (worker_.joinable()) worker_.join();
  }

  Run run_;
  Say say_;
  std::mutex saying_, mutex_;
  std::condition_variable changed_;
  std::deque<Call> waiting_;
  std::optional<Call> running_;
  bool ends_ = false;
  std::thread worker_;
};

McpSession::McpSession(Run run, Say say)
    : state_(std::make_unique<State>(std::move(run), std::move(say))) {}
McpSession::~McpSession() = default;
void McpSession::hear(std::string_view line) { state_->hear(line); }
void McpSession::finish() { state_->finish(); }
void McpSession::cancel_all() { state_->cancel_all(); }

}  // namespace assay::cli
