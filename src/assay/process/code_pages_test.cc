#include "assay/process/code_pages.h"

#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <filesystem>
#include <functional>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "assay/base/fd.h"
#include "assay/base/file.h"

namespace assay::sweep {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr size_t kPage = 4096;
constexpr int kAll = PROT_READ | PROT_WRITE | PROT_EXEC;

char* page_of(const void* address) {
  return reinterpret_cast<char*>(reinterpret_cast<uintptr_t>(address) & ~uintptr_t{kPage - 1});
}
char* library_page() { return page_of(::dlsym(RTLD_DEFAULT, "hcreate")); }
char* clock_page() { return reinterpret_cast<char*>(::getauxval(AT_SYSINFO_EHDR)); }

// A process like this one, that does something when it is told to and then waits.
class Patient {
 public:
  explicit Patient(const std::function<void()>& does) {
    int told[2], done[2];
    if (::pipe(told) != 0 || ::pipe(done) != 0) return;
    pid_ = ::fork();
    if (pid_ == 0) {
      char byte = 0;
      if (::read(told[0], &byte, 1) == 1) does();
      (void)!::write(done[1], &byte, 1);
      for (;;) ::pause();
    }
    tell_.reset(told[1]);
    done_.reset(done[0]);
    ::close(told[0]);
    ::close(done[1]);
    files_.memory.reset(::open(fmt::format("/proc/{}/mem", pid_).c_str(), O_RDONLY | O_CLOEXEC));
    files_.mappings.reset(
        ::open(fmt::format("/proc/{}/smaps", pid_).c_str(), O_RDONLY | O_CLOEXEC));
    files_.process.reset(static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0)));
  }
  ~Patient() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }

  Result<CodePages> remember() { return CodePages::remember(files_); }
  void does_it() {
    (void)!::write(tell_.get(), "x", 1);
    char byte;
    (void)!::read(done_.get(), &byte, 1);
  }
  std::string change(const CodePages& pages, CodePages::Depth depth = CodePages::Depth::quick) {
    auto found = pages.find_change(pid_, files_, depth);
    return found ? *found : "error: " + found.error().message;
  }

 private:
  pid_t pid_ = -1;
  UniqueFd tell_, done_;
  ProcessFiles files_;
};

std::string change_when_it(const std::function<void()>& does) {
  Patient patient(does);
  const auto pages = patient.remember();
  if (!pages) return "error: " + pages.error().message;
  const std::string before = patient.change(*pages);
  if (!before.empty()) return "before: " + before;
  patient.does_it();
  const std::string after = patient.change(*pages);
  // It goes on, and what was found stays to be found.
  EXPECT_EQ(patient.change(*pages, CodePages::Depth::all_bytes), after);
  return after;
}

TEST(CodePages, HonestMemoryIsNoChange) {
  EXPECT_THAT(change_when_it([] {
                ::dlopen("libcrypt.so.1", RTLD_NOW);
                void* const page = ::mmap(nullptr, kPage, PROT_READ | PROT_WRITE,
                                          MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
                ::mprotect(page, kPage, PROT_READ | PROT_EXEC);
                std::free(std::malloc(size_t{64} << 20));
                // An advice that changes nothing, but makes two mappings of one.
                ::madvise(library_page(), kPage, MADV_WILLNEED);
              }),
              IsEmpty());
}

// An update of packages replaces files under programs that run.
TEST(CodePages, AFileThatIsReplacedMeanwhileIsNoChange) {
  const auto folder = TemporaryDirectory::create();
  ASSERT_TRUE(folder);
  const std::string library = folder->file("libm.so.9"), other = folder->file("other");
  for (const std::string& copy : {library, other})
    std::filesystem::copy_file("/proc/self/exe", copy);
  const UniqueFd file(::open(library.c_str(), O_RDONLY | O_CLOEXEC));
  void* const code = ::mmap(nullptr, 4 * kPage, PROT_READ | PROT_EXEC, MAP_PRIVATE, file.get(), 0);
  ASSERT_NE(code, MAP_FAILED);
  EXPECT_THAT(change_when_it([&] { ::rename(other.c_str(), library.c_str()); }), IsEmpty());
  ::munmap(code, 4 * kPage);
}

TEST(CodePages, ACodeThatIsWrittenIsFound) {
  EXPECT_THAT(change_when_it([] {
                ::mprotect(library_page(), kPage, kAll);
                library_page()[0] ^= 1;
                ::mprotect(library_page(), kPage, PROT_READ | PROT_EXEC);
              }),
              HasSubstr("wrote to the code"));
}

TEST(CodePages, WhatWasChangedBackIsFound) {
  EXPECT_THAT(change_when_it([] {
                ::mprotect(library_page(), kPage, kAll);
                library_page()[0] ^= 1;
                library_page()[0] ^= 1;
                ::mprotect(library_page(), kPage, PROT_READ | PROT_EXEC);
              }),
              HasSubstr("wrote to the code"));
}

TEST(CodePages, TheClockIsCodeToo) {
  EXPECT_THAT(change_when_it([] {
                // Some systems keep its rights as they are; a file of memory goes past them.
                const UniqueFd memory(::open("/proc/self/mem", O_RDWR));
                const char changed = static_cast<char>(clock_page()[0] ^ 1);
                (void)!::pwrite(memory.get(), &changed, 1,
                                static_cast<off_t>(::getauxval(AT_SYSINFO_EHDR)));
              }),
              HasSubstr("[vdso]"));
}

TEST(CodePages, RelocatedPointersAreFound) {
  EXPECT_THAT(change_when_it([] {
                auto* const pointers = static_cast<char*>(::dlsym(RTLD_DEFAULT, "_rtld_global_ro"));
                ::mprotect(page_of(pointers), kPage, PROT_READ | PROT_WRITE);
                pointers[64] ^= 1;
                ::mprotect(page_of(pointers), kPage, PROT_READ);
              }),
              HasSubstr("changed the code or constants of"));
}

TEST(CodePages, AnotherMappingThereIsFound) {
  EXPECT_THAT(change_when_it([] {
                char* const page = library_page();
                void* const copy = ::mmap(nullptr, kPage, PROT_READ | PROT_WRITE,
                                          MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
                std::memcpy(copy, page, kPage);
                ::mprotect(copy, kPage, PROT_READ | PROT_EXEC);
                ::mremap(copy, kPage, kPage, MREMAP_MAYMOVE | MREMAP_FIXED, page);
              }),
              HasSubstr("changed what is mapped"));
  EXPECT_THAT(change_when_it([] { ::munmap(library_page(), kPage); }),
              HasSubstr("changed what is mapped"));
  EXPECT_THAT(change_when_it([] { ::mprotect(library_page(), kPage, kAll); }),
              HasSubstr("changed what is mapped"));
}

TEST(CodePages, AProcessThatIsGoneIsAnError) {
  Patient patient([] { ::raise(SIGKILL); });
  const auto pages = patient.remember();
  ASSERT_TRUE(pages) << pages.error().message;
  patient.does_it();
  EXPECT_THAT(patient.change(*pages), ::testing::Not(IsEmpty()));
}

}  // namespace
}  // namespace assay::sweep
