#include "library.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "assay/device/cuda/libraries.h"

namespace assay::nv_matmul_heuristics {
namespace {

// The first whose words are all in the driver's name; longer names stand before what they contain.
struct KnownGpu {
  std::string_view one, other;
  unsigned number;
};
constexpr KnownGpu kGpus[] = {
    {"H100", "PCIe", 9001},  {"H100", "NVL", 9002},      {"H100", "", 9000},
    {"H200", "", 9003},      {"H20", "", 9004},          {"GB200", "", 10001},
    {"GB300", "", 10300},    {"B200", "", 10000},        {"A100", "PCIe", 8001},
    {"A100", "PCIE", 8001},  {"A100", "", 8000},         {"A30", "", 8002},
    {"RTX A6000", "", 8602}, {"A10", "", 8003},          {"A40", "", 8600},
    {"RTX 3090", "", 8601},  {"RTX 6000 Ada", "", 8905}, {"RTX PRO 6000", "", 12002},
    {"L40S", "", 8902},      {"L40", "", 8901},          {"L20", "", 8900},
    {"L4", "", 8903},        {"RTX 4090", "", 8904},     {"RTX 5080", "", 12000},
    {"RTX 5090", "", 12001}};

// A word of the name, or several: "A10" is not in "A100".
bool has(std::string_view name, std::string_view words) {
  const auto is_word = [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
  };
  for (size_t at = name.find(words); at != std::string_view::npos; at = name.find(words, at + 1)) {
    const size_t end = at + words.size();
    if ((at == 0 || !is_word(name[at - 1])) && (end == name.size() || !is_word(name[end])))
      return true;
  }
  return words.empty();
}

// Asked for more, it adds seeds for a search (64x32 tiles for 4096 cubed), which are no answers.
constexpr unsigned kMostProposals = 8;

}  // namespace

std::optional<unsigned> gpu_number(std::string_view name) {
  for (const KnownGpu& gpu : kGpus)
    if (has(name, gpu.one) && has(name, gpu.other)) return gpu.number;
  return std::nullopt;
}

Result<std::unique_ptr<Library>> Library::open(const ProviderSettings& settings) {
  std::vector<std::string> files;
  if (const auto given = settings.find("library"); given != settings.end())
    files = {given->second};
  else
    files =
        cuda::library_candidates({"libnvMatmulHeuristics.so.0"}, "nvMatmulHeuristics", settings);
  const auto load = [](const std::string& file) -> Result<std::unique_ptr<Library>> {
    ASSAY_TRY(DynamicLibrary mapped, DynamicLibrary::open(file));
    std::unique_ptr<Library> library(new Library(std::move(mapped)));
#define ASSAY_NV_MATMUL_HEURISTICS_LOAD(member, symbol, result, parameters) \
  ASSAY_TRY(library->library_.load(symbol, library->call_.member));
    ASSAY_NV_MATMUL_HEURISTICS_ENTRY_POINTS(ASSAY_NV_MATMUL_HEURISTICS_LOAD)
#undef ASSAY_NV_MATMUL_HEURISTICS_LOAD
    if (library->call_.create(&library->handle_) != abi::kSuccess)
      return fail(ErrorCode::unsupported, "{}: makes no handle", file);
    return library;
  };
  return first_that_loads(files, load);
}

// The handle stays: where there is no driver, 0.1.0.27 closes a library that it never opened when
// it is destroyed, and crashes.
Library::~Library() {
  if (gpu_ != nullptr) (void)call_.destroy_hardware(&gpu_);
}

std::string Library::version() const {
  std::array<char, 128> text{};
  (void)call_.version(text.data(), text.size() - 1);
  return text.data();
}

abi::HardwareDescriptor Library::gpu(unsigned number) {
  if (gpu_ != nullptr && gpu_number_ == number) return gpu_;
  if (gpu_ == nullptr && call_.create_hardware(&gpu_) != abi::kSuccess) gpu_ = nullptr;
  if (gpu_ == nullptr || call_.set_gpu(gpu_, number) != abi::kSuccess) return nullptr;
  gpu_number_ = number;
  discovered_.clear();
  return gpu_;
}

std::vector<abi::Configuration> Library::propose(const Question& question) {
  const abi::HardwareDescriptor hardware = gpu(question.gpu);
  if (hardware == nullptr) return {};
  const std::string kind = fmt::format("{} {}", question.precision, question.problem.layout);
  if (std::ranges::find(discovered_, kind) == discovered_.end()) {
    // Measured times that it has of some GPUs; without them its model is what there is.
    (void)call_.load_discovery(handle_, question.precision, abi::kTargetCutlass3,
                               question.problem.layout, hardware);
    discovered_.push_back(kind);
  }
  std::vector<abi::Configuration> proposals(kMostProposals);
  const unsigned count =
      call_.propose(handle_, question.precision, 0, abi::kTargetCutlass3, &question.problem,
                    proposals.data(), kMostProposals, hardware);
  proposals.resize(std::min(count, kMostProposals));
  return proposals;
}

double Library::estimate(const Question& question, const abi::Configuration& configuration) {
  const abi::HardwareDescriptor hardware = gpu(question.gpu);
  if (hardware == nullptr) return 0;
  return call_.estimate(handle_, question.precision, abi::kTargetCutlass3, &question.problem,
                        &configuration, hardware);
}

}  // namespace assay::nv_matmul_heuristics
