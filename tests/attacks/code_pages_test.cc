// The pages of a real worker, compared by who keeps the score: with all the rights that this user
// has, which are more than a candidate's, somebody writes to them.

#include <fcntl.h>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <unistd.h>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "assay/base/fd.h"
#include "assay/base/file.h"
#include "assay/input/kernel_source.h"
#include "assay/process/child_process.h"
#include "assay/process/messages.h"

namespace assay::sweep {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr double kSeconds = 120;

// The first address of a mapping whose line has both, in a process.
off_t address_of(pid_t pid, std::string_view rights, std::string_view name) {
  std::ifstream maps(fmt::format("/proc/{}/maps", pid));
  for (std::string line; std::getline(maps, line);)
    if (line.find(rights) != std::string::npos && line.find(name) != std::string::npos)
      return static_cast<off_t>(std::stoull(line, nullptr, 16));
  return 0;
}

bool flip(pid_t pid, off_t address) {
  const UniqueFd memory(::open(fmt::format("/proc/{}/mem", pid).c_str(), O_RDWR | O_CLOEXEC));
  char byte = 0;
  if (!memory || ::pread(memory.get(), &byte, 1, address) != 1) return false;
  byte = static_cast<char>(byte ^ 1);
  return ::pwrite(memory.get(), &byte, 1, address) == 1;
}

class WorkersCode : public ::testing::Test {
 protected:
  void SetUp() override {
    ChildOptions options;
    options.role = "worker";
    options.program = ASSAY_PROGRAM_FILE;
    options.environment = {"PATH=/usr/bin:/bin"};
    options.guard = ChildOptions::Guard::confining;
    auto started = ChildProcess::start(options);
    ASSERT_TRUE(started) << started.error().message;
    worker_.emplace(std::move(*started));
    const auto sources = input::pack({});  // Nobody's.
    ASSERT_TRUE(sources) << sources.error().message;
    process::Init init;
    init.kernels = sources->json;
    init.files.lend(sources->bytes.get());
    init.venue.threads = 1;
    init.confine = true;
    init.parent = ::getpid();
    init.cache = folder_.path();
    const auto ready = worker_->call(init, kSeconds);
    ASSERT_TRUE(ready) << as_error(ready.error(), "init").message;
    EXPECT_THAT(ready->confinement.gaps, Not(Contains(HasSubstr("can change the code"))));
    ASSERT_TRUE(worker_->remember_code());
  }

  // Of a process that goes on as before.
  std::string change() {
    const std::string found = worker_->find_changed_code();
    EXPECT_TRUE(worker_->call(process::MeasureTimer{}, kSeconds));
    return found;
  }

  TemporaryDirectory folder_ = TemporaryDirectory::create("/tmp", "assay-code-").value();
  std::optional<ChildProcess> worker_;
};

TEST_F(WorkersCode, IsAsItWas) {
  EXPECT_THAT(change(), IsEmpty());
  EXPECT_THAT(change(), IsEmpty());
}

TEST_F(WorkersCode, IsSeenToChange) {
  // A page of each that holds nothing which the worker runs from now on: the first of its code.
  const std::pair<const char*, const char*> places[] = {{"r-xp", "libc.so"}, {"r-xp", "[vdso]"}};
  for (const auto& [rights, name] : places) {
    const off_t address = address_of(worker_->pid(), rights, name);
    if (address == 0 || !flip(worker_->pid(), address))
      GTEST_SKIP() << "this user may not write to a worker's memory";
    EXPECT_THAT(worker_->find_changed_code(), HasSubstr("wrote to the code"));
    ASSERT_TRUE(flip(worker_->pid(), address));
    // It is the file's no more.
    EXPECT_THAT(change(), HasSubstr(name));
    TearDown();
    SetUp();
  }
}

}  // namespace
}  // namespace assay::sweep
