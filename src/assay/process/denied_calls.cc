#include "assay/process/denied_calls.h"

#include <algorithm>
#include <cerrno>
#include <linux/sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "assay/process/descriptors.h"

namespace assay::sweep {

#if defined(__x86_64__)
namespace {

constexpr uint32_t kNewNamespaces = CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET |
                                    CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP;
// Of newer systems than headers may be.
constexpr uint32_t kSystemCallDispatch = 59, kMemoryDenyWriteExecute = 65, kMemoryMerge = 67;
constexpr long kPidfdGetfd = 438, kProcessMadvise = 440;
// The kind of driver that a request of ioctl(2) is for: its second byte. Descriptors of all kinds
// ask how much can be read as terminals do.
constexpr uint32_t kDriverBits = 0xff00, kOfTerminals = 'T' << 8, kOfCounters = '$' << 8;
constexpr long kIoUringSetup = 425, kIoUringEnter = 426, kIoUringRegister = 427;

}  // namespace
#endif

void forbid_escaping(const Kept& kept) {
#if defined(__x86_64__)
  CallFilter filter;
  filter.deny({SYS_setrlimit, SYS_seccomp});
  filter.deny_unless_null(SYS_prlimit64, 2);  // The new limits: to read them it is null.
  // Of the whole process, and beyond recall: who debugs it, other filters, when its clock may be
  // read, which system calls become signals, huge pages, what may be both written and run.
  filter.deny_values(
      SYS_prctl, 0,
      {PR_SET_SECCOMP, PR_SET_CHILD_SUBREAPER, PR_SET_DUMPABLE, PR_SET_PTRACER, PR_SET_TSC,
       kSystemCallDispatch, PR_SET_THP_DISABLE, kMemoryDenyWriteExecute, kMemoryMerge});
  // A lower priority cannot be taken back without privileges.
  filter.deny({SYS_setpriority, SYS_sched_setscheduler, SYS_sched_setparam, SYS_sched_setattr,
               SYS_ioprio_set});
  filter.deny_bits(SYS_clone, 0, CLONE_PARENT | kNewNamespaces);
  // Its flags lie in memory, where a filter cannot look: the C library then calls clone.
  filter.deny({SYS_clone3}, ENOSYS);
  filter.deny({SYS_unshare, SYS_setns, SYS_mount, SYS_umount2, SYS_pivot_root, SYS_chroot,
               SYS_ptrace, SYS_kcmp, kPidfdGetfd, SYS_bpf});
  // Pages that are filled when somebody reads them: work after the clock has stopped.
  filter.deny({SYS_userfaultfd});
  // Interrupts at moments that were set before, on the core of whoever runs then.
  if (!kept.objects.empty()) filter.deny({SYS_timerfd_create, SYS_timerfd_settime});
  // Work that a GPU or its like does is on no clock of a processor. Device files are often
  // anybody's to open, but their drivers take work by ioctl alone.
  if (!kept.objects.empty() && !kept.devices)
    filter.deny_unless(SYS_ioctl, 1, kDriverBits,
                       {kOfTerminals, kept.counts ? kOfCounters : kOfTerminals});
  // Memory by other ways than loads and stores; io_uring makes system calls that no filter sees.
  filter.deny({SYS_process_vm_readv, SYS_process_vm_writev, kProcessMadvise, SYS_remap_file_pages,
               kIoUringSetup, kIoUringEnter, kIoUringRegister});
  // Our channel, our pulses and our table of pages stay what they are: who took their place would
  // speak for us, or to us.
  static constexpr std::initializer_list<uint32_t> kOurs = {
      process::kChannelFd, process::kPulseFd, process::kQuestionFd, process::kPagesFd};
  if (!kept.objects.empty()) {
    filter.deny({SYS_close_range});
    filter.deny_values(SYS_close, 0, kOurs);
    filter.deny_values(SYS_dup2, 1, kOurs);
    filter.deny_values(SYS_dup3, 1, kOurs);
  }
  // Memory that is no process's, and outlives its owner.
  filter.deny({SYS_shmget, SYS_shmat, SYS_msgget, SYS_add_key, SYS_request_key, SYS_keyctl});
  // A breakpoint of the processor's would run a handler in place of the code under it.
  if (!kept.counts) filter.deny({SYS_perf_event_open});
  constexpr size_t kMostRanges = 48;  // Of a program's 4096 statements four rules have 11 for each.
  const auto ranges = kept.objects.first(std::min(kept.objects.size(), kMostRanges));
  if (!ranges.empty()) filter.deny_overlap({SYS_madvise}, {}, ranges);
  if (!ranges.empty() && !kept.sealed) {
    filter.deny_overlap({SYS_mprotect, SYS_munmap, SYS_mremap, SYS_pkey_mprotect}, {}, ranges);
    filter.deny_overlap({SYS_mmap}, {.flags = 3, .bits = MAP_FIXED}, ranges);
    filter.deny_overlap({SYS_mremap}, {4, 2, 3, MREMAP_FIXED}, ranges);
  }
  (void)filter.install();
#else
  (void)kept;
#endif
}

}  // namespace assay::sweep
