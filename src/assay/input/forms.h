#pragma once

// What suites, manifests and definitions of operations may hold (form.h). Not for use outside this
// folder.

#include <cstdint>

#include "assay/input/form.h"
#include "assay/input/kernel_words.h"
#include "assay/op/operation.h"

namespace assay::input {

// matches_name_rule().
Form name_form();

// A suite's file, whose shapes are of this operation.
const Form& suite_form(const Operation& operation);

// One kernel of a manifest. Which of these fields it may have depends on what it is: source,
// provider and flags are no plug-in's, launch is device code's.
const Form& kernel_form(const KernelWords& words);
// A plug-in in a manifest, which describes its kernels itself.
const Form& plugin_entry_form();
// A manifest that is a map.
const Form& manifest_form();

// A file that defines an operation, and the tolerance that it states.
const Form& operation_form();
const Form& tolerance_form();

// Bounds that readers and forms share.
inline constexpr std::int64_t kMaxAlignment = 4096;  // A page: no allocator promises more.
inline constexpr std::int64_t kMaxDivisibility = std::int64_t{1} << 31;
inline constexpr std::int64_t kMostMapBytes = 256;  // Of a swizzle or a promotion.

}  // namespace assay::input
