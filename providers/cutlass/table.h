#pragma once

// Which configurations there are: a table that list_configurations.py makes of the package's own
// generator. The default level's (configurations.txt) is in the program; the largest is made once
// into the cache. Lines of words:
//
//   assay-cutlass-table 1 nvidia-cutlass 4.2.0 default 2408     what of what, and how many
//   d 128 256 64 2 1 0 cooperative tma persistent               a design, numbered from 0
//   l 0-11,14                                                   a list of designs, by number
//   g f16 void f16 f32 t n 8 8 0                                operands, with the list that they
//   take
//
// and of Ampere's kernels (level sm80, configurations_sm80.txt) in the place of d
//
//   m 256 128 32 4 2 3                                          tile, warps along m and n, stages
//
// 80 sets of operands share a dozen lists, so 77,036 configurations are 90 KB and read in a
// millisecond or two.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/result.h"
#include "assay/tensor/dtype.h"

namespace assay::cutlass {

// Which of CUTLASS's interfaces makes a kernel (generation.h): 3 with Hopper's wgmma, say.
struct Generation;
const Generation& sm90();

// What a kernel is, whatever it multiplies. The words are those of the table.
struct Design {
  int tile_m = 0, tile_n = 0, tile_k = 0, cluster_m = 1, cluster_n = 1;
  int stages = 0;                             // 0: as many as fit.
  std::string schedule, epilogue, scheduler;  // Of sm80: "multistage", and no other.
  int warps_m = 0, warps_n = 0;               // Of sm80 alone.

  bool operator==(const Design&) const = default;
};

// What it multiplies. D is column-major, of sm80 row-major.
struct Operands {
  DType a = DType::f16, d = DType::f16, accumulate = DType::f32;  // b is of a's type, c of d's,
  bool reads_c = false;                                           // if it is read at all.
  bool a_row_major = true, b_row_major = false;
  int alignment_in = 8, alignment_out = 8;  // Elements.
  const Generation* generation = &sm90();

  bool d_row_major() const;
  bool operator==(const Operands&) const = default;
};

struct Group {
  Operands operands;
  uint32_t list = 0;
};

struct Table {
  std::string version, level;  // Of CUTLASS; "default", "max" or "sm80".
  const Generation* generation = &sm90();
  std::vector<Design> designs;
  std::vector<std::vector<uint32_t>> lists;  // Numbers of designs.
  std::vector<Group> groups;
  int64_t configurations = 0;

  // ErrorCode::invalid_input, with the line, where it is not such a table or says what is not so.
  static Result<Table> parse(std::string_view text, std::string_view name);
};

}  // namespace assay::cutlass
