#pragma once

// cuBLAS and cuBLASLt on the host, two libraries: what tests of providers/cublas and
// providers/cublaslt, and of whole commands, load beside the fake driver (testing/fake_cuda), in
// whose streams they launch. What a product computes is right, unless an algorithm is there to be
// wrong. The numbers of the interface are written down here a second time, and the documented rules
// are checked, so that a caller who mixes something up is refused or gets other numbers.
//
// A product launches a function "cublas_gemm", or "cublaslt_" and the algorithm's name: the fake
// driver's words (ns=cublaslt_slow:4000, hang=...) are about those.
//
// Algorithms of cuBLASLt, all of which find out about their problem as the real ones do:
//   plain, slow      alike but for their names
//   split            three parts of k, put together in a workspace
//   vector           wants addresses and lines of 16 bytes
//   loads, stores    want those of A alone, of D alone
//   greedy           wants 64 MiB of workspace
//   twin             plain again, the same in every attribute
//   wrong            leaves out the last step of k
//   failing          ends with EXECUTION_FAILED
//   refused          named by the heuristic, with NOT_SUPPORTED in its result
//
// Besides those there are spaces, for who asks for ids and what they can: of 66 and 71, where not
// everything goes with everything, of 6, which does not read shapes, of 72, whose every point is
// greedy, and of 75, which has no choices. What is no algorithm of the list launches "spacious".
//
// Other processes are told through ASSAY_FAKE_CUBLAS or the file fake_cublas.txt, as fake_cuda is:
//   algorithms=plain,slow   what the heuristic answers, in that order
//   ids=66,71               what AlgoGetIds answers (99: one that cannot be made)
//   fail=ENTRY:CODE:N       as fake_cuda
//   version=120803          12.8.3
//   attributes=7            attributes of an algorithm that the library knows: the first so many
//
// Of each there is an old one, libfake_cublas_old.so and libfake_cublaslt_old.so: 11.0.0, and it
// lacks the text of a status, as those before 11.4 do.

#include <cstdint>

extern "C" {

// As fake_cuda_fail() and fake_cuda_calls(), the latter of the functions that were launched too.
// "own workspace" counts the products of cublas that got none from their caller.
void fake_cublas_fail(const char* entry_point, int code, int nth);
uint64_t fake_cublas_calls(const char* entry_point);

// One of the words above.
void fake_cublas_tell(const char* word);

// Handles, descriptions, layouts and preferences that were made and not destroyed.
uint64_t fake_cublas_objects();
}
