#include "assay/worker/code_copies.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <string>
#include <sys/mman.h>
#include <utility>

#include "assay/process/memory_map.h"
#include "assay/worker/own_pages.h"

namespace assay::sweep {
namespace {

constexpr size_t kLine = 64;

using Stretch = process::RanCode::Stretch;

template <typename Visit>
void for_each_code(Visit&& visit) {
  for (const OwnMapping& mapping : read_memory_map())
    if (mapping.run && mapping.read && !mapping.write && !mapping.shared && mapping.inode != 0)
      visit(mapping);
}

std::vector<Stretch> stretches_of_file(const OwnMapping& code) {
  const auto owners = owners_of_pages(code.begin, (code.end - code.begin) / kPageBytes);
  std::vector<Stretch> stretches;
  for (size_t page = 0; page < owners.size(); ++page) {
    if (owners[page] != PageOf::file) continue;
    if (stretches.empty() || stretches.back().behind != page) stretches.push_back({page, page});
    stretches.back().behind = page + 1;
  }
  return stretches;
}

// May write them all meanwhile. `take`(address of a page) comes before each is made this process's
// own, and says whether to.
template <typename Take>
void copy_pages(const OwnMapping& code, const std::vector<Stretch>& stretches, Take&& take) {
  if (stretches.empty()) return;
  auto* const begin = reinterpret_cast<char*>(code.begin);
  const size_t pages = (code.end - code.begin) / kPageBytes;
  if (::mprotect(begin, pages * kPageBytes, PROT_READ | PROT_WRITE | PROT_EXEC) != 0) return;
  for (const auto& [first, behind] : stretches)
    for (size_t page = first; page < std::min<size_t>(behind, pages); ++page) {
      // Writing what is there makes the page this process's own.
      volatile char* const byte = begin + page * kPageBytes;
      if (take(code.begin + page * kPageBytes)) *byte = *byte;
    }
  ::mprotect(begin, pages * kPageBytes, PROT_READ | PROT_EXEC);
}

}  // namespace

std::vector<process::RanCode> code_that_ran() {
  std::vector<process::RanCode> ran;
  for_each_code([&](const OwnMapping& code) {
    std::vector<Stretch> stretches = stretches_of_file(code);
    if (!stretches.empty()) ran.push_back({code.name, code.offset, std::move(stretches)});
  });
  return ran;
}

void copy_code(std::span<const process::RanCode> ran) {
  std::map<std::pair<std::string, uint64_t>, std::vector<Stretch>> wanted;
  for (const process::RanCode& code : ran) {
    auto& stretches = wanted[{code.file, code.offset}];
    stretches.insert(stretches.end(), code.stretches.begin(), code.stretches.end());
  }
  for_each_code([&](const OwnMapping& code) {
    const auto found = wanted.find({code.name, code.offset});
    if (found != wanted.end()) copy_pages(code, found->second, [](uintptr_t) { return true; });
  });
}

CodeCopies::CodeCopies() : random_(KeyedRandom::from_system()) {
  kept_.reserve(kMost);
  draw();
}

void CodeCopies::take() {
  for_each_code([&](const OwnMapping& code) {
    copy_pages(code, stretches_of_file(code), [&](uintptr_t page) {
      if (kept_.size() >= kMost) return false;
      const auto* const bytes = reinterpret_cast<const std::byte*>(page);
      places_.emplace(page, kept_.size());
      kept_.insert(kept_.end(), bytes, bytes + kPageBytes);
      return true;
    });
  });
}

bool CodeCopies::is_code(uintptr_t page) const {
  const auto place = places_.find(page);
  return place != places_.end() && std::ranges::all_of(lines_, [&](size_t line) {
           return std::memcmp(reinterpret_cast<const std::byte*>(page) + line * kLine,
                              kept_.data() + place->second + line * kLine, kLine) == 0;
         });
}

void CodeCopies::draw() {
  for (size_t& line : lines_) line = random_() % (kPageBytes / kLine);
}

}  // namespace assay::sweep
