#include "assay/serve/upstream.h"

#include <charconv>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>
#include <netinet/in.h>

#include "assay/base/fd.h"
#include "assay/base/supervise.h"
#include "assay/base/text.h"

namespace assay::serve {
namespace {

constexpr std::string_view kPort = "{port}", kPortFile = "{port_file}";

// A port that nobody has just now. Somebody may take it first: then the program cannot listen and
// ends, and is started again with another.
Result<std::uint16_t> free_port() {
  const UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* const any = reinterpret_cast<sockaddr*>(&address);
  if (!fd || ::bind(fd.get(), any, size) != 0 || ::getsockname(fd.get(), any, &size) != 0)
    return fail(ErrorCode::machine, "there is no free port: {}", errno_text(errno));
  return ntohs(address.sin_port);
}

std::string replaced(std::string word, std::string_view what, std::string_view by) {
  for (std::size_t at = 0; (at = word.find(what, at)) != std::string::npos; at += by.size())
    word.replace(at, what.size(), by);
  return word;
}

}  // namespace

Result<Upstream> Upstream::create(UpstreamOptions options) {
  ASSAY_TRY(TemporaryDirectory folder, TemporaryDirectory::create());
  SubprocessOptions wanted;
  wanted.argv = options.command;
  wanted.env = options.environment;
  wanted.working_directory = options.folder;
  if (auto there = behind_supervisor(wanted, options.supervisor); !there)
    return fail(ErrorCode::unsupported, "the upstream server cannot be started: {}",
                there.error().message);
  Upstream upstream(std::move(options), std::move(folder));
  for (const std::string& word : upstream.options_.command)
    upstream.tells_port_ |= word.find(kPortFile) != std::string::npos;
  return upstream;
}

Status Upstream::start() {
  ASSAY_TRY(const std::uint16_t port, free_port());
  port_ = tells_port_ ? 0 : port;
  const std::string port_file = folder_.file("port");
  ::unlink(port_file.c_str());
  SubprocessOptions wanted;
  for (const std::string& word : options_.command)
    wanted.argv.push_back(
        replaced(replaced(word, kPortFile, port_file), kPort, std::to_string(port)));
  wanted.env = options_.environment;
  wanted.working_directory = options_.folder;
  return program_.start(wanted, options_.supervisor);
}

std::uint16_t Upstream::port() {
  if (port_ != 0 || !tells_port_) return port_;
  const auto text = read_file(folder_.file("port"), 64);
  if (!text || !text->ends_with('\n')) return 0;
  const std::string_view digits = trim(*text);
  std::from_chars(digits.data(), digits.data() + digits.size(), port_);
  return port_;
}

}  // namespace assay::serve
