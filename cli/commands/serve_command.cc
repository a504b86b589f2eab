#include <algorithm>
#include <optional>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

#include "assay/base/file.h"
#include "assay/base/line_file.h"
#include "assay/serve/relay.h"
#include "cli/exit_code.h"
#include "cli/flags/serve_options.h"
#include "cli/lab/lab_commands.h"

namespace assay::cli {
namespace {

constexpr rlim_t kOwnDescriptors = 64;  // Files, logs, and peers that are turned away.

// As many descriptors as connections need and the hard limit allows; the connections that fit.
int make_room_for(int connections) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return connections;
  limit.rlim_cur =
      std::min<rlim_t>(static_cast<rlim_t>(connections) + kOwnDescriptors, limit.rlim_max);
  static_cast<void>(::setrlimit(RLIMIT_NOFILE, &limit));
  const rlim_t most =
      limit.rlim_cur > 2 * kOwnDescriptors ? limit.rlim_cur - kOwnDescriptors : limit.rlim_cur / 2;
  return static_cast<int>(std::min<rlim_t>(most, static_cast<rlim_t>(connections)));
}

// `assay serve`, and `assay lab serve`, which is about the case that the current folder is in.
class ServeCommand : public Command {
 public:
  explicit ServeCommand(bool of_a_case) : of_a_case_(of_a_case) {}

  const char* name() const override { return "serve"; }
  const char* summary() const override {
    return "Answer clients of OpenAI's interface, until SIGTERM";
  }
  const char* example() const override {
    return of_a_case_ ? "assay lab serve --port 8000"
                      : "assay serve --backend mock --mock-ttft-ms 200 --mock-itl-ms 20";
  }
  const char* description() const override {
    return "Serves chat and text completions over HTTP, streamed or whole, with the interface that "
           "OpenAI's clients and load generators speak. The mock makes seeded text at the times "
           "that its flags state. With --backend process another server answers, which is started, "
           "watched and ended with all that it has started. SIGTERM drains: new requests are "
           "refused, and answers under way end.";
  }

  void declare(Flags& app) override {
    app.set_group(FlagGroup::backend);
    app.add_option("--case", case_, "Serve as the case.yaml in this folder, or above it, says")
        .type_name("DIR");
    options_.declare(app);
  }

  Result<int> run(Context& context) override {
    if (of_a_case_ || !case_.empty()) {
      ASSAY_TRY(const LabPlace place, find_place(case_));
      ASSAY_TRY(options_.take_case(place, context));
    }
    ASSAY_TRY(options_.check());
    ASSAY_TRY(serve::DeskOptions desk, options_.desk(context.settings));
    if (!options_.log.empty()) {
      ASSAY_TRY(open(options_.log, log_, context.console));
      desk.access_log = [this](std::string_view line) { log_->append(line); };
    }
    if (options_.backend() == "process") return relay(context, std::move(desk));
    return options_.backend() == "plugin" ? serve_plugin(context, std::move(desk))
                                          : serve_mock(context, std::move(desk));
  }

 private:
  // A log whose disk is full must not end a server: its lines are lost, which is said once.
  static Status open(const std::string& path, std::optional<LineFile>& file, Console& console) {
    ASSAY_TRY(file, LineFile::open(path));
    file->tell_loss([&console](const Error& error) { console.error(error.message); });
    return {};
  }

  void flush_by(const LineFile::Soon& soon) {
    for (std::optional<LineFile>* file : {&log_, &stamps_}) {
      if (!*file) continue;
      (*file)->flush();
      (*file)->flush_by(soon);
    }
  }

  Result<serve::ServiceOptions> service_options(Context& context, serve::DeskOptions desk) {
    serve::ServiceOptions options{.desk = std::move(desk)};
    if (options_.stamps.empty()) return options;
    ASSAY_TRY(open(options_.stamps, stamps_, context.console));
    options.stamps = [this](std::function<std::string()> make) {
      stamps_->append_later(std::move(make));
    };
    return options;
  }

  Result<int> serve_mock(Context& context, serve::DeskOptions desk) {
    ASSAY_TRY(const serve::MockOptions mock, options_.mock());
    ASSAY_TRY(auto vocabulary, options_.vocabulary());
    const std::string model = desk.site.model;
    ASSAY_TRY(serve::ServiceOptions options, service_options(context, std::move(desk)));
    auto backend = std::make_unique<serve::MockBackend>(mock, std::move(vocabulary));
    ASSAY_TRY(backend->load());
    serve::Service service(std::move(options), std::move(backend));
    return answer(context, model, service, [&](net::Server& server) { service.attach(server); });
  }

  Result<int> serve_plugin(Context& context, serve::DeskOptions desk) {
    ASSAY_TRY(serve::PluginOptions plugin, options_.plugin(context));
    ASSAY_TRY(auto vocabulary, options_.vocabulary());
    const std::string model = desk.site.model;
    ASSAY_TRY(serve::ServiceOptions options, service_options(context, std::move(desk)));
    net::Server* running = nullptr;
    ASSAY_TRY(auto owned, serve::PluginBackend::create(std::move(plugin), std::move(vocabulary),
                                                       [&] { running->stop(); }));
    serve::PluginBackend& backend = *owned;
    serve::Service service(std::move(options), std::move(owned));
    ASSAY_TRY(backend.load());
    const auto ended = answer(context, model, service, [&](net::Server& server) {
      running = &server;
      service.attach(server);
      server.watch(backend.wake_fd(), [&] { service.on_time(); });
      service.on_time();
    });
    if (ended && !backend.failure().empty())
      return fail(ErrorCode::failed, "{}", backend.failure());
    return ended;
  }

  Result<int> relay(Context& context, serve::DeskOptions desk) {
    ASSAY_TRY(serve::UpstreamOptions options, options_.upstream(context));
    ASSAY_TRY(serve::Upstream upstream, serve::Upstream::create(std::move(options)));
    const std::string model = desk.site.model;
    net::Server* running = nullptr;
    serve::Relay relay(std::move(desk), std::move(upstream), [&] { running->stop(); });
    const auto ended = answer(context, model, relay, [&](net::Server& server) {
      running = &server;
      relay.attach(server, server);
    });
    relay.stop();
    if (ended && !relay.failure().empty()) return fail(ErrorCode::failed, "{}", relay.failure());
    return ended;
  }

  // Until a signal, or until the server is stopped.
  Result<int> answer(Context& context, const std::string& model, serve::FrontEnd& front,
                     const std::function<void(net::Server&)>& attach) {
    ASSAY_TRY(net::ServerOptions server_options, options_.server());
    ASSAY_TRY(const double drain_seconds, options_.drain_seconds());
    server_options.connections = make_room_for(server_options.connections);
    ASSAY_TRY(const auto server, net::Server::listen(server_options, front));
    flush_by([&server](std::function<void()> act) { server->soon(std::move(act)); });
    attach(*server);
    if (!options_.port_file.empty())
      ASSAY_TRY(write_file_atomic(options_.port_file, fmt::format("{}\n", server->port())));
    context.console.note(fmt::format("serving {} at {}", model, address(server_options, *server)));
    server->watch(context.cancel_fd, [&] { take_signal(context, front, *server, drain_seconds); });
    server->run();
    flush_by(nullptr);
    if (const std::size_t cut = front.active(); cut > 0)
      context.console.note(fmt::format("{} answer{} cut off", cut, cut == 1 ? " was" : "s were"));
    return kDone;
  }

  static std::string address(const net::ServerOptions& options, const net::Server& server) {
    const bool six = options.host.find(':') != std::string::npos;
    return fmt::format("http://{}{}{}:{}", six ? "[" : "", options.host, six ? "]" : "",
                       server.port());
  }

  // The first signal drains, the second ends at once.
  void take_signal(Context& context, serve::FrontEnd& service, net::Server& server,
                   double drain_seconds) {
    signalfd_siginfo signal{};
    if (::read(context.cancel_fd, &signal, sizeof signal) < 0) return;
    if (std::exchange(draining_, true)) return server.stop();
    if (!service.at_rest())
      context.console.note(fmt::format("draining: {} answer{} under way", service.active(),
                                       service.active() == 1 ? " is" : "s are"));
    service.drain();
    server.drain(drain_seconds);
  }

  bool of_a_case_;
  ServeOptions options_;
  std::string case_;
  std::optional<LineFile> log_, stamps_;
  bool draining_ = false;
};

}  // namespace

std::unique_ptr<Command> make_serve_command() { return std::make_unique<ServeCommand>(false); }
std::unique_ptr<Command> make_lab_serve_command() { return std::make_unique<ServeCommand>(true); }

}  // namespace assay::cli
