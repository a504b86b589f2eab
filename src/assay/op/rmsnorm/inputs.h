#pragma once

// Values of each InputKind, and fresh ones for timed launches, as bytes in the operands' own types
// and strides. Not for use outside op/rmsnorm.

#include <cstdint>
#include <vector>

#include "assay/base/fd.h"
#include "assay/op/renewal.h"
#include "assay/op/rmsnorm/rmsnorm.h"

namespace assay::rmsnorm {

struct Inputs {
  MemoryFile x, w, residual;  // Sealed; residual is empty where there is none.
};

// Kinds of which make_inputs knows something to say.
std::vector<InputKind> useful_input_kinds(const View& view);

// Deterministic in all arguments. Unsupported for other kinds.
Result<Inputs> make_inputs(const Problem& problem, const View& view, InputKind kind, uint64_t seed);

// The same inputs with rows and columns permuted, and signs flipped by row and by column. Between
// strided rows lies the same filler.
Result<Inputs> permute(const View& view, const Inputs& inputs, uint64_t seed);

// Uniform numbers. Some rows of x, and the same of a residual, have a single large element, and a
// mean of squares that is a fourth of their neighbours': no constant can stand for all.
Renewal renewal_of(const Problem& problem, const View& view, size_t operand,
                   const InputSeeds& seeds);

// Of a launch: bytes as its operands were. Empty vectors for what is not read.
std::vector<std::byte> renewed(const Problem& problem, const View& view, size_t operand,
                               const InputSeeds& seeds);

}  // namespace assay::rmsnorm
