// The layer against a driver that runs on the host (testing/fake_cuda).
#include "assay/device/cuda/cuda_device.h"

#include <cstring>
#include <filesystem>
#include <future>

#include <gmock/gmock.h>

#include "testing/fake_cuda/fake_cuda.h"

namespace assay::cuda {
namespace {

using ::testing::HasSubstr;

std::string fake_path() {
  return (std::filesystem::read_symlink("/proc/self/exe").parent_path() / "libfake_cuda.so")
      .string();
}

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

class CudaDeviceTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto driver = Driver::open(fake_path());
    ASSERT_TRUE(driver) << driver.error().message;
    driver_ = *driver;
    auto library = DynamicLibrary::open(fake_path(), {.deep_bind = false});
    ASSERT_TRUE(library);
    ASSERT_TRUE(library->load("fake_cuda_fail", fail_));
    ASSERT_TRUE(library->load("fake_cuda_set_launch_ns", set_launch_ns_));
    ASSERT_TRUE(library->load("fake_cuda_allocated", allocated_));
    auto gpus = list_gpus(*driver_);
    ASSERT_TRUE(gpus) << gpus.error().message;
    gpus_ = *gpus;
    auto device = open(driver_, gpus_.front());
    ASSERT_TRUE(device) << device.error().message;
    device_ = std::move(*device);
    auto stream = device_->make_stream();
    ASSERT_TRUE(stream);
    stream_ = std::move(*stream);
  }

  abi::Stream native() const { return static_cast<abi::Stream>(stream_->native()); }

  Status launch(const Module::Function& function, std::span<void*> parameters,
                std::vector<abi::LaunchAttribute> attributes = {}) {
    abi::LaunchConfig config{2,
                             1,
                             1,
                             32,
                             1,
                             1,
                             0,
                             native(),
                             attributes.data(),
                             static_cast<unsigned>(attributes.size())};
    return driver_->check(
        driver_->call().launch(&config, function.handle, parameters.data(), nullptr), "launching");
  }

  std::shared_ptr<const Driver> driver_;
  std::vector<Gpu> gpus_;
  std::unique_ptr<CudaDevice> device_;
  std::unique_ptr<Stream> stream_;
  void (*fail_)(const char*, int, int) = nullptr;
  void (*set_launch_ns_)(const char*, uint64_t) = nullptr;
  uint64_t (*allocated_)() = nullptr;
};

TEST_F(CudaDeviceTest, TellsWhatTheGpuIs) {
  EXPECT_EQ(driver_->version_text(), "13.0");
  EXPECT_EQ(device_->fingerprint().kind, "gpu");
  EXPECT_EQ(device_->fingerprint().name, "Fake H200");
  EXPECT_EQ(device_->fingerprint().id, "GPU-fafbfcfd-feff-0001-0203-040506070809");
  EXPECT_EQ(device_->target().to_string(), "sm_90a");
  EXPECT_EQ(device_->multiprocessors(), 132);
  EXPECT_EQ(device_->last_level_cache_bytes(), size_t{1} << 20);
}

TEST_F(CudaDeviceTest, CopiesRoundTripAndMemoryIsGivenBack) {
  const uint64_t before = allocated_();
  {
    auto buffer = device_->allocate(1000, {.alignment = 4096, .offset = 64});
    ASSERT_TRUE(buffer) << buffer.error().message;
    EXPECT_EQ(reinterpret_cast<uintptr_t>((*buffer)->data()) % 4096, 64u);
    std::vector<std::byte> in(1000), out(1000);
    for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<std::byte>(i * 7);
    ASSERT_TRUE(device_->copy_in((*buffer)->data(), in));
    ASSERT_TRUE(device_->copy_out(out, (*buffer)->data()));
    EXPECT_EQ(in, out);
  }
  EXPECT_EQ(allocated_(), before);
}

TEST_F(CudaDeviceTest, LaunchesWithItsParametersGeometryAndAttributes) {
  auto module = Module::load(driver_, bytes_of(std::string_view("fake write_geometry\0", 20)));
  ASSERT_TRUE(module) << module.error().message;
  auto function = (*module)->function("write_geometry", 0, false);
  ASSERT_TRUE(function) << function.error().message;
  EXPECT_EQ(function->registers, 32);
  auto out = device_->allocate(64, {});
  ASSERT_TRUE(out);
  void* address = (*out)->data();
  void* parameters[] = {&address};
  abi::LaunchAttribute cluster{}, programmatic{};
  cluster.id = abi::kAttributeClusterDimension;
  cluster.value.cluster = {2, 1, 1};
  programmatic.id = abi::kAttributeProgrammaticSerialization;
  programmatic.value.programmatic_serialization_allowed = 1;
  ASSERT_TRUE(launch(*function, parameters, {cluster, programmatic}));
  ASSERT_TRUE(stream_->synchronize());
  uint32_t seen[11] = {};
  ASSERT_TRUE(device_->copy_out(std::as_writable_bytes(std::span(seen)), address));
  EXPECT_THAT(seen, ::testing::ElementsAre(2, 1, 1, 32, 1, 1, 0, 2, 1, 1, 1));
}

TEST_F(CudaDeviceTest, ACallersStreamTakesLaunchesInItsOrderAndStaysTheCallers) {
  auto module = Module::load(driver_, bytes_of(std::string_view("fake fill_words\0", 16)));
  ASSERT_TRUE(module) << module.error().message;
  auto function = (*module)->function("fill_words", 0, false);
  ASSERT_TRUE(function);
  auto out = device_->allocate(4, {});
  ASSERT_TRUE(out);
  auto gate = Gate::create(driver_);
  auto passed = Event::create(driver_);
  ASSERT_TRUE(gate && passed);
  void* address = (*out)->data();
  uint32_t value = 7;
  uint64_t words = 1;
  void* const parameters[] = {&address, &value, &words};
  {
    auto wrapped = device_->wrap_stream(stream_->native());
    ASSERT_TRUE(wrapped);
    EXPECT_EQ((*wrapped)->native(), stream_->native());
    ASSERT_TRUE(gate->close(native()));
    DeviceLaunch launch;
    launch.function = function->handle;
    launch.parameters = parameters;
    ASSERT_TRUE((*wrapped)->launch(launch));
    ASSERT_TRUE(passed->record(native()));
    EXPECT_FALSE(passed->passed().value()) << "it did not wait for what is ahead of it";
    gate->open();
  }
  ASSERT_TRUE(stream_->synchronize()) << "it is not there any more";
  uint32_t seen = 0;
  ASSERT_TRUE(device_->copy_out(std::as_writable_bytes(std::span(&seen, 1)), address));
  EXPECT_EQ(seen, 7u);
}

TEST_F(CudaDeviceTest, AGateHoldsLaunchesAndEventsMeasureThem) {
  auto module = Module::load(driver_, bytes_of(std::string_view("fake fill_words\0", 16)));
  ASSERT_TRUE(module) << module.error().message;
  auto function = (*module)->function("fill_words", 0, false);
  ASSERT_TRUE(function);
  auto out = device_->allocate(16, {});
  ASSERT_TRUE(out);
  std::vector<std::byte> bytes(16);
  ASSERT_TRUE(device_->copy_in((*out)->data(), bytes));
  set_launch_ns_("fill_words", 5000);
  auto gate = Gate::create(driver_);
  auto start = Event::create(driver_), end = Event::create(driver_);
  ASSERT_TRUE(gate && start && end);
  void* address = (*out)->data();
  uint32_t value = 7;
  uint64_t words = 4;
  void* parameters[] = {&address, &value, &words};
  for (int turn = 0; turn < 3; ++turn) {
    ASSERT_TRUE(gate->close(native()));
    ASSERT_TRUE(start->record(native()));
    ASSERT_TRUE(launch(*function, parameters));
    ASSERT_TRUE(launch(*function, parameters));
    ASSERT_TRUE(end->record(native()));
    EXPECT_FALSE(end->passed().value()) << "it went through a closed gate";
    gate->open();
    ASSERT_TRUE(stream_->synchronize());
    EXPECT_TRUE(end->passed().value());
    EXPECT_NEAR(end->ns_since(*start).value(), 10'000.0, 1) << "of a float's milliseconds";
  }
  uint32_t seen[4] = {};
  ASSERT_TRUE(device_->copy_out(std::as_writable_bytes(std::span(seen)), address));
  EXPECT_THAT(seen, ::testing::Each(7u));
}

TEST_F(CudaDeviceTest, LackOfMemorySaysHowMuchAndWhere) {
  const auto all = device_->allocate(size_t{2} << 30, {});
  ASSERT_FALSE(all);
  EXPECT_EQ(all.error().code, ErrorCode::machine);
  EXPECT_THAT(all.error().message, HasSubstr("2.00 GiB on Fake H200, which has 1.00 GiB"));
  fail_("cuMemAlloc_v2", abi::kOutOfMemory, 1);
  const auto refused = device_->allocate(100, {});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("CUDA_ERROR_OUT_OF_MEMORY (out of memory)"));
  EXPECT_TRUE(device_->allocate(100, {})) << "it is not sticky";
}

TEST_F(CudaDeviceTest, CodeThatIsNotForTheGpuIsRefusedWithTheDriversLog) {
  const auto ptx = Module::load(driver_, bytes_of(std::string_view(".version 99\0", 12)));
  ASSERT_FALSE(ptx);
  EXPECT_EQ(ptx.error().code, ErrorCode::build_failed);
  EXPECT_THAT(ptx.error().message, HasSubstr("ptxas: no fake code"));
  const auto cubin = Module::load(driver_, bytes_of("\x7f"
                                                    "ELF of another GPU"));
  ASSERT_FALSE(cubin);
  EXPECT_EQ(cubin.error().code, ErrorCode::unsupported);
  auto module = Module::load(driver_, bytes_of(std::string_view("fake fill_words\0", 16)));
  ASSERT_TRUE(module);
  EXPECT_EQ((*module)->function("absent", 0, false).error().code, ErrorCode::not_found);
  EXPECT_TRUE((*module)->function("fill_words", 200'000, true));
  EXPECT_EQ((*module)->function("fill_words", 300'000, false).error().code, ErrorCode::unsupported);
}

TEST_F(CudaDeviceTest, AnotherGpuThanWasAskedForIsNoticed) {
  Gpu other = gpus_.front();
  other.uuid = "GPU-00000000-0000-0000-0000-000000000000";
  const auto opened = open(driver_, other);
  ASSERT_FALSE(opened);
  EXPECT_THAT(opened.error().message, HasSubstr("which was asked for"));
}

TEST(CudaDriverTest, NoDriverIsASentenceWithARemedy) {
  const auto none = Driver::open("/nonexistent/libcuda.so.1");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, ErrorCode::unsupported);
  EXPECT_THAT(none.error().message, HasSubstr("driver package"));
  // A library that is no driver lacks its entry points.
  const auto other = Driver::open("libm.so.6");
  ASSERT_FALSE(other);
  EXPECT_THAT(other.error().message, HasSubstr("has no cuInit"));
}

}  // namespace
}  // namespace assay::cuda
