#include "assay/process/confine.h"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <dlfcn.h>
#include <fcntl.h>
#include <functional>
#include <sys/auxv.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "assay/process/code_seal.h"
#include "assay/process/denied_calls.h"
#include "assay/process/descriptors.h"

namespace assay::sweep {
namespace {

constexpr size_t kPage = 4096;

bool in_a_child(const std::function<bool()>& holds) {
  const pid_t child = ::fork();
  if (child == 0) _exit(holds() ? 0 : 1);
  int status = 1;
  return ::waitpid(child, &status, 0) == child && status == 0;
}

char* page_of(const void* address) {
  return reinterpret_cast<char*>(reinterpret_cast<uintptr_t>(address) & ~uintptr_t{kPage - 1});
}

bool denied(bool failed) { return failed && errno == EPERM; }

// By which pages could be changed that lie in `page`'s place.
bool all_is_denied(char* page) {
  constexpr int kRights = PROT_READ | PROT_EXEC;
  void* const other =
      ::mmap(nullptr, 2 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return denied(::mprotect(page, kPage, kRights) != 0) &&
         denied(::mprotect(page, 1, kRights) != 0) &&
         denied(::pkey_mprotect(page, kPage, kRights, -1) != 0) &&
         denied(::mremap(page, kPage, kPage, MREMAP_MAYMOVE | MREMAP_FIXED, other) == MAP_FAILED) &&
         denied(::mremap(other, kPage, kPage, MREMAP_MAYMOVE | MREMAP_FIXED, page) == MAP_FAILED) &&
         denied(::mmap(page, kPage, kRights, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) ==
                MAP_FAILED) &&
         // A longer range that ends, or begins, there.
         denied(::mprotect(page - kPage, 2 * kPage, kRights) != 0) &&
         denied(::munmap(page, 2 * kPage) != 0) && denied(::munmap(page, kPage) != 0);
}

bool honest_calls_pass() {
  auto* const own = static_cast<char*>(
      ::mmap(nullptr, 8 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  return ::mprotect(own, kPage, PROT_READ | PROT_EXEC) == 0 &&
         ::mmap(own + kPage, kPage, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) ==
             own + kPage &&
         ::madvise(own + 2 * kPage, kPage, MADV_DONTNEED) == 0 &&
         ::mremap(own + 2 * kPage, kPage, kPage, MREMAP_MAYMOVE | MREMAP_FIXED, own + 4 * kPage) ==
             own + 4 * kPage &&
         ::munmap(own, 8 * kPage) == 0;
}

TEST(CodeSeal, NothingChangesTheCodeOfMappedObjects) {
  EXPECT_TRUE(in_a_child([] {
    if (!seal(read_only_pages())) return true;  // An older system.
    return !code_can_be_changed() && all_is_denied(page_of(::dlsym(RTLD_DEFAULT, "pread"))) &&
           all_is_denied(page_of(reinterpret_cast<void*>(&seal))) && honest_calls_pass();
  }));
}

// Who took the place of our channel, or of our pulses, would speak for us.
TEST(CodeSeal, NobodyTakesThePlaceOfOurDescriptors) {
  EXPECT_TRUE(in_a_child([] {
    forbid_new_privileges();
    const int own = ::open("/dev/null", O_RDONLY);
    constexpr int kOurs[] = {process::kChannelFd, process::kPulseFd, process::kQuestionFd};
    for (const int ours : kOurs)
      if (::dup2(own, ours) != ours) return false;
    const auto objects = objects_in_order();
    forbid_escaping({.objects = objects, .sealed = seal(read_only_pages())});
    return std::ranges::all_of(kOurs,
                               [&](int ours) {
                                 return denied(::dup2(own, ours) < 0) &&
                                        denied(::dup3(own, ours, O_CLOEXEC) < 0) &&
                                        denied(::close(ours) != 0);
                               }) &&
           denied(::syscall(SYS_close_range, 3U, 10U, 0U) != 0) && ::dup2(own, 20) == 20 &&
           ::close(20) == 0;
  }));
}

// A seal allows to drop pages: relocated pointers would be as in the file.
TEST(CodeSeal, SealedPagesAreNotDroppedEither) {
  EXPECT_TRUE(in_a_child([] {
    forbid_new_privileges();
    const auto objects = objects_in_order();
    forbid_escaping({.objects = objects, .sealed = seal(read_only_pages())});
    char* const pointers = page_of(::dlsym(RTLD_DEFAULT, "_rtld_global_ro"));
    return denied(::madvise(pointers, kPage, MADV_DONTNEED) != 0) && !code_can_be_changed() &&
           honest_calls_pass();
  }));
}

TEST(CodeSeal, AFilterDoesTheSameWhereNothingCanBeSealed) {
  EXPECT_TRUE(in_a_child([] {
    forbid_new_privileges();
    const auto objects = objects_in_order();
    forbid_escaping({.objects = objects});
    return !code_can_be_changed() && all_is_denied(page_of(::dlsym(RTLD_DEFAULT, "pread"))) &&
           all_is_denied(page_of(reinterpret_cast<void*>(&seal))) &&
           denied(::mprotect(page_of(reinterpret_cast<void*>(::getauxval(AT_SYSINFO_EHDR))), kPage,
                             PROT_READ | PROT_EXEC) != 0) &&
           honest_calls_pass();
  }));
}

// Of a GPU, or of a virtual machine: work that no clock of ours sees.
TEST(CodeSeal, NoDriverIsAskedForWork) {
  const auto are_asked = [](const Kept& kept) {
    return in_a_child([&] {
      forbid_new_privileges();
      const auto objects = objects_in_order();
      Kept with_objects = kept;
      with_objects.objects = objects;
      forbid_escaping(with_objects);
      int ends[2], waiting = -1;
      if (::pipe(ends) != 0 || ::write(ends[1], "abc", 3) != 3) return false;
      const auto reaches_driver = [&](unsigned long request) {
        errno = 0;
        return ::ioctl(ends[0], request, &waiting) == 0 || errno != EPERM;
      };
      if (!reaches_driver(FIONREAD) || waiting != 3 || ::isatty(ends[0]) != 0) return false;
      constexpr unsigned long kNvidia = 0xc0484600 | 0x2a, kRender = 0xc0406400, kVirtual = 0xae01,
                              kUvm = 0x30000001, kCounters = 0x2400;
      return reaches_driver(kNvidia) == kept.devices && reaches_driver(kRender) == kept.devices &&
             reaches_driver(kVirtual) == kept.devices && reaches_driver(kUvm) == kept.devices &&
             reaches_driver(kCounters) == (kept.devices || kept.counts);
    });
  };
  EXPECT_TRUE(are_asked({}));
  EXPECT_TRUE(are_asked({.counts = true}));
  EXPECT_TRUE(are_asked({.devices = true}));
}

// Ends of ranges in which the halves of an address differ, and carry.
TEST(CallFilter, ARangeIsTouchedOrNot) {
  struct Case {
    AddressRange kept;
    uintptr_t address;
    size_t length;
    bool touched;
  };
  constexpr uintptr_t kHalf = uintptr_t{1} << 32;
  const Case cases[] = {
      {{5 * kHalf, 6 * kHalf}, 5 * kHalf - kPage, kPage, false},
      {{5 * kHalf, 6 * kHalf}, 5 * kHalf - kPage, 2 * kPage, true},
      {{5 * kHalf, 6 * kHalf}, 6 * kHalf - kPage, kPage, true},
      {{5 * kHalf, 6 * kHalf}, 6 * kHalf, kPage, false},
      {{5 * kHalf, 6 * kHalf}, kHalf, 10 * kHalf, true},
      {{5 * kHalf + kPage, 5 * kHalf + 2 * kPage}, 5 * kHalf, kPage, false},
      {{5 * kHalf + kPage, 5 * kHalf + 2 * kPage}, 5 * kHalf, kPage + 1, true},
      {{5 * kHalf + kPage, 5 * kHalf + 2 * kPage}, 4 * kHalf + kPage, kHalf, false},
      {{5 * kHalf + kPage, 5 * kHalf + 2 * kPage}, 4 * kHalf + kPage, kHalf + 1, true},
      {{5 * kHalf + kPage, 5 * kHalf + 2 * kPage}, 5 * kHalf + 2 * kPage, kPage, false},
  };
  for (const Case& one : cases) {
    const auto seen = [&] {
      forbid_new_privileges();
      const AddressRange kept[] = {{kPage, 2 * kPage}, one.kept};
      CallFilter filter;
      filter.deny_overlap({SYS_munmap, SYS_mprotect}, {}, kept);
      if (!filter.install()) return !one.touched;
      // Nothing is mapped there: 0 where it is allowed.
      return (::munmap(reinterpret_cast<void*>(one.address), one.length) != 0) == one.touched;
    };
    EXPECT_TRUE(in_a_child(seen)) << one.kept.begin << " " << one.address << " " << one.length;
  }
}

}  // namespace
}  // namespace assay::sweep
