#pragma once

// The interfaces of CUTLASS that make kernels, and all that is unlike in them, as data. Each is one
// source (sm80.cc, sm90.cc) beside its table of configurations and the body of its kernels; a
// further one is such files, which generations() finds.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/result.h"
#include "assay/device/target.h"
#include "assay/kernel/metadata.h"
#include "assay/kernel/refusals.h"
#include "assay/op/gemm/gemm.h"
#include "table.h"

namespace assay::cutlass {

struct Configuration;

// Attributes of a row besides the design's.
struct Runtime {
  std::string_view raster = "heuristic";  // Or along_m, along_n.
  int64_t swizzle = 1, split_k = 1;

  bool operator==(const Runtime&) const = default;
};

// What is compiled for GPUs whose architecture begins so.
struct Code {
  std::string_view architecture, code;
};

struct Generation {
  std::string_view family;  // Of its rows.
  std::string_view level;   // Of its tables, where it has one of its own; else they say any other.
  std::string_view table;   // The file of the one that is in the program,
  std::string_view letter;  // how lines of designs begin there,
  std::string_view body;    // and the file of its sources, behind kernel_abi.h.
  std::span<const std::string_view> schedules;  // Words by which a row says that it is one of its.
  std::span<const std::string_view> targets;    // Where its kernels run.
  std::span<const Code> codes;                  // For the first that fits.
  std::span<const Runtime> runtimes;            // The first is what a caller gets who says nothing.
  double compile_seconds = 0;                   // Of one core.
  bool d_row_major = false;                     // Else D is column-major.
  bool slower_on_hopper = false;                // And no ranker knows by how much.
  bool names_c = false;                         // Rows that read C say so: not all do.
  std::string_view row_name;                    // With the design's attributes.
  std::span<const std::string_view> attributes;  // What of a design its rows have.

  // What is wrong with the words of a line of its table; empty: the design is made.
  std::string (*read_design)(const std::vector<std::string_view>& words, Design& design);
  // As CUTLASS's own generator names it.
  std::string (*stock_name)(const Configuration& configuration);
  // The head of its source: what the body is told.
  Result<std::string> (*defines)(const Configuration& configuration);
  bool (*splits_k)(const Design& design);
  // What it has against a problem besides the rule, and more than others.
  void (*add_refusals)(const KernelMetadata& row, const gemm::View& view, const Target& target,
                       Refusals& refusals);
  // Of an m x n x l as CUTLASS sees it: bytes that such a kernel may want, whatever the GPU.
  int64_t (*most_workspace_bytes)(const KernelMetadata& row, int64_t m, int64_t n, int64_t l);

  std::vector<Target> parsed_targets() const;
  std::string code_for(const Target& target) const;
};

const Generation& sm90();
const Generation& sm80();

// The first is that of tables whose level says no other.
std::span<const Generation* const> generations();
// By its schedule.
const Generation& generation_of(const KernelMetadata& row);
// Whose body is compiled for it.
std::string_view body_of(std::string_view code);

Runtime runtime_of(const KernelMetadata& row);
// Tiles along a size that is covered by groups of them.
int64_t tiles(int64_t size, int64_t tile, int64_t group);

// For read_design: the words' numbers, of which each is from `least` to 1024.
bool read_number(std::string_view word, int least, int& number);

}  // namespace assay::cutlass
