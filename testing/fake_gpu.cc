#include "testing/fake_gpu.h"

#include <filesystem>
#include <stdexcept>

namespace assay::testing {
namespace {

DynamicLibrary open(const std::string& name) {
  auto library = DynamicLibrary::open(fake_library(name));
  if (!library) throw std::runtime_error(library.error().message);
  return std::move(*library);
}

}  // namespace

std::string fake_library(const std::string& name) {
  const auto tests = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  return (tests / ("lib" + name + ".so")).string();
}

Result<std::unique_ptr<cuda::CudaDevice>> open_fake_gpu() {
  ASSAY_TRY(auto driver, cuda::Driver::open(fake_library("fake_cuda")));
  ASSAY_TRY(const auto gpus, cuda::list_gpus(*driver));
  return cuda::open(std::move(driver), gpus.front());
}

FakeControls::FakeControls(const std::string& library) : library_(open(library)) {}

}  // namespace assay::testing
