#pragma once

// What a run shows while it runs: a view that redraws itself on a terminal, plain lines elsewhere.

#include <memory>
#include <string>

#include "assay/sweep/sweep.h"
#include "cli/show/console.h"

namespace assay::cli {

// The view lives as long as the observer; nothing of it is left on the screen afterwards.
std::unique_ptr<sweep::Observer> make_progress(Console& console, const sweep::Request& request);

// Each is one of the two.
std::unique_ptr<sweep::Observer> make_plain_progress(Console& console, size_t problems);
std::unique_ptr<sweep::Observer> make_live_view(Console& console, const sweep::Request& request);

// "weights cold, back to back, plain".
std::string condition_words(const measure::Condition& condition);

}  // namespace assay::cli
