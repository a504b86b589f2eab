// consumer TABLE: runs problems by a tuned table, and says by which rule and whether the result is
// right. What docs/dispatch.md shows, as a program.

#include <cmath>
#include <cstdio>
#include <vector>

#include <assay/dispatch.h>
#include <assay/op/gemm/tuned.h>
#include <assay/providers/native_cpu/info.h>
#include <assay/providers/openblas/info.h>

namespace {

using assay::DType;

constexpr int64_t kColumns = 192, kSummed = 128;

struct Tensors {
  std::unique_ptr<assay::Buffer> a, b, out;
  assay::gemm::Arguments arguments;
};

assay::Result<Tensors> make_tensors(assay::Device& device, int64_t m, DType dtype) {
  const int64_t item = assay::size_bytes(dtype);
  const auto bytes = [&](int64_t count) { return static_cast<size_t>(count * item); };
  Tensors made;
  ASSAY_TRY(made.a, device.allocate(bytes(m * kSummed), {}));
  ASSAY_TRY(made.b, device.allocate(bytes(kSummed * kColumns), {}));
  ASSAY_TRY(made.out, device.allocate(bytes(m * kColumns), {}));
  const auto view = [&](const assay::Buffer& buffer, int64_t rows, int64_t columns, int64_t row,
                        int64_t column) {
    assay::TensorView tensor{.data = buffer.data(), .dtype = dtype, .rank = 2};
    tensor.size = {rows, columns};
    tensor.stride = {row, column};
    return tensor;
  };
  made.arguments.a = view(*made.a, m, kSummed, kSummed, 1);
  made.arguments.b = view(*made.b, kSummed, kColumns, 1, kSummed);  // Stored [n, k].
  made.arguments.out = view(*made.out, m, kColumns, kColumns, 1);
  made.arguments.accumulate = dtype;
  made.arguments.constant = {"b"};
  return made;
}

bool is_right(const Tensors& tensors, int64_t m) {
  const auto* a = static_cast<const float*>(tensors.a->data());
  const auto* b = static_cast<const float*>(tensors.b->data());
  const auto* out = static_cast<const float*>(tensors.out->data());
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < kColumns; ++j) {
      double sum = 0;
      for (int64_t p = 0; p < kSummed; ++p)
        sum += static_cast<double>(a[i * kSummed + p]) * b[j * kSummed + p];
      if (std::fabs(sum - out[i * kColumns + j]) > 1e-3) return false;
    }
  }
  return true;
}

assay::Status run(const char* file) {
  assay::Catalog catalog;
  catalog.add(*assay::native_cpu::make_provider());
  catalog.add(*assay::openblas::make_provider());
  ASSAY_TRY(const auto device, assay::cpu::open({.threads = 1}));
  ASSAY_TRY(const auto stream, device->make_stream());
  ASSAY_TRY(const auto table, assay::TunedTable::load(file, catalog));
  for (const std::string& sentence : table.staleness())
    std::printf("stale: %s\n", sentence.c_str());

  for (const int64_t m : {4, 6}) {
    ASSAY_TRY(Tensors tensors, make_tensors(*device, m, DType::f32));
    for (int64_t i = 0; i < m * kSummed; ++i)
      static_cast<float*>(tensors.a->data())[i] = static_cast<float>(i % 7) / 7;
    for (int64_t i = 0; i < kSummed * kColumns; ++i)
      static_cast<float*>(tensors.b->data())[i] = static_cast<float>(i % 11) / 11;
    ASSAY_TRY(auto plan, assay::gemm::plan(table, tensors.arguments, *device));
    ASSAY_TRY(plan.launch(*stream));
    ASSAY_TRY(stream->synchronize());
    std::printf("m=%d %s: %s, %s\n", static_cast<int>(m), plan.reason().c_str(),
                plan.kernel().metadata().name().c_str(), is_right(tensors, m) ? "right" : "WRONG");
  }
  ASSAY_TRY(const Tensors tensors, make_tensors(*device, 4, DType::f64));
  const auto refused = assay::gemm::plan(table, tensors.arguments, *device);
  std::printf("f64: %s\n", refused ? "planned" : refused.error().message.c_str());
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const assay::Status status = run(argv[1]);
  if (!status) std::fprintf(stderr, "%s\n", status.error().message.c_str());
  return status ? 0 : 1;
}
