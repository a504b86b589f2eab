#pragma once

// Who takes a file that a user brings.

#include <memory>
#include <span>

#include "assay/kernel/provider.h"

namespace assay {

// The one that the entry names, else the one whose files end as its source does; null: none.
const Provider* find_taker(std::span<const std::unique_ptr<Provider>> providers,
                           const KernelEntry& entry);

// Whether the entry's kernel runs on a card and nowhere else: its provider's all do, or its own
// targets say so.
bool is_for_card(const Provider& taker, const KernelEntry& entry);

}  // namespace assay
