#include "cli/load/started_server.h"

#include <cerrno>
#include <sys/socket.h>
#include <sys/wait.h>

#include <fmt/format.h>
#include <netinet/in.h>

#include "assay/base/fd.h"
#include "cli/own_environment.h"

namespace assay::cli {
namespace {

constexpr std::string_view kPort = "{port}";

Result<std::uint16_t> free_port() {
  const UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  if (!fd || ::bind(fd.get(), reinterpret_cast<sockaddr*>(&address), size) != 0 ||
      ::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&address), &size) != 0)
    return fail(ErrorCode::machine, "no port is free: {}", errno_text(errno));
  return ntohs(address.sin_port);
}

}  // namespace

Result<StartedServer> StartedServer::start(const std::vector<std::string>& words) {
  ASSAY_TRY(const std::uint16_t port, free_port());
  SubprocessOptions options;
  for (std::string word : words) {
    for (std::size_t at = word.find(kPort); at != std::string::npos; at = word.find(kPort, at))
      word.replace(at, kPort.size(), std::to_string(port));
    options.argv.push_back(std::move(word));
  }
  options.env = own_environment();
  options.stdout_to = options.stderr_to = Redirect::fd(2);
  ASSAY_TRY(Subprocess process, Subprocess::start(options));
  return StartedServer(std::move(process), port);
}

StartedServer::~StartedServer() {
  constexpr std::int64_t kGraceNs = 10'000'000'000;
  if (process_.pid() > 0) (void)process_.terminate(kGraceNs);
}

Status StartedServer::may_get_ready() const {
  siginfo_t info{};
  // It is left to be reaped with its group.
  if (::waitid(P_PID, static_cast<id_t>(process_.pid()), &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
      info.si_pid == 0)
    return {};
  ExitStatus status;
  if (info.si_code == CLD_EXITED) {
    status = {ExitStatus::Kind::exited, info.si_status, 0};
  } else {
    status = {ExitStatus::Kind::signaled, 0, info.si_status};
  }
  if (status.success()) return {};
  return fail(ErrorCode::unsupported, "the server that was started {} before it was ready",
              status.describe());
}

std::string StartedServer::base_url() const { return fmt::format("http://127.0.0.1:{}", port_); }

}  // namespace assay::cli
