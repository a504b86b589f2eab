/* A backend that does what the seed of a request says. C99. */
#include "assay/serve/assay_backend.h"

#include <stdlib.h>
#include <string.h>

enum { kWell = 1, kCrash, kHang, kWrongToken, kWrongJob, kError, kNoUtf8, kTooMany, kFails, kRefuses,
       kAllAtOnce };
enum { kMost = 512 };

static struct {
  uint64_t id;
  int32_t left, made, seed, whole;
} jobs[kMost];
static int count;

static int submit(const AssayBackendHost* host, const AssayBackendJob* job) {
  if (job->has_seed && job->seed == kRefuses) {
    host->fail(host, "this prompt is refused");
    return 1;
  }
  if (count == kMost) return 1;
  jobs[count].id = job->id;
  jobs[count].left = job->max_tokens;
  jobs[count].made = 0;
  jobs[count].seed = job->has_seed ? (int32_t)job->seed : kWell;
  jobs[count].whole = job->whole;
  ++count;
  return 0;
}

static void cancel(uint64_t id) {
  for (int i = 0; i < count; ++i)
    if (jobs[i].id == id) jobs[i--] = jobs[--count];
}

static int step(const AssayBackendHost* host, AssayBackendEmit emit, void* to) {
  for (int i = 0; i < count; ++i) {
    AssayBackendEvent event = {sizeof event, jobs[i].id, 'a' + jobs[i].made % 26,
                               ASSAY_FINISH_NONE, -0.5, NULL};
    const int second = jobs[i].made == 1;
    ++jobs[i].made;
    if (--jobs[i].left == 0) event.finish = ASSAY_FINISH_LENGTH;
    if (jobs[i].seed == kAllAtOnce) event.token = jobs[i].whole ? 'w' : 's';
    for (; jobs[i].seed == kAllAtOnce && jobs[i].whole && jobs[i].left > 0; --jobs[i].left) {
      emit(to, &event);
      if (jobs[i].left == 1) event.finish = ASSAY_FINISH_LENGTH;
    }
    if (second && jobs[i].seed == kCrash) abort();
    while (second && jobs[i].seed == kHang) {
    }
    if (second && jobs[i].seed == kWrongToken) event.token = 1 << 28;
    if (second && jobs[i].seed == kWrongJob) event.job = 1u << 30;
    if (second && jobs[i].seed == kTooMany) {
      event.finish = ASSAY_FINISH_NONE;
      jobs[i].left = 1000;
    }
    if (second && jobs[i].seed == kFails) {
      host->fail(host, "the device is gone");
      return -1;
    }
    if (second && (jobs[i].seed == kError || jobs[i].seed == kNoUtf8)) {
      event.token = -1;
      event.finish = ASSAY_FINISH_ERROR;
      event.error = jobs[i].seed == kError ? "out of pages" : "\xff\xfe";
    }
    emit(to, &event);
    if (event.finish != ASSAY_FINISH_NONE) jobs[i--] = jobs[--count];
  }
  return count > 0;
}

const AssayBackend* assay_backend_v1(const AssayBackendHost* host) {
  static const AssayBackend backend = {sizeof(AssayBackend), "test", 4096, kMost, submit, cancel,
                                       step};
  if (host->vocabulary < 128 ||
      strcmp(host->model, "unloadable") == 0) {
    host->fail(host, "there are no weights");
    return NULL;
  }
  return &backend;
}
