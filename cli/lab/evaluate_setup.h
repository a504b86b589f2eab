#pragma once

// What commands that evaluate have in common: on what, with what environment, and who is told.

#include "assay/lab/evaluate/evaluate.h"
#include "cli/lab/lab_place.h"

namespace assay::cli {

// invalid_input where the case is for another device than the command's.
Status check_case_hardware(const lab::Case& target, const Context& context);

// "cpu", or a GPU's UUID.
std::string device_of(const Context& context);

// A name of a climb, a family, a target: a sentence that begins with the flag where it is none.
Result<std::string> short_name(const char* flag, const std::string& text);

// run_tag: of the flag; empty: the environment's, or of today.
Result<lab::EvaluateOptions> evaluate_options(Context& context, const std::string& run_tag);

lab::EvaluateObserver evaluate_observer(Console& console);

}  // namespace assay::cli
