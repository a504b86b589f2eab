#pragma once

// The descriptors that a child of ours finds open when it begins.

namespace assay::process {

// By this one a child and its parent speak.
inline constexpr int kChannelFd = 3;
// Its guard's channel to the parent; workers never have it.
inline constexpr int kGuardFd = 4;
// At these a worker tells of the moments of each burst (base/pulses.h, measure/burst.h): around its
// clock at the first, and at the second, where it waits for an answer, when it has seen its threads
// at rest and asks for what its inputs are made from, and when it has looked at outputs.
inline constexpr int kPulseFd = 5, kQuestionFd = 6;
// At this one, which no other file comes to be by itself, a worker has the system's table of its
// pages.
inline constexpr int kPagesFd = 60;

}  // namespace assay::process
