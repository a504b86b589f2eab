/* Plug-ins that are wrong in one way each: -DCASE_... says which. */
#define _GNU_SOURCE
#include <assay/kernel/plugin_abi.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#if defined(CASE_FLUSHES_SUBNORMALS) || defined(CASE_FLUSHES_WHEN_MAPPED)
#include <xmmintrin.h>
#endif

#if defined(CASE_SPINS_WHEN_LOADED) || defined(CASE_SPINS_AFTER_A_LAUNCH)
static volatile long turns;
static void* spin(void* nothing) {
  for (;;) ++turns;
  return nothing;
}
#endif

static int launch(const void* state, void* const* data) {
  const AssayCall* call = state;
  const int64_t m = assay_dimension(call, "m"), n = assay_dimension(call, "n");
  const int64_t k = assay_dimension(call, "k");
  const float* a = data[0];
  const float* b = data[1];
  float* out = data[2];
#ifdef CASE_CRASHES_WHEN_LAUNCHED
  raise(SIGSEGV);
#endif
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      double sum = 0;
      for (int64_t p = 0; p < k; ++p) sum += (double)a[i * k + p] * (double)b[p * n + j];
#ifdef CASE_WRONG
      if (i == m - 1 && j == n - 1) sum += 1;
#endif
      out[i * n + j] = (float)sum;
    }
#ifdef CASE_WRITES_OUTSIDE
  out[m * n] = 1;
#endif
#ifdef CASE_FLUSHES_SUBNORMALS
  _mm_setcsr(_mm_getcsr() | 0x8040);
#endif
#ifdef CASE_SPINS_AFTER_A_LAUNCH
  static pthread_t thread;
  if (!thread) pthread_create(&thread, NULL, spin, NULL);
#endif
#ifdef CASE_CHANGES_ITS_PROCESS
  if (chdir("/usr") != 0) return 1;
  umask(0);
  close(0);
#endif
#ifdef CASE_HANGS_WHEN_LAUNCHED
  for (;;) pause();
#endif
  return 0;
}

static int bind(const AssayCall* call) {
  AssayHostStep step = {sizeof step, ASSAY_STEP_HOST, launch, call, NULL};
#ifdef CASE_DEVICE_STEP
  step.kind = ASSAY_STEP_DEVICE;
#endif
#ifdef CASE_SMALL_STEP
  step.struct_bytes = 8;
#endif
#ifdef CASE_NULL_FUNCTION
  step.function = NULL;
#endif
#ifdef CASE_BIND_FAILS
  call->add_step(call, &step);
  call->fail(call, "the sky is falling");
  return 7;
#endif
#ifdef CASE_NO_STEP
  return 0;
#endif
  call->add_step(call, &step);
  return 0;
}

#ifdef CASE_NO_SENTENCE
#define SUPPORTS supports
static int supports(const AssayCall* call) {
  call->refuse(call, "size", "no");
  return 0;
}
#elif defined(CASE_UNKNOWN_REASON)
#define SUPPORTS supports
static int supports(const AssayCall* call) {
  call->refuse(call, "mood", "it does not feel like it today");
  return 0;
}
#elif defined(CASE_CHANGES_ITS_MIND)
#define SUPPORTS supports
static int supports(const AssayCall* call) {
  static int asked;
  if (asked++ % 2 == 1) call->refuse(call, "size", "it was asked once too often");
  return 0;
}
#else
#define SUPPORTS NULL
#endif

#ifdef CASE_BAD_JSON
#define METADATA "{\"name\": \"kernel\", \"dtype\": }"
#elif defined(CASE_NOT_AN_OBJECT)
#define METADATA "[]"
#elif defined(CASE_NO_NAME)
#define METADATA "{\"dtype\": \"f32\", \"layout\": \"tt\", \"args\": [\"a\", \"b\", \"out\"]}"
#elif defined(CASE_UNKNOWN_FIELD)
#define METADATA                                                                        \
  "{\"name\": \"kernel\", \"dtyp\": \"f32\", \"layout\": \"tt\", \"args\": [\"a\", \"b\", " \
  "\"out\", \"m\", \"n\", \"k\"]}"
#elif defined(CASE_EPILOGUE)
#define METADATA                                                                         \
  "{\"name\": \"kernel\", \"dtype\": \"f32\", \"layout\": \"tt\", \"args\": [\"a\", \"b\", " \
  "\"out\", \"m\", \"n\", \"k\"], \"epilogues\": [\"softmax\"]}"
#elif defined(CASE_NULL_METADATA)
#define METADATA NULL
#elif defined(CASE_HUGE_WORKSPACE)
#define METADATA                                                                         \
  "{\"name\": \"kernel\", \"dtype\": \"f32\", \"layout\": \"tt\", \"args\": [\"a\", \"b\", " \
  "\"out\", \"workspace\", \"m\", \"n\", \"k\"], \"workspace\": \"1099511627776\"}"
#elif defined(CASE_PREPARE_WITHOUT_HOOK)
#define METADATA                                                                             \
  "{\"name\": \"kernel\", \"dtype\": \"f32\", \"layout\": \"tt\", \"args\": [\"a\", \"prepared\", " \
  "\"out\", \"m\", \"n\", \"k\"], \"prepare\": {\"bytes\": 8, \"args\": [\"b\", \"prepared\"]}}"
#else
#define METADATA                                                                         \
  "{\"name\": \"kernel\", \"dtype\": \"f32\", \"layout\": \"tt\", \"args\": [\"a\", \"b\", " \
  "\"out\", \"m\", \"n\", \"k\"]}"
#endif

static AssayKernel kernel = {sizeof(AssayKernel), 0, METADATA, NULL, SUPPORTS, NULL, bind};
static const AssayKernel* kernels[] = {&kernel, &kernel};

#ifdef CASE_CRASHES_WHEN_MAPPED
__attribute__((constructor)) static void crash(void) { abort(); }
#endif

#ifdef CASE_FLUSHES_WHEN_MAPPED
__attribute__((constructor)) static void flush(void) { _mm_setcsr(_mm_getcsr() | 0x8040); }
#endif

#ifdef CASE_NO_ENTRY
ASSAY_PLUGIN_EXPORT int my_entry(AssayPlugin* plugin);
#elif defined(CASE_NEWER_ENTRY)
ASSAY_PLUGIN_EXPORT int assay_plugin_v2(const AssayHost* host, AssayPlugin* plugin);
#define assay_plugin_v1 assay_plugin_v2
#endif

#ifdef CASE_NO_ENTRY
int my_entry(AssayPlugin* plugin) {
#else
int assay_plugin_v1(const AssayHost* host, AssayPlugin* plugin) {
  (void)host;
#endif
#ifdef CASE_SPINS_WHEN_LOADED
  pthread_t thread;
  pthread_create(&thread, NULL, spin, NULL);
#endif
#ifdef CASE_FORKS_WHEN_LOADED
  if (fork() == 0)
    for (;;) pause();
#endif
  plugin->struct_bytes = sizeof *plugin;
  plugin->abi_version = ASSAY_PLUGIN_ABI_VERSION;
  plugin->name = "hostile";
  plugin->kernel_count = 1;
  plugin->kernels = kernels;
#ifdef CASE_OTHER_VERSION
  plugin->abi_version = 7;
#endif
#ifdef CASE_SMALL_PLUGIN
  plugin->struct_bytes = 16;
#endif
#ifdef CASE_SMALL_KERNEL
  kernel.struct_bytes = 24;
#endif
#ifdef CASE_NULL_KERNELS
  plugin->kernels = NULL;
#endif
#ifdef CASE_NULL_KERNEL
  kernels[0] = NULL;
#endif
#ifdef CASE_NULL_BIND
  kernel.bind = NULL;
#endif
#ifdef CASE_NULL_NAME
  plugin->name = NULL;
#endif
#ifdef CASE_NO_KERNELS
  plugin->kernel_count = 0;
#endif
#ifdef CASE_TOO_MANY_KERNELS
  plugin->kernel_count = 4000000000u;
#endif
#ifdef CASE_SAME_NAME_TWICE
  plugin->kernel_count = 2;
#endif
#ifdef CASE_WILD_POINTER
  plugin->kernels = (const AssayKernel* const*)64;
#endif
#ifdef CASE_ENDLESS_NAME
  {
    static char endless[65536];
    memset(endless, 'x', sizeof endless);
    plugin->name = endless;
  }
#endif
#ifdef CASE_FAILS
  host->fail(host, "no licence on \033[31mthis machine");
  return 3;
#endif
#ifdef CASE_CRASHES
  raise(SIGSEGV);
#endif
#ifdef CASE_EXITS
  exit(0);
#endif
#ifdef CASE_HANGS
  for (;;) memset(plugin, 0, 1);
#endif
  return 0;
}
