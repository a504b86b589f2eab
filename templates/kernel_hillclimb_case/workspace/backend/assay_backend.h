#pragma once

/* A backend of `assay serve`, version 1: what makes the tokens, in a shared object, written in
 * anything that speaks C. This header is plain C99 (and C++), needs nothing else of assay, and may
 * be copied into your project.
 *
 *   const AssayBackend* assay_backend_v1(const AssayBackendHost* host) {
 *     static AssayBackend backend = {.struct_bytes = sizeof(AssayBackend), .name = "mine",
 *                                    .context = 4096, .jobs = 64, .submit = submit,
 *                                    .cancel = cancel, .step = step};
 *     if (host->vocabulary < 1) return host->fail(host, "there is no vocabulary"), NULL;
 *     return &backend;
 *   }
 *
 * Rules that keep both sides free to grow:
 * - Every struct begins with struct_bytes, its size as its maker knew it. Who reads a struct looks
 *   at no field beyond that. New fields are added at the end; a change of anything else is a new
 *   version, with an entry point of its own (assay_backend_v2).
 * - What a call is given is valid until it returns, but for the host, which stays. What the backend
 *   hands over stays until the next call.
 * - Texts are UTF-8 and end with a zero. No call may throw, exit, or change the process it is in.
 * - All calls come from one thread.
 *
 * It is loaded in a process of its own. If that crashes, hangs, or makes events that cannot be, its
 * requests end with an error, and it is started again; the server goes on.
 */

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define ASSAY_BACKEND_EXPORT __attribute__((visibility("default")))
#else
#define ASSAY_BACKEND_EXPORT
#endif

typedef struct AssayBackendHost {
  size_t struct_bytes;
  const char* model;        /* As clients call it. */
  const char* folder;       /* Of the case's workspace; "" if there is none. */
  const char* model_folder; /* Of the model's files; "" if there are none. */
  int32_t vocabulary;       /* Ids of tokens are below it; the host knows their texts. */
  /* Says why the call that is under way cannot be answered: then it returns NULL or not 0. */
  void (*fail)(const struct AssayBackendHost* host, const char* sentence);
} AssayBackendHost;

/* One answer to one prompt. */
typedef struct AssayBackendJob {
  size_t struct_bytes;
  uint64_t id; /* Never 0, never used twice. */
  const int32_t* prompt;
  size_t prompt_tokens;
  int32_t max_tokens; /* It ends there, as ASSAY_FINISH_LENGTH. */
  int32_t min_tokens;
  int32_t ignore_eos; /* Not 0: it does not end before max_tokens. */
  int32_t has_seed;
  int64_t seed;
  double temperature; /* 0: greedy. */
  double top_p;
  int32_t whole; /* Not 0: nothing is told before its end. A step may emit several tokens of it. */
} AssayBackendJob;

enum {
  ASSAY_FINISH_NONE = 0,
  ASSAY_FINISH_STOP = 1,
  ASSAY_FINISH_LENGTH = 2,
  ASSAY_FINISH_ERROR = 3
};

/* What a decoding step made for one job: one token, or its end, or both. */
typedef struct AssayBackendEvent {
  size_t struct_bytes;
  uint64_t job;
  int32_t token;  /* -1: none. */
  int32_t finish; /* ASSAY_FINISH_... */
  double logprob;
  const char* error; /* With ASSAY_FINISH_ERROR: a sentence. */
} AssayBackendEvent;

typedef void (*AssayBackendEmit)(void* to, const AssayBackendEvent* event);

typedef struct AssayBackend {
  size_t struct_bytes;
  const char* name;
  int32_t context; /* Tokens of prompt and answer together. */
  int32_t jobs;    /* That it takes at a time, running and waiting. */
  /* 0, or not 0 after host->fail: that job alone ends. */
  int (*submit)(const AssayBackendHost* host, const AssayBackendJob* job);
  void (*cancel)(uint64_t job); /* It makes no more events. Maybe it has ended already. */
  /* One decoding step of all jobs; `emit` is called for each event. 1 while jobs are left, 0 if
   * there is nothing to do, -1 after host->fail: the backend is of no more use. */
  int (*step)(const AssayBackendHost* host, AssayBackendEmit emit, void* to);
} AssayBackend;

/* The one symbol that is looked for. NULL after host->fail: the backend cannot work here. */
ASSAY_BACKEND_EXPORT const AssayBackend* assay_backend_v1(const AssayBackendHost* host);

#ifdef __cplusplus
}
#endif
