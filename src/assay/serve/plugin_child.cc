#include "assay/serve/plugin_child.h"

#include <cstddef>
#include <cstdlib>
#include <poll.h>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "assay/base/clock.h"
#include "assay/base/dynamic_library.h"
#include "assay/base/message_channel.h"
#include "assay/serve/assay_backend.h"
#include "assay/text/utf8.h"

namespace assay::serve {
namespace {

constexpr int kArguments = 7;
constexpr int kFailed = 1;
constexpr std::size_t kLeastBackend = offsetof(AssayBackend, step) + sizeof(AssayBackend::step);
constexpr std::size_t kLeastEvent = offsetof(AssayBackendEvent, error) + sizeof(const char*);

// The host that a backend sees. One call is under way at a time, so one sentence is enough.
struct Host {
  AssayBackendHost host{};  // First: what fail() is given is this.
  std::string sentence;

  static void fail(const AssayBackendHost* host, const char* sentence) {
    auto* self = reinterpret_cast<Host*>(const_cast<AssayBackendHost*>(host));
    self->sentence = sentence == nullptr ? "" : sentence;
  }
  std::string take(std::string_view what) {
    std::string told = std::exchange(sentence, {});
    return told.empty() ? fmt::format("{} failed and did not say why", what) : told;
  }
};

// Invalid UTF-8 would not pass as JSON: it goes as bytes, and is refused where it arrives.
Json text_json(std::string_view text) {
  if (text::is_utf8(text)) return text;
  return Json::array({"no UTF-8"});
}

class Child {
 public:
  Child(Host& host, const AssayBackend& backend, MessageChannel& channel)
      : host_(host), backend_(backend), channel_(channel) {}

  int run() {
    if (!channel_.send({{"ready",
                         {text_json(backend_.name == nullptr ? "" : backend_.name),
                          backend_.context, backend_.jobs}}}))
      return kFailed;
    for (;;) {
      const auto message = channel_.receive(works_ ? std::optional(monotonic_ns()) : std::nullopt);
      if (message)
        take(message->json);
      else if (message.error().code != ErrorCode::busy)
        return 0;  // The server has ended, or means another child.
      else if (!step())
        return kFailed;
    }
  }

 private:
  void take(const Json& message) {
    if (const auto job = message.find("submit"); job != message.end()) submit(*job);
    if (const auto id = message.find("cancel"); id != message.end()) {
      if (backend_.cancel != nullptr) backend_.cancel(id->get<std::uint64_t>());
      static_cast<void>(channel_.send({{"gone", *id}}));
    }
  }

  void submit(const Json& asked) {
    const auto prompt = asked[1].get<std::vector<std::int32_t>>();
    const AssayBackendJob job{.struct_bytes = sizeof job,
                              .id = asked[0].get<std::uint64_t>(),
                              .prompt = prompt.data(),
                              .prompt_tokens = prompt.size(),
                              .max_tokens = asked[2].get<std::int32_t>(),
                              .min_tokens = asked[3].get<std::int32_t>(),
                              .ignore_eos = asked[4].get<bool>() ? 1 : 0,
                              .has_seed = asked[5].is_null() ? 0 : 1,
                              .seed = asked[5].is_null() ? 0 : asked[5].get<std::int64_t>(),
                              .temperature = asked[6].get<double>(),
                              .top_p = asked[7].get<double>(),
                              .whole = asked[8].get<bool>() ? 1 : 0};
    if (backend_.submit(&host_.host, &job) == 0) {
      works_ = true;
      return;
    }
    const Json ended = {job.id, -1, ASSAY_FINISH_ERROR, 0.0, text_json(host_.take("submit"))};
    static_cast<void>(channel_.send({{"at", monotonic_ns()}, {"events", {ended}}}));
  }

  static void emit(void* to, const AssayBackendEvent* event) {
    if (event == nullptr || event->struct_bytes < kLeastEvent) return;
    static_cast<Json*>(to)->push_back({event->job, event->token, event->finish, event->logprob,
                                       event->error == nullptr ? Json() : text_json(event->error)});
  }

  bool step() {
    Json events = Json::array();
    const int more = backend_.step(&host_.host, emit, &events);
    works_ = more > 0;
    if (!events.empty() && !channel_.send({{"at", monotonic_ns()}, {"events", std::move(events)}}))
      return false;
    if (more >= 0) return true;
    static_cast<void>(channel_.send({{"failed", text_json(host_.take("step"))}}));
    return false;
  }

  Host& host_;
  const AssayBackend& backend_;
  MessageChannel& channel_;
  bool works_ = false;
};

Result<const AssayBackend*> load(const std::string& path, Host& host) {
  ASSAY_TRY(const DynamicLibrary library, DynamicLibrary::open(path));
  const AssayBackend* (*entry)(const AssayBackendHost*) = nullptr;
  ASSAY_TRY(library.load("assay_backend_v1", entry));
  const AssayBackend* backend = entry(&host.host);
  if (backend == nullptr) return fail(ErrorCode::failed, "{}", host.take("assay_backend_v1"));
  if (backend->struct_bytes < kLeastBackend || backend->submit == nullptr ||
      backend->step == nullptr)
    return fail(ErrorCode::failed, "{}: its AssayBackend has no submit or no step", path);
  return backend;
}

}  // namespace

int plugin_child_main(int argc, char** argv) {
  if (argc != kArguments) return kFailed;
  MessageChannel channel{UniqueFd(kPluginChannelFd)};
  Host host;
  host.host = {sizeof(AssayBackendHost),
               argv[3],
               argv[4],
               argv[5],
               static_cast<std::int32_t>(std::strtol(argv[6], nullptr, 10)),
               &Host::fail};
  const auto backend = load(argv[2], host);
  if (!backend) {
    static_cast<void>(channel.send({{"failed", text_json(backend.error().message)}}));
    return kFailed;
  }
  return Child(host, **backend, channel).run();
}

}  // namespace assay::serve
