#include "assay/worker/code_copies.h"

#include <algorithm>
#include <fcntl.h>
#include <sys/mman.h>
#include <vector>

#include <gtest/gtest.h>

#include "assay/base/fd.h"
#include "assay/worker/own_pages.h"

namespace assay::sweep {
namespace {

// Pages of this program's file, mapped once more as code. They are read, so that they are there.
class Code {
 public:
  explicit Code(size_t pages) : bytes_(pages * kPageBytes) {
    const UniqueFd program(::open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
    data_ = static_cast<std::byte*>(
        ::mmap(nullptr, bytes_, PROT_READ | PROT_EXEC, MAP_PRIVATE, program.get(), 0));
    for (size_t at = 0; at < bytes_; at += kPageBytes)
      (void)*static_cast<volatile std::byte*>(data_ + at);
  }
  ~Code() { ::munmap(data_, bytes_); }
  uintptr_t page(size_t which) const {
    return reinterpret_cast<uintptr_t>(data_) + which * kPageBytes;
  }
  std::vector<PageOf> owners() const { return owners_of_pages(page(0), bytes_ / kPageBytes); }
  std::vector<std::byte> bytes() const { return {data_, data_ + bytes_}; }
  // Every second line of a page, whoever may write it.
  void spoil(size_t which) {
    ASSERT_EQ(::mprotect(data_, bytes_, PROT_READ | PROT_WRITE | PROT_EXEC), 0);
    for (size_t at = 0; at < kPageBytes; at += 128)
      data_[which * kPageBytes + at] ^= std::byte{0xff};
  }

 private:
  size_t bytes_;
  std::byte* data_ = nullptr;
};

bool all(const std::vector<PageOf>& owners, PageOf owner) {
  return !owners.empty() && std::ranges::count(owners, owner) == std::ssize(owners);
}

// This program's own code is copied first, as much as there is: it is more than is kept.
void copy_own_code() {
  for (bool more = true; more;) {
    CodeCopies copies;
    copies.take();
    more = copies.kept().size() >= CodeCopies::kMost;
  }
}

// A list that another process made may hold anything.
TEST(CodeCopies, WhatIsNotMappedIsNotCopied) {
  const Code code(8);
  std::vector<process::RanCode> ran = code_that_ran();
  ASSERT_FALSE(ran.empty());
  for (process::RanCode& one : ran) one.stretches = {{1u << 30, ~uint64_t{0}}, {5, 3}};
  ran.push_back({"no file", ~uint64_t{0}, {}});
  copy_code(ran);
  copy_code({});
  EXPECT_TRUE(all(code.owners(), PageOf::file));
}

TEST(CodeCopies, WhatIsMappedBecomesThisProcesssOwnAndStaysTheSame) {
  const Code code(64);
  const auto before = code.bytes();
  ASSERT_TRUE(all(code.owners(), PageOf::file));
  copy_code(code_that_ran());
  EXPECT_TRUE(all(code.owners(), PageOf::process));
  EXPECT_EQ(code.bytes(), before);
}

TEST(CodeCopies, WhatHasRunIsCopiedAndKnown) {
  copy_own_code();
  const Code code(64);
  const auto before = code.bytes();
  CodeCopies copies;
  EXPECT_FALSE(copies.is_code(code.page(3)));
  copies.take();
  EXPECT_TRUE(all(code.owners(), PageOf::process));
  EXPECT_EQ(code.bytes(), before);
  EXPECT_GE(copies.kept().size(), before.size());
  EXPECT_TRUE(copies.is_code(code.page(3)));
}

// Operands that are kept in pages of code make these pages no code.
TEST(CodeCopies, WhatWasWrittenOverIsSoonNoCode) {
  copy_own_code();
  Code code(8);
  CodeCopies copies;
  copies.take();
  code.spoil(3);
  int believed = 0;
  for (int look = 0; look < 1000; ++look) {
    copies.draw();
    believed += copies.is_code(code.page(3)) ? 1 : 0;
    EXPECT_TRUE(copies.is_code(code.page(2)));
  }
  EXPECT_LT(believed, 150);  // Of half of the lines, one in sixteen.
}

TEST(CodeCopies, ThereIsAnEndToIt) {
  const Code code(2 * CodeCopies::kMost / kPageBytes);
  CodeCopies copies;
  copies.take();
  copies.take();
  EXPECT_LE(copies.kept().size(), CodeCopies::kMost);
}

}  // namespace
}  // namespace assay::sweep
