// Every kernel that was built, on odd shapes, against sums in float64; s8 exactly. Operands end at
// an unreadable page, so that reading past one is a crash and not luck.

#include "kernels.h"

#include <cmath>
#include <memory>
#include <random>
#include <string>
#include <sys/mman.h>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "assay/tensor/dtype.h"
#include "design.h"
#include "scalar.h"

namespace assay::native_cpu {

KernelFunctions find_emulated_amx(const Tiling& tiling);  // emulated_amx_test.cc

namespace {

class GuardedBytes {
 public:
  explicit GuardedBytes(size_t bytes) : bytes_(bytes) {
    const size_t pages = (bytes + kPage - 1) / kPage * kPage;
    total_ = pages + kPage;
    base_ = static_cast<std::byte*>(
        mmap(nullptr, total_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    mprotect(base_ + pages, kPage, PROT_NONE);
    data_ = base_ + pages - bytes;
  }
  ~GuardedBytes() { munmap(base_, total_); }
  GuardedBytes(const GuardedBytes&) = delete;
  GuardedBytes& operator=(const GuardedBytes&) = delete;
  std::byte* data() const { return data_; }
  size_t size() const { return bytes_; }

 private:
  static constexpr size_t kPage = 4096;
  size_t bytes_, total_;
  std::byte *base_, *data_;
};

DType dtype_of(Element element) {
  switch (element) {
    case Element::f32:
      return DType::f32;
    case Element::bf16:
      return DType::bf16;
    case Element::f16:
      return DType::f16;
    case Element::s8:
      return DType::s8;
    case Element::s32:
      return DType::s32;
  }
  return DType::f64;
}

double read(const std::byte* data, int64_t index, Element element) {
  return load_as_double(dtype_of(element), data + index * element_bytes(element));
}

void write(std::byte* data, int64_t index, Element element, double value) {
  store_from_double(dtype_of(element), value, data + index * element_bytes(element));
}

// Integers use their whole range, as far as c has one here.
void fill(const GuardedBytes& data, Element element, std::mt19937& random) {
  const bool whole = element == Element::s8 || element == Element::s32;
  std::uniform_real_distribution<double> values(-2, 2), integers(-128.49, 127.49);
  const auto count = static_cast<int64_t>(data.size()) / element_bytes(element);
  for (int64_t i = 0; i < count; ++i)
    write(data.data(), i, element, whole ? std::round(integers(random)) : values(random));
}

// Strides of a matrix whose lines are padded, and the elements that all batches span.
struct Layout {
  int64_t batch, row, column, elements;
  Layout(int64_t batches, int64_t rows, int64_t columns, bool column_major, int64_t padding) {
    const int64_t lines = column_major ? columns : rows, length = column_major ? rows : columns;
    row = column_major ? 1 : length + padding;
    column = column_major ? length + padding : 1;
    const int64_t one = lines == 0 ? 0 : (lines - 1) * (length + padding) + length;
    batch = one + padding;
    elements = batch * (batches - 1) + one;
  }
};

struct Sizes {
  int64_t l, m, n, k;
};

struct Options {
  bool b_along_k = false, a_columns = false, out_columns = false, scaled = false;
  Element out = Element::f32;
  int64_t padding = 0;
};

std::string describe(const Tiling& tiling, const Sizes& sizes) {
  return "isa " + std::to_string(static_cast<int>(tiling.isa)) + " algorithm " +
         std::to_string(static_cast<int>(tiling.algorithm)) + " in " +
         std::to_string(static_cast<int>(tiling.in)) + " mr " + std::to_string(tiling.mr) + " nv " +
         std::to_string(tiling.nv) + " kc " + std::to_string(tiling.kc) + " nc " +
         std::to_string(tiling.nc) + " threads " + std::to_string(tiling.threads) + ": l " +
         std::to_string(sizes.l) + " m " + std::to_string(sizes.m) + " n " +
         std::to_string(sizes.n) + " k " + std::to_string(sizes.k);
}

struct Freed {
  void operator()(void* memory) const { std::free(memory); }
};
using Memory = std::unique_ptr<std::byte, Freed>;
constexpr int64_t kSlack = 64;

Memory poisoned(int64_t bytes) {
  const auto size = static_cast<size_t>((bytes + 2 * kSlack - 1) / 64 * 64);
  Memory memory(static_cast<std::byte*>(std::aligned_alloc(64, size)));
  std::memset(memory.get(), 0xff, size);
  return memory;
}

bool untouched(const Memory& memory, int64_t from) {
  for (int64_t i = from; i < from + kSlack / 2; ++i)
    if (memory.get()[i] != std::byte{0xff}) return false;
  return true;
}

void check(const KernelFunctions& functions, const Tiling& tiling, const Sizes& sizes,
           const Options& options, std::mt19937& random) {
  SCOPED_TRACE(describe(tiling, sizes));
  const auto [l, m, n, k] = sizes;
  const Layout a(l, m, k, options.a_columns, options.padding);
  const Layout b(l, k, n, options.b_along_k, options.padding);
  const Layout c(l, m, n, false, 1), d(l, m, n, options.out_columns, options.padding);
  const int64_t in = element_bytes(tiling.in), out = element_bytes(options.out);
  const GuardedBytes a_data(static_cast<size_t>(std::max<int64_t>(a.elements, 0) * in));
  const GuardedBytes b_data(static_cast<size_t>(std::max<int64_t>(b.elements, 0) * in));
  const GuardedBytes c_data(static_cast<size_t>(c.elements * out));
  const GuardedBytes d_data(static_cast<size_t>(d.elements * out));
  fill(a_data, tiling.in, random);
  fill(b_data, tiling.in, random);
  fill(c_data, options.out, random);
  std::memset(d_data.data(), 0xaa, d_data.size());

  GemmCall call;
  call.l = l, call.m = m, call.n = n, call.k = k;
  call.in = tiling.in, call.out = options.out;
  call.a = a_data.data(), call.a_batch = a.batch, call.a_row = a.row, call.a_column = a.column;
  call.b = b_data.data(), call.b_batch = b.batch, call.b_row = b.row, call.b_column = b.column;
  call.d = d_data.data(), call.d_batch = d.batch, call.d_row = d.row, call.d_column = d.column;
  if (options.scaled) {
    call.alpha = options.out == Element::s32 ? 3 : 0.5f;
    call.beta = options.out == Element::s32 ? -2 : -1.5f;
    call.whole_alpha = 3, call.whole_beta = -2;
    call.c = c_data.data(), call.c_batch = c.batch, call.c_row = c.row, call.c_column = c.column;
  }
  const int64_t workspace_bytes = functions.workspace_bytes(call, tiling);
  const Memory workspace = poisoned(workspace_bytes);
  Memory panels;
  if (functions.prepare != nullptr) {
    const int64_t bytes = functions.prepared_bytes(call);
    panels = poisoned(bytes);
    ASSERT_EQ(functions.prepare(call, panels.get()), 0);
    EXPECT_TRUE(untouched(panels, bytes)) << "prepare wrote beyond its memory";
    call.panels = panels.get();
    call.b = nullptr;
  }
  ASSERT_EQ(functions.run(call, tiling, workspace.get()), 0);
  EXPECT_TRUE(untouched(workspace, workspace_bytes)) << "wrote beyond the workspace";

  std::vector<bool> written(static_cast<size_t>(d.elements));
  int wrong = 0;
  for (int64_t z = 0; z < l; ++z)
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < n; ++j) {
        double sum = 0, size = 0;
        for (int64_t p = 0; p < k; ++p) {
          const double term =
              read(a_data.data(), z * a.batch + i * a.row + p * a.column, tiling.in) *
              read(b_data.data(), z * b.batch + p * b.row + j * b.column, tiling.in);
          sum += term;
          size += std::abs(term);
        }
        sum *= call.alpha;
        if (options.scaled) {
          const double term =
              call.beta * read(c_data.data(), z * c.batch + i * c.row + j * c.column, options.out);
          sum += term;
          size += std::abs(term);
        }
        const int64_t at = z * d.batch + i * d.row + j * d.column;
        written[static_cast<size_t>(at)] = true;
        // Rounding of f32 sums of at most 700 terms, and half a step of the output.
        double allowed = size * 700 * 0x1p-24;
        if (options.out == Element::bf16) allowed += std::abs(sum) * 0x1p-8;
        if (options.out == Element::f16) allowed += std::abs(sum) * 0x1p-11 + 0x1p-25;
        if (options.out == Element::s32) allowed = 0;
        if (!(std::abs(read(d_data.data(), at, options.out) - sum) <= allowed)) ++wrong;
      }
  EXPECT_EQ(wrong, 0) << "elements differ from the float64 result";
  for (int64_t i = 0; i < d.elements; ++i)
    for (int64_t byte = 0; byte < out && !written[static_cast<size_t>(i)]; ++byte)
      ASSERT_EQ(d_data.data()[i * out + byte], std::byte{0xaa}) << "padding was written";
}

// The output beside f32 that kernels for inputs of that type have.
Element other_output(Element in) { return in == Element::s8 ? Element::s32 : in; }

// Of kernels on many odd shapes and tilings.
void check_on_odd_shapes(const KernelFunctions& functions, Tiling tiling, std::mt19937& random) {
  const auto up_to = [&random](int most) { return static_cast<int>(random() % most) + 1; };
  const Algorithm algorithm = tiling.algorithm;
  for (int round = 0; round < 24 && !testing::Test::HasFailure(); ++round) {
    tiling.mr = up_to(functions.largest_mr + 2);
    tiling.kc = round % 3 == 0 ? 0 : up_to(80);
    tiling.nc = round % 4 == 0 ? 0 : up_to(200);
    tiling.mc = round % 2 == 0 ? 0 : up_to(20);
    tiling.ahead = round % 3 == 2 ? 256 : round % 2;
    tiling.threads = up_to(3);
    const Sizes sizes{up_to(2), up_to(round % 4 == 0 ? 40 : 17), up_to(round % 3 == 0 ? 300 : 70),
                      round == 5 ? 0 : up_to(round % 5 == 0 ? 700 : 50)};
    Options options;
    options.b_along_k = algorithm == Algorithm::dots || (!reads_rows(algorithm) && round % 2 == 0);
    options.a_columns = random() % 3 == 0;
    options.out_columns = random() % 4 == 0;
    options.scaled = random() % 2 == 0;
    options.out =
        tiling.in == Element::s8 || random() % 2 == 0 ? other_output(tiling.in) : Element::f32;
    options.padding = static_cast<int64_t>(random() % 5);
    check(functions, tiling, sizes, options, random);
  }
}

class EveryKernel : public testing::TestWithParam<std::tuple<Isa, Element, Algorithm>> {};

TEST_P(EveryKernel, AgreesWithFloat64OnOddShapes) {
  const auto [isa, in, algorithm] = GetParam();
  if (!is_supported(isa, in)) GTEST_SKIP() << "this processor lacks the instructions";
  std::mt19937 random(7);
  for (int nv = 1; nv <= 8; ++nv) {
    const Tiling tiling{.isa = isa, .algorithm = algorithm, .in = in, .nv = nv};
    if (const KernelFunctions functions = find_kernel(tiling))
      check_on_odd_shapes(functions, tiling, random);
  }
}

TEST(EmulatedTiles, AgreeWithFloat64OnOddShapes) {
  if (!is_supported(Isa::avx512, Element::s8)) GTEST_SKIP() << "this processor has no AVX-512";
  std::mt19937 random(7);
  for (const Element in : {Element::bf16, Element::s8})
    for (const Algorithm algorithm : {Algorithm::blocked, Algorithm::panels}) {
      const Tiling tiling{.isa = Isa::amx, .algorithm = algorithm, .in = in, .nv = 2};
      check_on_odd_shapes(find_emulated_amx(tiling), tiling, random);
    }
}

constexpr Isa kIsas[] = {Isa::avx2, Isa::avx512, Isa::avx512_bf16, Isa::avx512_vnni, Isa::amx};
constexpr Algorithm kAlgorithms[] = {Algorithm::rows, Algorithm::kept, Algorithm::dots,
                                     Algorithm::blocked, Algorithm::panels};

INSTANTIATE_TEST_SUITE_P(All, EveryKernel,
                         testing::Combine(testing::ValuesIn(kIsas),
                                          testing::Values(Element::f32, Element::bf16, Element::f16,
                                                          Element::s8),
                                          testing::ValuesIn(kAlgorithms)),
                         [](const auto& one) {
                           return fmt::format("{}_{}_{}", to_string(std::get<0>(one.param)),
                                              to_string(dtype_of(std::get<1>(one.param))),
                                              to_string(std::get<2>(one.param)));
                         });

// Calls function(tiling, functions) for every kernel that was built for inputs of that type and
// runs here.
template <class Function>
void for_every_kernel(Element in, Function&& function) {
  for (const Isa isa : kIsas) {
    if (!is_supported(isa, in)) continue;
    for (const Algorithm algorithm : kAlgorithms) {
      for (int nv = 1; nv <= 8; ++nv) {
        Tiling tiling{.isa = isa, .algorithm = algorithm, .in = in, .nv = nv};
        const KernelFunctions functions = find_kernel(tiling);
        if (!functions) continue;
        tiling.mr = functions.largest_mr;
        function(tiling, functions);
      }
    }
  }
}

// One dot product of dense vectors.
template <class Sum, class Source>
Sum dot(const KernelFunctions& functions, const Tiling& tiling, const std::vector<Source>& a,
        const std::vector<Source>& b, Element out) {
  GemmCall call;
  call.m = call.n = 1;
  call.k = static_cast<int64_t>(a.size());
  call.in = tiling.in, call.out = out;
  call.a = a.data(), call.a_row = call.k;
  call.b = b.data(), call.b_row = 1, call.b_column = reads_rows(tiling.algorithm) ? 1 : call.k;
  Sum result = 0;
  call.d = &result, call.d_row = 1;
  const Memory workspace = poisoned(functions.workspace_bytes(call, tiling));
  Memory panels;
  if (functions.prepare != nullptr) {
    panels = poisoned(functions.prepared_bytes(call));
    EXPECT_EQ(functions.prepare(call, panels.get()), 0);
    call.panels = panels.get();
  }
  EXPECT_EQ(functions.run(call, tiling, workspace.get()), 0);
  return result;
}

// -128 has no positive counterpart, and what is added to b to make it unsigned leaves s32 long
// before the true sum does.
TEST(IntegerKernels, AreExactAtTheEndsOfTheRange) {
  for_every_kernel(Element::s8, [](const Tiling& tiling, const KernelFunctions& functions) {
    SCOPED_TRACE(describe(tiling, {1, 1, 1, 100'003}));
    for (const int a : {-128, 127})
      for (const int b : {-128, 127}) {
        const std::vector<int8_t> left(100'003, static_cast<int8_t>(a));
        const std::vector<int8_t> right(100'003, static_cast<int8_t>(b));
        EXPECT_EQ(dot<int32_t>(functions, tiling, left, right, Element::s32), a * b * 100'003)
            << a << " x " << b;
      }
  });
}

TEST(HalfKernels, KeepDenormalsInfinityAndNotANumber) {
  for_every_kernel(Element::f16, [](const Tiling& tiling, const KernelFunctions& functions) {
    SCOPED_TRACE(describe(tiling, {1, 1, 1, 2}));
    const auto product_of = [&](float a, float b) {
      return dot<float>(functions, tiling, std::vector{half_of(a), half_of(0)},
                        std::vector{half_of(b), half_of(1)}, Element::f32);
    };
    EXPECT_EQ(product_of(0x1p-24f, 0x1p-24f), 0x1p-48f);
    EXPECT_EQ(product_of(INFINITY, -2), -INFINITY);
    EXPECT_TRUE(std::isnan(product_of(std::nanf(""), 1)));
  });
}

// tensor/ has a conversion of its own.
TEST(Half, ConvertsAsTheDTypeDoes) {
  for (uint32_t bits = 0; bits <= 0xffff; ++bits) {
    const Half half{static_cast<uint16_t>(bits)};
    const double value = load_as_double(DType::f16, &half);
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(float_of(half)) && std::isnan(float_of(half_of(float_of(half)))));
      continue;
    }
    ASSERT_EQ(float_of(half), value) << bits;
    ASSERT_EQ(half_of(static_cast<float>(value)).bits, bits);
    // The values halfway to the next, and those beside them.
    const float next =
        bits % 0x8000 == 0x7c00 ? INFINITY : float_of(Half{static_cast<uint16_t>(bits + 1)});
    const float middle = std::isfinite(next) ? static_cast<float>((value + next) / 2) : 65520.0f;
    for (const float between :
         {middle, std::nextafter(middle, 0.0f), std::nextafter(middle, INFINITY)}) {
      Half expected;
      store_from_double(DType::f16, between, &expected);
      ASSERT_EQ(half_of(between).bits, expected.bits) << between;
    }
  }
}

TEST(Bf16Output, RoundsToNearestEvenAndKeepsDenormalsAndNotANumber) {
  EXPECT_EQ(bf16_of(1.0f + 0x1p-8f), bf16_of(1.0f));  // A tie goes to the even side: down,
  EXPECT_EQ(bf16_of(1.0f + 3 * 0x1p-8f), bf16_of(1.0f + 0x1p-6f));  // and up.
  EXPECT_EQ(bf16_of(0x1p-133f), 1);                                 // The smallest denormal.
  EXPECT_TRUE(std::isnan(float_of(bf16_of(std::nanf("")))));
}

TEST(WideningKernels, KeepDenormalInputs) {
  for (const Isa isa : {Isa::avx2, Isa::avx512}) {
    if (!is_supported(isa, Element::bf16)) continue;
    const Tiling tiling{.isa = isa, .algorithm = Algorithm::rows, .in = Element::bf16, .nv = 2};
    const KernelFunctions functions = find_kernel(tiling);
    ASSERT_TRUE(functions);
    const uint16_t tiny = 1, big = bf16_of(0x1p120f);
    float out = 0;
    GemmCall call;
    call.m = call.n = call.k = 1;
    call.in = Element::bf16;
    call.a = &tiny, call.a_row = 1, call.b = &big, call.b_row = 1;
    call.d = &out, call.d_row = 1;
    const Memory workspace = poisoned(functions.workspace_bytes(call, tiling));
    ASSERT_EQ(functions.run(call, tiling, workspace.get()), 0);
    EXPECT_EQ(out, 0x1p-133f * 0x1p120f);
  }
}

}  // namespace
}  // namespace assay::native_cpu
