#pragma once

// A CUDA driver that runs on the host: what tests of device/cuda and of whole commands load instead
// of libcuda.so.1. Memory is the host's, launches call host functions by name, streams are queues
// that wait at gates, and time is a clock of its own that only launches move.
//
// Device code is text: "fake" and the names of functions in fake_kernels.cc, "fake fill_words
// add_words", or PTX or a cubin whose entries have such names: what they say is not read. A
// function gets its parameters as cuLaunchKernelEx passes them.
//
// A function whose name ends in "_no_wait" does not wait for what is ahead of it: launched
// dependently it runs before the launch ahead of it, if that has not run yet (behind a gate).
//
// One whose name ends in "_faults" touches memory that it may not touch.
//
// Programs find the control functions with dlsym; other processes are told through the environment
// (ASSAY_FAKE_CUDA) or, where they have that of workers, by the file fake_cuda.txt in the folder
// that LD_LIBRARY_PATH names:
//   gpus=2 fail=cuMemAlloc_v2:2:5 hang=fill_words lost=gemm ns=gemm:400 caches=all memory=shared
//   pin=ignored stops=told
// lost=FUNCTION: its launch loses the GPU, which no process finds again while the word stands
// there and the file `lost` beside it. GPUs: how many (1). fail=ENTRY:CODE:N: the Nth call of
// ENTRY in that process, and all after it where CODE is sticky, return CODE. hang=FUNCTION: its
// launches never end. ns=FUNCTION:N: as fake_cuda_set_launch_ns().
// FAKE_CUDA_PROFILE names a file for the functions that are launched between cuProfilerStart and
// cuProfilerStop, a line each.
// caches=all: they keep all that was ever read. memory=shared: processes may share it (cuIpc*),
// through files beside the words. pin=ignored: all GPUs are shown whatever CUDA_VISIBLE_DEVICES
// says. stops=told: the file `stops` beside the words has a letter for each time that a process
// went on after somebody had stopped it.

#include <cstdint>
#include <functional>

extern "C" {

// The entry point's `nth` call from now on (1: the next) returns `code`.
void fake_cuda_fail(const char* entry_point, int code, int nth);

// What one launch of a function takes on the fake clock; 1000 ns unless it is set.
void fake_cuda_set_launch_ns(const char* function, uint64_t ns);

// Calls of an entry point so far.
uint64_t fake_cuda_calls(const char* entry_point);

// Bytes of device memory that are allocated now.
uint64_t fake_cuda_allocated();

// What a library that was given a stream launches there: `run`, when its turn comes and each time
// that it comes in a graph. `function` is its name for all that can be set of a launch. Returns the
// driver's code.
int fake_cuda_launch(void* stream, const char* function, const std::function<void()>& run);
}
