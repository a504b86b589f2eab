#pragma once

// The descriptors that a child of ours finds open when it begins.

namespace assay::process {

// By this one a child and its parent speak.
inline constexpr int kChannelFd = 3;
// Its guard's channel to the parent; workers never have it.
inline constexpr int kGuardFd = 4;
// At this one a worker tells of the moments of each burst (base/pulses.h): when it has seen its
// threads at rest and begins to make the inputs, and around its clock (measure/burst.h).
inline constexpr int kPulseFd = 5;
// At this one, which no other file comes to be by itself, a worker has the system's table of its
// pages.
inline constexpr int kPagesFd = 60;

}  // namespace assay::process
