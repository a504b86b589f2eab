#include "assay/worker/cpu/approach.h"

#include <algorithm>
#include <cstring>
#include <sys/mman.h>
#include <vector>

#include <gtest/gtest.h>

#include "assay/base/clock.h"
#include "assay/process/memory_map.h"

namespace assay::sweep {
namespace {

TEST(ApproachTest, EndsNoSoonerThanItIsTold) {
  const auto approach = Approach::create();
  ASSERT_TRUE(approach) << approach.error().message;
  for (const int64_t ns : {int64_t{0}, int64_t{1'000'000}, int64_t{20'000'000}}) {
    const int64_t until_ns = monotonic_ns() + ns;
    ASSERT_TRUE((*approach)->end(until_ns));
    EXPECT_GE(monotonic_ns(), until_ns);
  }
}

// A line of some page, by whoever gives itself the right to write there.
TEST(ApproachTest, WhoWritesThereIsFound) {
  const std::vector<OwnMapping> before = read_memory_map();
  const auto approach = Approach::create();
  ASSERT_TRUE(approach) << approach.error().message;
  constexpr size_t kLeast = size_t{1} << 24, kLine = 64;
  std::byte* theirs = nullptr;
  for (const OwnMapping& mapping : read_memory_map())
    if (mapping.read && !mapping.write && mapping.inode == 0 &&
        mapping.end - mapping.begin >= kLeast &&
        std::ranges::none_of(before, [&](const OwnMapping& old) {
          return old.begin < mapping.end && mapping.begin < old.end;
        }))
      theirs = reinterpret_cast<std::byte*>(mapping.begin);
  ASSERT_NE(theirs, nullptr) << "it can be written to";
  ASSERT_TRUE((*approach)->end(0));
  std::byte* const line = theirs + kLeast / 3 / kLine * kLine;
  auto* const page = reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(line) / 4096 * 4096);
  ASSERT_EQ(::mprotect(page, 4096, PROT_READ | PROT_WRITE), 0);
  std::memset(line, 1, kLine);
  bool found = false;
  for (int pass = 0; pass < 1000 && !found; ++pass) found = !(*approach)->end(0);
  EXPECT_TRUE(found);
}

}  // namespace
}  // namespace assay::sweep
