#pragma once

// Pages of code that this process shares with nobody. A file's pages lie in memory where chance and
// whoever wrote the file have put them, the same for all processes until the machine starts anew:
// that alone makes one copy of a library up to 2 % faster than another (results/zen5/same). Pages
// of a process's own lie elsewhere in each, so that means over processes are over many places.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "assay/base/keyed_random.h"
#include "assay/process/messages/begin.h"

namespace assay::sweep {

// A worker's code is sealed before kernels run, so what runs is learnt from one process, for those
// that are started later.

// Which code of files has come into this process, for copy_code().
std::vector<process::RanCode> code_that_ran();
// Copies that, each page in its place. For a worker, before its code is sealed. What may not be
// written, or is not mapped here, stays as it is.
void copy_code(std::span<const process::RanCode> ran);

// Of code that is mapped later, which is users': it is copied in the process in which it has run,
// and what the pages held is remembered.
class CodeCopies {
 public:
  CodeCopies();

  // Copies the pages that have run since the last call, up to kMost bytes over all calls.
  void take();

  // Whether the file's code is still there. Only some lines of the page are compared, others at
  // each call of draw().
  bool is_code(uintptr_t page) const;
  void draw();

  // What take() keeps of them, to compare with: bytes that stay as they are and are no kernel's.
  std::span<const std::byte> kept() const { return std::as_bytes(std::span(kept_)); }

  static constexpr size_t kMost = size_t{4} << 20;

 private:
  KeyedRandom random_;
  std::array<size_t, 4> lines_{};
  std::vector<std::byte> kept_;                   // Never moves.
  std::unordered_map<uintptr_t, size_t> places_;  // In it, of pages.
};

}  // namespace assay::sweep
