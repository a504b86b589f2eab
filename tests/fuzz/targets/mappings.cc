// /proc/PID/smaps of a worker, in which names are untrusted.

#include <algorithm>

#include <fmt/format.h>

#include "assay/process/code_pages.h"
#include "tests/fuzz/fuzz.h"

namespace assay {

ASSAY_FUZZ_TARGET(mappings) {
  const auto mappings = sweep::read_mappings(bytes);
  fuzz::expect(mappings.size() <= static_cast<size_t>(std::count(bytes.begin(), bytes.end(), '-')),
               "more mappings than lines");
  std::string written;
  for (const sweep::Mapping& mapping : mappings) {
    fuzz::expect(mapping.anonymous >= 0, "a mapping of fewer than no bytes");
    constexpr int64_t kMost = int64_t{1} << 50;  // More than addresses reach is cut.
    if (mapping.rights.empty() || mapping.file.ends_with(' ') || mapping.anonymous > kMost) return;
    written += fmt::format("{:x}-{:x} {} {:x} {} {}\nAnonymous: {} kB\n", mapping.begin,
                           mapping.end, mapping.rights, mapping.offset, mapping.file, mapping.name,
                           mapping.anonymous >> 10);
  }
  const auto again = sweep::read_mappings(written);
  fuzz::expect(again.size() == mappings.size(), "mappings are lost or added");
  for (size_t i = 0; i < mappings.size() && i < again.size(); ++i) {
    const auto &before = mappings[i], &after = again[i];
    fuzz::expect(before.begin == after.begin && before.end == after.end &&
                     before.rights == after.rights && before.offset == after.offset &&
                     before.file == after.file && before.anonymous == after.anonymous,
                 "a mapping changes");
    fuzz::expect_same(after.name, before.name, "a mapping's name changes");
  }
}

}  // namespace assay
