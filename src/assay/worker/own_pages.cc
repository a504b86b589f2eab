#include "assay/worker/own_pages.h"

#include <fcntl.h>
#include <unistd.h>

#include "assay/base/fd.h"
#include "assay/process/descriptors.h"

namespace assay::sweep {
namespace {

bool is_kept = false;

UniqueFd open_table() { return UniqueFd(::open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC)); }

}  // namespace

void keep_page_table() {
  const UniqueFd table = open_table();
  is_kept = table && ::fcntl(process::kPagesFd, F_GETFD) < 0 &&
            ::dup3(table.get(), process::kPagesFd, O_CLOEXEC) == process::kPagesFd;
}

std::vector<PageOf> owners_of_pages(uintptr_t begin, size_t pages) {
  constexpr uint64_t kOfFile = uint64_t{1} << 61, kPresent = uint64_t{1} << 63;
  UniqueFd opened;
  if (!is_kept) opened = open_table();
  const int table = is_kept ? process::kPagesFd : opened.get();
  std::vector<uint64_t> entries(pages);
  const size_t bytes = pages * sizeof(uint64_t);
  const auto at = static_cast<off_t>(begin / kPageBytes * sizeof(uint64_t));
  if (table < 0 || ::pread(table, entries.data(), bytes, at) != static_cast<ssize_t>(bytes))
    return {};
  std::vector<PageOf> owners;
  owners.reserve(pages);
  for (const uint64_t entry : entries)
    owners.push_back((entry & kPresent) == 0  ? PageOf::nobody
                     : (entry & kOfFile) != 0 ? PageOf::file
                                              : PageOf::process);
  return owners;
}

}  // namespace assay::sweep
