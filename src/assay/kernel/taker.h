#pragma once

// Who takes a file that a user brings.

#include <functional>
#include <memory>
#include <span>

#include "assay/kernel/provider.h"

namespace assay {

// The one that the entry names, else the one whose files end as its source does; null: none.
const Provider* find_taker(std::span<const std::unique_ptr<Provider>> providers,
                           const KernelEntry& entry);

// How entries are launched, by who takes them: what reads a description asks for it. `providers`
// must outlive it.
using LaunchForms = std::function<LaunchForm(const KernelEntry&)>;
LaunchForms launch_forms(std::span<const std::unique_ptr<Provider>> providers);

// Whether the entry's kernel runs on a GPU and nowhere else: its provider's all do, or its own
// targets say so.
bool is_for_gpu(const Provider& taker, const KernelEntry& entry);

}  // namespace assay
