#pragma once

#include <cstddef>
#include <span>

namespace assay::measure {

// Writes back and drops these bytes from every cache, so that the next read comes from memory.
// False where the hardware has no instruction for it that a process may use.
bool flush_from_caches(std::span<const std::byte> bytes);

// By what it knows how this processor flushes, once it has flushed something.
std::span<const std::byte> flush_setting();

// Reads a byte of each line of 64.
void read_into_caches(std::span<const std::byte> bytes);

}  // namespace assay::measure
