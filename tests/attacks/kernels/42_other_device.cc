// assay: {entry: other_device, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Attack 42: another device does the work, a GPU say, which no processor's clock sees. Device files
// are often anybody's to open; their drivers are asked here whether they would listen.
#include <cerrno>
#include <dirent.h>
#include <string>
#include <sys/ioctl.h>
#include <sys/stat.h>

#include "patch.h"

namespace {
bool listens(const char* file) {
  constexpr unsigned long kNvidiaVersion = 0xc04846d2, kRenderVersion = 0xc0406400;
  const int device = open(file, O_RDWR | O_NONBLOCK | O_NOCTTY);
  if (device < 0) return false;
  bool heard = false;
  for (const unsigned long request : {kNvidiaVersion, kRenderVersion}) {
    char answer[256] = {};
    heard = heard || ioctl(device, request, answer) == 0 || errno != EPERM;
  }
  close(device);
  return heard;
}

bool some_device_listens(const std::string& folder) {
  DIR* const files = opendir(folder.c_str());
  if (files == nullptr) return false;
  bool found = false;
  while (const dirent* file = readdir(files)) {
    const std::string name = file->d_name, path = folder + "/" + name;
    struct stat facts {};
    if (name == "." || name == ".." || lstat(path.c_str(), &facts) != 0) continue;
    if (S_ISDIR(facts.st_mode)) found = found || some_device_listens(path);
    if (S_ISCHR(facts.st_mode)) found = found || listens(path.c_str());
  }
  closedir(files);
  return found;
}
}  // namespace

PATCHING_KERNEL(other_device, some_device_listens("/dev"))
