#pragma once

// Which of this process's pages are a file's, and which its own
// (Linux's Documentation/admin-guide/mm/pagemap.rst).

#include <cstddef>
#include <cstdint>
#include <vector>

namespace assay::sweep {

inline constexpr size_t kPageBytes = 4096;

// Keeps the system's table of them at kPagesFd (process/descriptors.h). For a worker, before it
// gives up its rights, after which it may not open it. Where the system has none, or nobody called
// this, a table is opened at each question.
void keep_page_table();

enum class PageOf {
  nobody,
  file,
  process
};  // nobody: not in memory, as far as this process knows.

// Of each page from `begin` on, which begins a page; empty where the system does not say.
std::vector<PageOf> owners_of_pages(uintptr_t begin, size_t pages);

}  // namespace assay::sweep
