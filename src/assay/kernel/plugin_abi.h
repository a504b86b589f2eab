#pragma once

/* The plug-in ABI, version 1: kernels in a shared object, written in anything that speaks C. This
 * header is plain C99 (and C++), needs nothing else of assay, and may be copied into your project.
 *
 *   static const AssayKernel kernel = {.struct_bytes = sizeof(AssayKernel),
 *                                      .metadata = "{\"name\": \"my_gemm\", \"dtype\": \"f32\",
 * ...}", .bind = bind}; static const AssayKernel* const kernels[] = {&kernel};
 *
 *   int assay_plugin_v1(const AssayHost* host, AssayPlugin* plugin) {
 *     plugin->struct_bytes = sizeof *plugin;
 *     plugin->abi_version = ASSAY_PLUGIN_ABI_VERSION;
 *     plugin->name = "mine";
 *     plugin->kernel_count = 1;
 *     plugin->kernels = kernels;
 *     return 0;
 *   }
 *
 * Rules that keep both sides free to grow:
 * - Every struct begins with struct_bytes, its size as its maker knew it. Who reads a struct looks
 *   at no field beyond that. New fields are added at the end; a change of anything else is a new
 *   version, with an entry point of its own (assay_plugin_v2).
 * - What the plug-in hands over (AssayPlugin's pointers, kernels, texts) stays as it is until the
 *   process ends. What a hook is given is valid until it returns, unless its comment says more.
 * - Texts are UTF-8 and end with a zero. No call may throw, exit, or change the process it is in.
 * - Hooks may be called from one thread at a time.
 *
 * A worker process loads the plug-in, never the program that judges; crashes are recorded endings.
 */

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ASSAY_PLUGIN_ABI_VERSION 1u

#if defined(__GNUC__)
#define ASSAY_PLUGIN_EXPORT __attribute__((visibility("default")))
#else
#define ASSAY_PLUGIN_EXPORT
#endif

/* A DLTensor (DLPack 0.6 to 1.x): the official type where its header was included before this one,
 * else a struct of the same layout. Sizes and strides count elements; strides are never null. */
#ifdef DLPACK_DLPACK_H_
typedef DLTensor AssayTensor;
#else
typedef struct AssayTensor {
  void* data;
  struct {
    int32_t device_type; /* 1: CPU. */
    int32_t device_id;
  } device;
  int32_t ndim;
  struct {
    uint8_t code; /* 0 signed, 1 unsigned, 2 IEEE float, 4 bfloat. */
    uint8_t bits;
    uint16_t lanes;
  } dtype;
  int64_t* shape;
  int64_t* strides;
  uint64_t byte_offset;
} AssayTensor;
#endif

/* ---- What the host tells ---------------------------------------------------------------- */

enum { ASSAY_VALUE_INTEGER = 0, ASSAY_VALUE_REAL = 1, ASSAY_VALUE_TRUTH = 2, ASSAY_VALUE_TEXT = 3 };

/* A named value: a tunable of a row, a size or an attribute of a problem. */
typedef struct AssayValue {
  uint32_t struct_bytes;
  uint32_t kind; /* ASSAY_VALUE_...: which of the three below counts. */
  const char* name;
  int64_t integer; /* Truth values too: 0 or 1. */
  double real;
  const char* text; /* Null unless the kind is text. */
} AssayValue;

enum { ASSAY_ACCESS_READ = 0, ASSAY_ACCESS_WRITE = 1, ASSAY_ACCESS_READ_WRITE = 2 };

typedef struct AssayOperand {
  uint32_t struct_bytes;
  uint32_t access;    /* ASSAY_ACCESS_... */
  const char* role;   /* "a", "b", "c", "out". */
  AssayTensor tensor; /* data is null, but in prepare: a plan outlives its pointers. */
  int64_t alignment;  /* Of the first element, promised, bytes. */
  int64_t constant;   /* 1: the same values for many launches, so that it may be prepared. */
} AssayOperand;

/* What is to be computed. gemm: out = epilogue(alpha * a x b + beta * c) with a (l, m, k),
 * b (l, k, n), c and out (l, m, n); dimensions l, m, n, k; attributes accumulate (a type's name),
 * alpha, beta, epilogue (steps such as "bias+gelu", docs/epilogues.md; empty: none). Operands of
 * steps follow the others, in the order of the steps. */
typedef struct AssayProblem {
  uint32_t struct_bytes;
  uint32_t operand_count;
  const char* operation;
  const char* layout; /* A letter for each of a, b and perhaps out: t row-major, n column-major. */
  const AssayOperand* const* operands; /* In the order in which steps get their pointers. */
  const AssayValue* const* dimensions;
  const AssayValue* const* attributes;
  uint32_t dimension_count;
  uint32_t attribute_count;
} AssayProblem;

/* A step that a plan launches again and again. Its first two fields say what it is: this version
 * knows host steps; kind 2 is kept for launches on a device, in a struct of their own. */
enum { ASSAY_STEP_HOST = 1, ASSAY_STEP_DEVICE = 2 };

/* data: the operands' pointers in the problem's order, then the workspace, then the prepared memory
 * (null where there is none). Returns 0, or a code that the record shows. */
typedef int (*AssayHostFunction)(const void* state, void* const* data);

typedef struct AssayHostStep {
  uint32_t struct_bytes;
  uint32_t kind; /* ASSAY_STEP_HOST. */
  AssayHostFunction function;
  const void* state;
  void (*release)(void* state); /* Called once no plan has the step any more; may be null. */
} AssayHostStep;

/* What every hook is told: for which row of which kernel, on which problem. */
typedef struct AssayCall AssayCall;
struct AssayCall {
  uint32_t struct_bytes;
  uint32_t threads;   /* Cores that the kernel may use; 0 in supports. */
  const void* self;   /* AssayKernel.self. */
  const char* kernel; /* Its name; with several layouts, the layout behind it: "my_gemm_tn". */
  const char* target; /* "x86_64+avx2+fma": what may be used. */
  const AssayProblem* problem;
  const AssayValue* const* tunables; /* The row: one value for each tunable of the metadata. */
  uint32_t tunable_count;
  uint32_t reserved;
  uint64_t workspace_bytes;
  uint64_t prepared_bytes;
  void* prepared; /* In prepare: the memory to write, aligned to 4096 bytes. Else null. */

  /* A sentence for the error of the call that then returns something other than 0. */
  void (*fail)(const AssayCall* call, const char* sentence);
  /* In supports alone: why this row cannot take this problem. reason: "size", "stride",
   * "alignment", "divisibility", "constraint", "other" ... */
  void (*refuse)(const AssayCall* call, const char* reason, const char* sentence);
  /* In bind alone: adds a copy of the struct that the pointer begins. In the order of launching. */
  void (*add_step)(const AssayCall* call, const AssayHostStep* step);
  void* host; /* The host's own. */
};

typedef struct AssayHost AssayHost;
struct AssayHost {
  uint32_t struct_bytes;
  uint32_t abi_version;      /* The newest that it speaks. */
  const char* assay_version; /* "0.1.0" */
  void (*fail)(const AssayHost* host,
               const char* sentence); /* Why the entry point returns not 0. */
  void* host;                         /* The host's own. */
};

/* ---- What the plug-in tells ------------------------------------------------------------- */

/* A kernel, or with tunables a family of them. */
typedef struct AssayKernel {
  uint32_t struct_bytes;
  uint32_t reserved;
  /* JSON text: the fields of an entry in kernel_manifest.yaml (docs/plugins.md lists those that
   * make sense here). `name` takes the place of `entry`, and `args` says what the kernel heeds: one
   * that does not name l is given no batches, one that names neither lda nor a_m no gaps between
   * rows, and so on. Their order means nothing here. */
  const char* metadata;
  const void* self; /* Handed to the hooks. */

  /* Why not, beyond what the metadata says, by call->refuse. Returns 0. May be null. */
  int (*supports)(const AssayCall* call);
  /* Packs constant operands into call->prepared. Not null exactly if the metadata has `prepare`. */
  int (*prepare)(const AssayCall* call);
  /* Makes the steps by call->add_step. The call, and all that it points to, stays valid as long as
   * the steps: it may be their state. */
  int (*bind)(const AssayCall* call);
} AssayKernel;

typedef struct AssayPlugin {
  uint32_t struct_bytes; /* In: what the host can take. Out: what the plug-in has filled in. */
  uint32_t abi_version;  /* The version that it was written for. */
  const char* name;
  const char* version; /* Of the plug-in, for records; may be null. */
  const AssayKernel* const* kernels;
  uint32_t kernel_count;
  uint32_t reserved;
} AssayPlugin;

/* The entry point. Returns 0, or something else after host->fail(). */
typedef int (*AssayPluginEntry)(const AssayHost* host, AssayPlugin* plugin);
ASSAY_PLUGIN_EXPORT int assay_plugin_v1(const AssayHost* host, AssayPlugin* plugin);

/* ---- Help for authors: no part of the ABI ------------------------------------------------ */

static inline int assay_same_text(const char* a, const char* b) {
  while (*a != '\0' && *a == *b) ++a, ++b;
  return *a == *b;
}

/* The value of that name; null if there is none. */
static inline const AssayValue* assay_find_value(const AssayValue* const* values, uint32_t count,
                                                 const char* name) {
  for (uint32_t i = 0; i < count; ++i)
    if (assay_same_text(values[i]->name, name)) return values[i];
  return NULL;
}

/* A size of the problem: "m"; 0 if it has none of that name. */
static inline int64_t assay_dimension(const AssayCall* call, const char* name) {
  const AssayValue* value =
      assay_find_value(call->problem->dimensions, call->problem->dimension_count, name);
  return value == NULL ? 0 : value->integer;
}

/* A tunable of the row that is a whole number or a truth value. */
static inline int64_t assay_tunable(const AssayCall* call, const char* name) {
  const AssayValue* value = assay_find_value(call->tunables, call->tunable_count, name);
  return value == NULL ? 0 : value->integer;
}

/* Where the operand's pointer is among a step's data; -1 if the problem has no such operand. */
static inline int assay_operand_index(const AssayCall* call, const char* role) {
  for (uint32_t i = 0; i < call->problem->operand_count; ++i)
    if (assay_same_text(call->problem->operands[i]->role, role)) return (int)i;
  return -1;
}

#ifdef __cplusplus
} /* extern "C" */
#endif
