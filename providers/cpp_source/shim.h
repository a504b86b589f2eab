#pragma once

// The few lines of C++, or of C, that are compiled with a user's text: they hold it and call its
// functions by what their own declarations say, so that a pointer to const, a namespace, an int for
// a size or a double for alpha come out right, and a missing parameter is a compile error with a
// sentence. In C nobody can ask a function for its parameters: the call converts as C does, and
// what comes out wrong is found by the proof.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/result.h"
#include "assay/kernel/provider.h"

namespace assay::cpp_source {

// One argument of a call. Which member counts is compiled into the shim.
union Slot {
  int64_t integer;  // A size, stride, count, truth value; for a pointer its place in a step's data,
                    // or -1 for an operand that the problem lacks (null).
  double real;
};
static_assert(sizeof(Slot) == 8);

// Pointers to elements of as many bytes, or of any.
enum class SlotKind : uint8_t {
  pointer,
  pointer_1,
  pointer_2,
  pointer_4,
  pointer_8,
  integer,
  real
};

struct CallArgument {
  std::string name;  // As in args.
  SlotKind kind;
};

// Whether the entry's file is C: ".c".
bool is_c(const KernelEntry& entry);

// What the names of `args` stand for. Errors: a name without meaning, a tunable that is text.
Result<std::vector<CallArgument>> call_arguments(const KernelEntry& entry,
                                                 const std::vector<std::string>& args);

// What the object exports: extern "C" int kCallSymbol(const Slot* slots, void* const* data), and
// kPrepareSymbol likewise if the entry has a preparation. Both return 0, what the function returned
// if that is an integer, or kNarrowed.
inline constexpr const char* kCallSymbol = "assay_shim_call";
inline constexpr const char* kPrepareSymbol = "assay_shim_prepare";

// The text's own file, by which compilers name its lines and ours.
inline constexpr std::string_view kShimOfCpp = "assay_shim.cc";
inline constexpr std::string_view kShimOfC = "assay_shim.c";

// `macros` are flags -D and -U, which the user's file is compiled with: they stand in the text,
// below what they could break.
Result<std::string> shim_text(const KernelEntry& entry, const std::vector<std::string>& macros);

// A size did not fit into the narrower integer that the function takes.
inline constexpr int kNarrowed = -1000001;

}  // namespace assay::cpp_source
