#include "assay/sweep/confine.h"

#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace assay::sweep {

bool confine(bool wanted) {
  const rlimit none{0, 0};
  bool done = ::setrlimit(RLIMIT_CORE, &none) == 0;
  if (!wanted) return false;
  done = ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && done;
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[2] = {};
  done = ::syscall(SYS_capset, &header, data) == 0 && done;
  return done;
}

void hide_memory() { ::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); }

}  // namespace assay::sweep
