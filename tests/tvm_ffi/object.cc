// A shared object as tools of TVM-FFI export it, from the ABI alone: good functions, and bad ones.
// On a GPU it launches by the fake driver, in whose memory the host can read.
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <dlfcn.h>
#include <functional>
#include <stdexcept>
#include <string>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

namespace {

struct Tensor {
  void* data;
  int32_t device_type, device_id;
  int32_t rank;
  uint8_t code, bits;
  uint16_t lanes;
  int64_t *sizes, *strides;
  uint64_t byte_offset;
};

struct Any {
  int32_t type;
  uint32_t padding;
  union {
    int64_t integer;
    double real;
    void* pointer;
  };
};

struct Bytes {
  const char* data;
  size_t size;
};

constexpr int kInt = 1, kFloat = 3, kTensor = 7;

}  // namespace

extern "C" {
void TVMFFIErrorSetRaisedFromCStr(const char* kind, const char* message);
int TVMFFIErrorCreate(const Bytes*, const Bytes*, const Bytes*, void** out);
void TVMFFIErrorSetRaised(void* error);
int TVMFFIObjectDecRef(void* object);
void* TVMFFIEnvGetStream(int32_t device, int32_t id);
#ifdef CASE_UNKNOWN_SYMBOL
void TVMFFINobodyHasThis();
#endif
}

namespace {

int raise(const char* kind, const std::string& message) {
  TVMFFIErrorSetRaisedFromCStr(kind, message.c_str());
  return -1;
}

struct Product {
  Tensor a, b, out;
  const Tensor* c = nullptr;
  double alpha = 1, beta = 0;
  int64_t left_out = 0;
};

template <class T>
void compute(const Product& p) {
  // A rank of 3 has batches first.
  const auto at = [](const Tensor& tensor, int64_t l, int64_t i, int64_t j) -> T& {
    const int first = tensor.rank - 2;
    const int64_t batch = first == 1 ? l * tensor.strides[0] : 0;
    return static_cast<T*>(
        tensor.data)[batch + i * tensor.strides[first] + j * tensor.strides[first + 1]];
  };
  const int first = p.out.rank - 2;
  const int64_t batches = first == 1 ? p.out.sizes[0] : 1, depth = p.a.sizes[first + 1];
  for (int64_t l = 0; l < batches; ++l)
    for (int64_t i = 0; i < p.out.sizes[first]; ++i)
      for (int64_t j = 0; j < p.out.sizes[first + 1]; ++j) {
        double sum = 0;
        for (int64_t k = 0; k < depth - p.left_out; ++k)
          sum += static_cast<double>(at(p.a, l, i, k)) * static_cast<double>(at(p.b, l, k, j));
        sum *= p.alpha;
        if (p.c != nullptr) sum += p.beta * static_cast<double>(at(*p.c, l, i, j));
        at(p.out, l, i, j) = static_cast<T>(sum);
      }
}

int launch(const Product& product, const char* name) {
  const auto run = product.out.bits == 64 ? &compute<double> : &compute<float>;
  if (product.out.device_type == 1) {
    run(product);
    return 0;
  }
  using Launch = int(void*, const char*, const std::function<void()>&);
  void* driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  auto* const enqueue =
      driver == nullptr ? nullptr : reinterpret_cast<Launch*>(dlsym(driver, "fake_cuda_launch"));
  if (enqueue == nullptr) return raise("RuntimeError", "there is no fake GPU here");
  void* const stream = TVMFFIEnvGetStream(product.out.device_type, product.out.device_id);
  if (stream == nullptr) return raise("RuntimeError", "nobody set a stream");
  return enqueue(stream, name, [=] { run(product); });
}

// a, b, out, and perhaps the sizes m, n, k as numbers.
int gemm(const Any* arguments, int32_t count, int64_t left_out, const char* name) {
  if (count != 3 && count != 6)
    return raise("TypeError", "it takes a, b, out, and perhaps m, n, k");
  for (int i = 0; i < 3; ++i)
    if (arguments[i].type != kTensor)
      return raise("TypeError", "argument " + std::to_string(i) + " is no tensor");
  Product product;
  product.a = *static_cast<Tensor*>(arguments[0].pointer);
  product.b = *static_cast<Tensor*>(arguments[1].pointer);
  product.out = *static_cast<Tensor*>(arguments[2].pointer);
  product.left_out = left_out;
  for (const Tensor* tensor : {&product.a, &product.b, &product.out})
    if (tensor->rank != 2 || tensor->code != 2 || tensor->byte_offset != 0)
      return raise("ValueError", "it takes matrices of floating-point numbers");
  const int64_t sizes[] = {product.out.sizes[0], product.out.sizes[1], product.a.sizes[1]};
  for (int i = 3; i < count; ++i)
    if (arguments[i].type != kInt || arguments[i].integer != sizes[i - 3])
      return raise("ValueError", "a size is not that of the tensors");
  return launch(product, name);
}

}  // namespace

#define FUNCTION(name) \
  extern "C" EXPORT int __tvm_ffi_##name(void*, const Any* arguments, int32_t count, Any* result)

FUNCTION(gemm) {
  (void)result;
  return gemm(arguments, count, 0, "tvm_gemm");
}

FUNCTION(wrong) {
  (void)result;
  return gemm(arguments, count, 1, "tvm_wrong");
}

// a, b, c, out, alpha, beta, l, workspace: of rank 3, and None for a c that is not there.
FUNCTION(everything) {
  (void)result;
  if (count != 8) return raise("TypeError", "it takes eight arguments");
  Product product;
  product.a = *static_cast<Tensor*>(arguments[0].pointer);
  product.b = *static_cast<Tensor*>(arguments[1].pointer);
  if (arguments[2].type == kTensor) product.c = static_cast<Tensor*>(arguments[2].pointer);
  product.out = *static_cast<Tensor*>(arguments[3].pointer);
  if (arguments[4].type != kFloat || arguments[5].type != kFloat)
    return raise("TypeError", "alpha and beta are no numbers");
  product.alpha = arguments[4].real;
  product.beta = arguments[5].real;
  if (product.out.rank != 3 || product.out.sizes[0] != arguments[6].integer)
    return raise("ValueError", "it takes batches");
  const auto& workspace = *static_cast<Tensor*>(arguments[7].pointer);
  if (workspace.rank != 1 || workspace.code != 1 || workspace.bits != 8 || workspace.sizes[0] < 64)
    return raise("ValueError", "it takes a workspace of 64 bytes");
  *static_cast<char*>(workspace.data) = 1;
  return launch(product, "tvm_everything");
}

FUNCTION(raises) {
  (void)arguments, (void)count, (void)result;
  return raise("ValueError", "rows do not fit: " + std::string(100000, 'x'));
}

FUNCTION(raises_binary) {
  (void)arguments, (void)count, (void)result;
  static const char text[] = "zero \0 escape \x1b[31m \xff end";
  const Bytes kind{"Bad\nKind", 8}, message{text, sizeof text - 1}, none{nullptr, 0};
  void* error = nullptr;
  TVMFFIErrorCreate(&kind, &message, &none, &error);
  TVMFFIErrorSetRaised(error);
  TVMFFIObjectDecRef(error);
  return -1;
}

FUNCTION(silent) {
  (void)arguments, (void)count, (void)result;
  return -1;
}

FUNCTION(crashes) {
  (void)arguments, (void)count, (void)result;
  ::raise(SIGSEGV);
  return 0;
}

FUNCTION(throws) {
  (void)arguments, (void)count, (void)result;
  throw std::runtime_error("over the fence");
}

// With an object that is the caller's to give back.
FUNCTION(returns_object) {
  const int code = gemm(arguments, count, 0, "tvm_gemm");
  const Bytes text{"text", 4};
  TVMFFIErrorCreate(&text, &text, &text, &result->pointer);
  result->type = 67;
  return code;
}

FUNCTION(nothing) {
  (void)arguments, (void)count, (void)result;
  return 0;
}

// What tools keep beside their functions.
extern "C" EXPORT int __tvm_ffi__doc_gemm(void*, const Any*, int32_t, Any*) { return 0; }

#ifdef CASE_EXITS
__attribute__((constructor)) static void leave() { _exit(0); }
#endif
#ifdef CASE_UNKNOWN_SYMBOL
FUNCTION(unknown) {
  (void)arguments, (void)count, (void)result;
  TVMFFINobodyHasThis();
  return 0;
}
#endif
