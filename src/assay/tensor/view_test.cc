#include "assay/tensor/view.h"

#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "assay/tensor/dlpack.h"

namespace assay {
namespace {

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();

Result<int64_t> span_of(std::vector<int64_t> sizes, std::vector<int64_t> strides) {
  return spanned_bytes(DType::f32, sizes, strides);
}

TEST(ViewTest, SpansReachFromTheFirstToTheLastElement) {
  EXPECT_EQ(*span_of({2, 3}, {10, 1}), 13 * 4);
  EXPECT_EQ(*span_of({2, 3}, {1, 100}), 202 * 4);
  EXPECT_EQ(*span_of({3}, {-2}), 5 * 4);
  EXPECT_EQ(*span_of({5, 4}, {0, 1}), 4 * 4);
  EXPECT_EQ(*span_of({}, {}), 4);
  EXPECT_EQ(*span_of({0, 3}, {kMax, 1}), 0);
}

TEST(ViewTest, OverflowIsAnErrorAndNeverANumber) {
  EXPECT_FALSE(span_of({kMax, kMax}, {kMax, 1}));
  EXPECT_FALSE(span_of({2}, {kMax}));
  EXPECT_FALSE(span_of({-1}, {1}));
  EXPECT_FALSE(span_of({2, 2}, {1}));
  const std::vector<int64_t> huge = {int64_t{1} << 40, int64_t{1} << 40};
  EXPECT_FALSE(dense_view(nullptr, DType::f32, huge));
  EXPECT_FALSE(dense_view(nullptr, DType::f32, std::vector<int64_t>(9, 1)));
}

TEST(ViewTest, DenseViewsPutTheLastDimensionNextToEachOther) {
  const std::vector<int64_t> sizes = {2, 3, 4};
  const auto view = dense_view(nullptr, DType::f64, sizes);
  ASSERT_TRUE(view);
  EXPECT_EQ(view->stride[0], 12);
  EXPECT_EQ(view->stride[1], 4);
  EXPECT_EQ(view->stride[2], 1);
  EXPECT_EQ(view->elements(), 24);
  EXPECT_EQ(view->span_bytes(), 24 * 8);
}

TEST(DlpackTest, ThereAndBackIsTheSameView) {
  std::vector<float> data(24);
  const std::vector<int64_t> sizes = {2, 3, 4};
  auto view = dense_view(data.data(), DType::f32, sizes);
  view->stride = {1, 8, 2};
  DlpackTensor tensor;
  ASSERT_TRUE(to_dlpack(*view, tensor));
  const auto back = from_dlpack(tensor);
  ASSERT_TRUE(back);
  EXPECT_EQ(back->data, data.data());
  EXPECT_EQ(back->dtype, DType::f32);
  EXPECT_EQ(back->size, view->size);
  EXPECT_EQ(back->stride, view->stride);
}

TEST(DlpackTest, NullStridesMeanDenseAndTheOffsetCounts) {
  std::vector<int8_t> data(100);
  int64_t shape[] = {3, 5};
  DlpackTensor tensor;
  tensor.data = data.data();
  tensor.ndim = 2;
  tensor.dtype = {0, 8, 1};
  tensor.shape = shape;
  tensor.byte_offset = 7;
  const auto view = from_dlpack(tensor);
  ASSERT_TRUE(view);
  EXPECT_EQ(view->data, data.data() + 7);
  EXPECT_EQ(view->dtype, DType::s8);
  EXPECT_EQ(view->stride[0], 5);
}

// A struct with the official header's field types, among them an enum.
enum ForeignDeviceType { kForeignCpu = 1, kForeignCuda = 2 };
struct ForeignTensor {
  void* data;
  struct {
    ForeignDeviceType device_type;
    int device_id;
  } device;
  int ndim;
  struct {
    uint8_t code;
    uint8_t bits;
    uint16_t lanes;
  } dtype;
  int64_t* shape;
  int64_t* strides;
  uint64_t byte_offset;
};

TEST(DlpackTest, TakesTheStructOfOtherHeaders) {
  double value = 1;
  int64_t shape[] = {1};
  ForeignTensor tensor{&value, {kForeignCpu, 0}, 1, {2, 64, 1}, shape, nullptr, 0};
  const auto view = from_dlpack(tensor);
  ASSERT_TRUE(view);
  EXPECT_EQ(view->dtype, DType::f64);
  ForeignTensor out{};
  ASSERT_TRUE(to_dlpack(*view, out));
  EXPECT_EQ(out.device.device_type, kForeignCpu);
  EXPECT_EQ(out.dtype.bits, 64);
}

TEST(DlpackTest, RefusesWhatItCannotHold) {
  int64_t shape[9] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
  float value = 0;
  DlpackTensor good;
  good.data = &value;
  good.ndim = 1;
  good.dtype = {2, 32, 1};
  good.shape = shape;
  ASSERT_TRUE(from_dlpack(good));
  const auto refused = [&](auto change) {
    DlpackTensor tensor = good;
    change(tensor);
    const auto view = from_dlpack(tensor);
    return view ? std::string() : view.error().message;
  };
  EXPECT_NE(refused([](auto& t) { t.device.device_type = 2; }), "");
  EXPECT_NE(refused([](auto& t) { t.dtype.lanes = 4; }), "");
  EXPECT_NE(refused([](auto& t) { t.dtype.code = 5; }), "");
  EXPECT_NE(refused([](auto& t) { t.ndim = 9; }), "");
  EXPECT_NE(refused([](auto& t) { t.ndim = -1; }), "");
  EXPECT_NE(refused([](auto& t) { t.shape = nullptr; }), "");
  EXPECT_NE(refused([](auto& t) { t.data = nullptr; }), "");
  EXPECT_NE(refused([&](auto& t) {
              shape[0] = -1;
              (void)t;
            }),
            "");
}

}  // namespace
}  // namespace assay
