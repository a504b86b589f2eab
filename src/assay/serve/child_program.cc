#include "assay/serve/child_program.h"

#include <algorithm>
#include <fcntl.h>
#include <unistd.h>

#include <fmt/format.h>

#include "assay/base/supervise.h"
#include "assay/base/text.h"

namespace assay::serve {
namespace {

constexpr std::size_t kKept = 16 << 10;   // Of its output.
constexpr std::size_t kMostShown = 1200;  // Of that, in a message.
constexpr int kPipeBytes = 1 << 20;       // It must not wait for us to read what it says.

}  // namespace

Status ChildProgram::start(const SubprocessOptions& options, const std::string& supervisor) {
  stop();
  said_.clear();
  int pipe[2];
  if (::pipe2(pipe, O_CLOEXEC) != 0)
    return fail(ErrorCode::machine, "there is no pipe for a program's output: {}",
                errno_text(errno));
  output_.reset(pipe[0]);
  const UniqueFd theirs(pipe[1]);
  ::fcntl(output_.get(), F_SETFL, O_NONBLOCK);
  ::fcntl(output_.get(), F_SETPIPE_SZ, kPipeBytes);
  SubprocessOptions wanted = options;
  wanted.stdout_to = wanted.stderr_to = Redirect::fd(theirs.get());
  ASSAY_TRY(const SubprocessOptions behind, behind_supervisor(wanted, supervisor));
  ASSAY_TRY(process_, Subprocess::start(behind));
  return {};
}

void ChildProgram::stop() {
  if (!process_) return;
  static_cast<void>(process_->terminate(kSupervisorGraceNs));
  read_output();
  process_.reset();
}

void ChildProgram::read_output() {
  char bytes[16 << 10];
  for (ssize_t size; (size = ::read(output_.get(), bytes, sizeof bytes)) > 0;) {
    said_.append(bytes, static_cast<std::size_t>(size));
    if (said_.size() > 2 * kKept) said_.erase(0, said_.size() - kKept);
  }
}

std::optional<std::string> ChildProgram::look() {
  if (!process_) return std::nullopt;
  read_output();
  const auto status = process_->poll();
  if (status && status->running()) return std::nullopt;
  read_output();
  process_.reset();
  return status ? status->describe() : status.error().message;
}

std::string ChildProgram::last_words() const {
  const std::string_view end = trim(said_);
  return sanitize(end.substr(end.size() - std::min(end.size(), kMostShown)), 2 * kMostShown);
}

std::string ChildProgram::account(std::string_view what, std::string_view ending) const {
  const std::string said = last_words();
  return fmt::format("{} {}; {}", what, ending,
                     said.empty() ? "it said nothing" : "the end of what it said: " + said);
}

}  // namespace assay::serve
