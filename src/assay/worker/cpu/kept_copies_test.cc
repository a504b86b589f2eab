#include "assay/worker/cpu/kept_copies.h"

#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "assay/base/fd.h"
#include "assay/base/random.h"

namespace assay::sweep {
namespace {

constexpr size_t kBytes = size_t{8} << 20, kLeast = size_t{1} << 20;
// The test's own heap and stack change, too.
constexpr size_t kOwnBytes = size_t{1} << 20;

class Memory {
 public:
  Memory()
      : bytes_(static_cast<std::byte*>(
            ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))) {}
  ~Memory() { ::munmap(bytes_, kBytes); }
  void fill(uint64_t key) {
    const CounterRandom random{key, 1};
    for (size_t at = 0; at < kBytes; at += 4) {
      const uint32_t word = random.word(at / 4);
      std::memcpy(bytes_ + at, &word, sizeof word);
    }
  }
  // To a place where it did not lie before.
  void move() {
    void* const there = ::mmap(nullptr, 2 * kBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    bytes_ = static_cast<std::byte*>(
        ::mremap(bytes_, kBytes, kBytes, MREMAP_MAYMOVE | MREMAP_FIXED, there));
  }
  std::byte* data() { return bytes_; }

 private:
  std::byte* bytes_;
};

TEST(KeptCopies, WhatStaysIsFlushedAndWhatIsWrittenAnewIsNot) {
  CodeCopies code;
  KeptCopies copies(code);
  Memory kept, scratch;
  kept.fill(1);
  scratch.fill(2);
  copies.cool({}, kLeast);
  for (uint64_t burst = 3; burst < 6; ++burst) {
    scratch.fill(burst);
    const size_t flushed = copies.cool({}, kLeast);
    EXPECT_GE(flushed, kBytes);
    EXPECT_LT(flushed, kBytes + kOwnBytes);
  }
}

// Rights that are taken away until the copies are used hide nothing either.
TEST(KeptCopies, RightsHideNothing) {
  for (const int rights : {PROT_READ, PROT_WRITE, PROT_NONE, PROT_READ | PROT_EXEC}) {
    CodeCopies code;
    KeptCopies copies(code);
    Memory kept;
    kept.fill(1);
    ASSERT_EQ(::mprotect(kept.data(), kBytes, rights), 0);
    copies.cool({}, kLeast);
    EXPECT_GE(copies.cool({}, kLeast), kBytes) << rights;
  }
}

TEST(KeptCopies, PrivatePagesOfAFileAreNoFiles) {
  CodeCopies code;
  KeptCopies copies(code);
  const UniqueFd program(::open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
  void* const mapped =
      ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE, program.get(), 0);
  ASSERT_NE(mapped, MAP_FAILED);
  // Of pages that nobody wrote, the file's own bytes are no copies.
  Memory grown;
  grown.fill(1);
  copies.cool({}, kLeast);
  EXPECT_LT(copies.cool({}, kLeast), kBytes + kOwnBytes);
  const CounterRandom random{2, 1};
  for (size_t at = 0; at < kBytes; at += 4) {
    const uint32_t word = random.word(at / 4);
    std::memcpy(static_cast<std::byte*>(mapped) + at, &word, sizeof word);
  }
  ASSERT_EQ(::mprotect(mapped, kBytes, PROT_READ), 0);
  copies.cool({}, kLeast);
  EXPECT_GE(copies.cool({}, kLeast), 2 * kBytes);
  ::munmap(mapped, kBytes);
}

TEST(KeptCopies, AnotherPlaceHidesNothing) {
  CodeCopies code;
  KeptCopies copies(code);
  Memory kept;
  kept.fill(1);
  copies.cool({}, kLeast);
  for (int burst = 0; burst < 3; ++burst) {
    kept.move();
    EXPECT_GE(copies.cool({}, kLeast), kBytes);
  }
}

TEST(KeptCopies, NorDoesAFileOfMemoryThatNobodyMaps) {
  CodeCopies code;
  KeptCopies copies(code);
  const UniqueFd file(::memfd_create("kept", MFD_CLOEXEC));
  {
    Memory kept;
    kept.fill(1);
    ASSERT_EQ(::write(file.get(), kept.data(), kBytes), static_cast<ssize_t>(kBytes));
  }
  size_t flushed = 0;
  for (int burst = 0; burst < 1000 && flushed == 0; ++burst) flushed = copies.cool({}, kLeast);
  EXPECT_GE(flushed, kBytes);
}

// It counts as a file's, and has no descriptor.
TEST(KeptCopies, NorDoesAPrivateViewOfSuchAFile) {
  CodeCopies code;
  KeptCopies copies(code);
  void* view = nullptr;
  {
    const UniqueFd file(::memfd_create("kept", MFD_CLOEXEC));
    Memory kept;
    kept.fill(1);
    ASSERT_EQ(::write(file.get(), kept.data(), kBytes), static_cast<ssize_t>(kBytes));
    view = ::mmap(nullptr, kBytes, PROT_READ, MAP_PRIVATE | MAP_POPULATE, file.get(), 0);
    ASSERT_NE(view, MAP_FAILED);
  }
  size_t flushed = 0;
  for (int burst = 0; burst < 1000 && flushed == 0; ++burst) flushed = copies.cool({}, kLeast);
  EXPECT_GE(flushed, kBytes);
  ::munmap(view, kBytes);
}

TEST(KeptCopies, LittleIsNotWorthALookAndOursIsNone) {
  CodeCopies code;
  KeptCopies copies(code);
  Memory kept;
  kept.fill(1);
  const KeptCopies::Bytes ours(kept.data(), kBytes);
  for (int burst = 0; burst < 20; ++burst) {
    EXPECT_EQ(copies.cool({}, 4 * kBytes), 0u);
    EXPECT_EQ(copies.cool(std::span(&ours, 1), kLeast), 0u);
  }
}

}  // namespace
}  // namespace assay::sweep
