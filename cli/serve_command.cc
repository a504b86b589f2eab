#include <algorithm>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

#include "assay/base/file.h"
#include "cli/exit_code.h"
#include "cli/serve_options.h"

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

// A log whose disk is full must not end a server: its lines are lost, which is said once.
class LineFile {
 public:
  static Result<std::function<void(std::string_view)>> open(const std::string& path,
                                                            Console& console) {
    if (path.empty()) return std::function<void(std::string_view)>();
    ASSAY_TRY(AppendFile file, AppendFile::open(path, false));
    auto shared = std::make_shared<LineFile>(std::move(file), console);
    return [shared](std::string_view line) { shared->append(line); };
  }
  LineFile(AppendFile file, Console& console) : file_(std::move(file)), console_(console) {}

 private:
  void append(std::string_view line) {
    const Status written = file_.append_line(line);
    if (!written && !std::exchange(lost_, true)) console_.error(written.error().message);
  }

  AppendFile file_;
  Console& console_;
  bool lost_ = false;
};

class ServeCommand : public Command {
 public:
  const char* name() const override { return "serve"; }
  const char* summary() const override {
    return "Answer clients of OpenAI's interface, until SIGTERM";
  }
  const char* example() const override {
    return "assay serve --backend mock --mock-ttft-ms 200 --mock-itl-ms 20";
  }
  const char* description() const override {
    return "Serves chat and text completions over HTTP, streamed or whole, with the interface that "
           "OpenAI's clients and load generators speak. The mock makes seeded text at the times "
           "that its flags state. SIGTERM drains: new requests are refused, and answers under way "
           "end.";
  }

  void declare(Flags& app) override { options_.declare(app); }

  Result<int> run(Context& context) override {
    ASSAY_TRY(net::ServerOptions server_options, options_.server());
    ASSAY_TRY(const double drain_seconds, options_.drain_seconds());
    ASSAY_TRY(const serve::MockOptions mock, options_.mock());
    ASSAY_TRY(serve::ServiceOptions service_options, options_.service(context.settings));
    ASSAY_TRY(service_options.access_log, LineFile::open(options_.log, context.console));
    ASSAY_TRY(service_options.stamps, LineFile::open(options_.stamps, context.console));
    const std::string model = service_options.site.model;
    ASSAY_TRY(auto vocabulary, options_.vocabulary());
    auto backend = std::make_unique<serve::MockBackend>(mock, std::move(vocabulary));
    ASSAY_TRY(backend->load());
    server_options.connections = make_room_for(server_options.connections);
    serve::Service service(std::move(service_options), std::move(backend));
    ASSAY_TRY(const auto server, net::Server::listen(server_options, service));
    service.attach(*server);
    if (!options_.port_file.empty())
      ASSAY_TRY(write_file_atomic(options_.port_file, fmt::format("{}\n", server->port())));
    context.console.note(fmt::format("serving {} at {}", model, address(server_options, *server)));
    server->watch(context.cancel_fd,
                  [&] { take_signal(context, service, *server, drain_seconds); });
    server->run();
    if (const std::size_t cut = service.active(); cut > 0)
      context.console.note(fmt::format("{} answer{} cut off", cut, cut == 1 ? " was" : "s were"));
    return kDone;
  }

 private:
  static std::string address(const net::ServerOptions& options, const net::Server& server) {
    const bool six = options.host.find(':') != std::string::npos;
    return fmt::format("http://{}{}{}:{}", six ? "[" : "", options.host, six ? "]" : "",
                       server.port());
  }

  // The first signal drains, the second ends at once.
  void take_signal(Context& context, serve::Service& service, net::Server& server,
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

  ServeOptions options_;
  bool draining_ = false;
};

}  // namespace

std::unique_ptr<Command> make_serve_command() { return std::make_unique<ServeCommand>(); }

}  // namespace assay::cli
