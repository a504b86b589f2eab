/* A plug-in that uses all that the ABI has, in strict C99: any strides with scalars and a
 * workspace, with the call as the steps' state; packed weights, with a state of its own. */
#include <assay/kernel/plugin_abi.h>
#include <stdlib.h>

static double attribute(const AssayCall* call, const char* name, double otherwise) {
  const AssayValue* value =
      assay_find_value(call->problem->attributes, call->problem->attribute_count, name);
  return value == NULL ? otherwise : value->real;
}

static const AssayTensor* tensor(const AssayCall* call, const char* role) {
  const int at = assay_operand_index(call, role);
  return at < 0 ? NULL : &call->problem->operands[at]->tensor;
}

static int64_t place(const AssayTensor* tensor, int64_t batch, int64_t row, int64_t column) {
  return batch * tensor->strides[0] + row * tensor->strides[1] + column * tensor->strides[2];
}

static int launch_strided(const void* state, void* const* data) {
  const AssayCall* call = state;
  const int64_t l = assay_dimension(call, "l"), m = assay_dimension(call, "m");
  const int64_t n = assay_dimension(call, "n"), k = assay_dimension(call, "k");
  const AssayTensor *at = tensor(call, "a"), *bt = tensor(call, "b"), *ot = tensor(call, "out");
  const AssayTensor* ct = tensor(call, "c");
  const float* a = data[assay_operand_index(call, "a")];
  const float* b = data[assay_operand_index(call, "b")];
  float* out = data[assay_operand_index(call, "out")];
  double* sums = data[call->problem->operand_count];
  const double alpha = attribute(call, "alpha", 1), beta = attribute(call, "beta", 0);
  if (call->workspace_bytes != (uint64_t)n * 8 || call->threads < 1) return 3;
  for (int64_t x = 0; x < l; ++x)
    for (int64_t i = 0; i < m; ++i) {
      for (int64_t j = 0; j < n; ++j) {
        sums[j] = 0;
        for (int64_t p = 0; p < k; ++p)
          sums[j] += (double)a[place(at, x, i, p)] * (double)b[place(bt, x, p, j)];
      }
      for (int64_t j = 0; j < n; ++j) {
        double value = alpha * sums[j];
        if (ct != NULL) {
          const float* c = data[assay_operand_index(call, "c")];
          value += beta * (double)c[place(ct, x, i, j)];
        }
        out[place(ot, x, i, j)] = (float)value;
      }
    }
  return 0;
}

static int bind_strided(const AssayCall* call) {
  AssayHostStep step = {0};
  step.struct_bytes = sizeof step;
  step.kind = ASSAY_STEP_HOST;
  step.function = launch_strided;
  step.state = call;
  call->add_step(call, &step);
  return 0;
}

typedef struct Packed {
  int64_t m, n, k, lda, ldout;
  int a, out, prepared;
} Packed;

static int launch_packed(const void* state, void* const* data) {
  const Packed* my = state;
  const float* a = data[my->a];
  const float* b = data[my->prepared];
  float* out = data[my->out];
  for (int64_t i = 0; i < my->m; ++i)
    for (int64_t j = 0; j < my->n; ++j) {
      double sum = 0;
      for (int64_t p = 0; p < my->k; ++p)
        sum += (double)a[i * my->lda + p] * (double)b[p * my->n + j];
      out[i * my->ldout + j] = (float)sum;
    }
  return 0;
}

static int released = 0;
ASSAY_PLUGIN_EXPORT int good_released(void) { return released; }
static void release(void* state) {
  free(state);
  ++released;
}

static int bind_packed(const AssayCall* call) {
  Packed* my = malloc(sizeof *my);
  if (my == NULL) {
    call->fail(call, "out of memory");
    return 1;
  }
  my->m = assay_dimension(call, "m");
  my->n = assay_dimension(call, "n");
  my->k = assay_dimension(call, "k");
  my->a = assay_operand_index(call, "a");
  my->out = assay_operand_index(call, "out");
  my->prepared = (int)call->problem->operand_count + 1;
  my->lda = tensor(call, "a")->strides[1];
  my->ldout = tensor(call, "out")->strides[1];
  AssayHostStep step = {sizeof step, ASSAY_STEP_HOST, launch_packed, my, release};
  call->add_step(call, &step);
  return 0;
}

static int prepare_packed(const AssayCall* call) {
  const AssayTensor* b = tensor(call, "b");
  const float* from = b->data;
  float* to = call->prepared;
  const int64_t n = assay_dimension(call, "n"), k = assay_dimension(call, "k");
  if (from == NULL || tensor(call, "a")->data != NULL) {
    call->fail(call, "only constants have data when they are prepared");
    return 1;
  }
  if (call->prepared_bytes != (uint64_t)(n * k) * 4) return 2;
  for (int64_t p = 0; p < k; ++p)
    for (int64_t j = 0; j < n; ++j) to[p * n + j] = from[place(b, 0, p, j)];
  return 0;
}

static int supports_packed(const AssayCall* call) {
  if (assay_dimension(call, "k") > 2000)
    call->refuse(call, "size", "k is beyond 2000, and the sum would lose too much");
  return 0;
}

static const AssayKernel strided = {
    sizeof(AssayKernel),
    0,
    "{\"name\": \"strided\", \"dtype\": \"f32\", \"c\": \"f32\", \"layout\": \"any\",\n"
    " \"args\": [\"a\", \"b\", \"c\", \"out\", \"l\", \"m\", \"n\", \"k\", \"a_l\", \"a_m\", \"a_k\",\n"
    "  \"b_l\", \"b_k\", \"b_n\", \"out_l\", \"out_m\", \"out_n\", \"c_l\", \"c_m\", \"c_n\", \"alpha\",\n"
    "  \"beta\", \"workspace\"],\n"
    " \"workspace\": \"n * 8\", \"tunables\": {\"unroll\": [1, 2], \"fast\": [false]}}",
    NULL,
    NULL,
    NULL,
    bind_strided};

static const AssayKernel packed = {
    sizeof(AssayKernel),
    0,
    "{\"name\": \"packed\", \"dtype\": \"f32\", \"layout\": [\"tn\"],\n"
    " \"args\": [\"a\", \"prepared\", \"out\", \"m\", \"n\", \"k\", \"lda\", \"ldout\"],\n"
    " \"prepare\": {\"bytes\": \"n * k * 4\", \"args\": [\"b\", \"prepared\", \"ldb\"]}}",
    NULL,
    supports_packed,
    prepare_packed,
    bind_packed};

static const AssayKernel* const kernels[] = {&strided, &packed};

int assay_plugin_v1(const AssayHost* host, AssayPlugin* plugin) {
  if (host->abi_version < ASSAY_PLUGIN_ABI_VERSION) {
    host->fail(host, "assay is too old");
    return 1;
  }
  plugin->struct_bytes = sizeof *plugin;
  plugin->abi_version = ASSAY_PLUGIN_ABI_VERSION;
  plugin->name = "good";
  plugin->version = "1.2";
  plugin->kernel_count = 2;
  plugin->kernels = kernels;
  return 0;
}
