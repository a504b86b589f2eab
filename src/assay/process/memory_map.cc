#include "assay/process/memory_map.h"

#include <cstdio>
#include <string_view>
#include <sys/sysmacros.h>

#include "assay/base/file.h"

namespace assay::sweep {

// Lines are "BEGIN-END RIGHTS OFFSET MAJOR:MINOR INODE    NAME".
std::vector<OwnMapping> read_memory_map() {
  std::vector<OwnMapping> map;
  const auto text = read_file("/proc/self/maps", size_t{64} << 20);
  for (std::string_view rest = text ? *text : std::string_view(); !rest.empty();) {
    const std::string line(rest.substr(0, rest.find('\n')));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    unsigned long begin = 0, end = 0, offset = 0, inode = 0;
    unsigned major = 0, minor = 0;
    char rights[5] = {};
    int name = 0;
    if (std::sscanf(line.c_str(), "%lx-%lx %4s %lx %x:%x %lu %n", &begin, &end, rights, &offset,
                    &major, &minor, &inode, &name) != 7)
      continue;
    map.push_back({.begin = begin,
                   .end = end,
                   .read = rights[0] == 'r',
                   .write = rights[1] == 'w',
                   .run = rights[2] == 'x',
                   .shared = rights[3] == 's',
                   .offset = offset,
                   .device = makedev(major, minor),
                   .inode = inode,
                   .name = line.substr(static_cast<size_t>(name))});
  }
  return map;
}

}  // namespace assay::sweep
