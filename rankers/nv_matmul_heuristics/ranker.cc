#include "assay/kernel/ranker.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "assay/base/json.h"
#include "assay/base/text.h"
#include "assay/device/cuda/limits.h"
#include "assay/kernel/tile_design.h"
#include "assay/op/gemm/gemm.h"
#include "library.h"

namespace assay::nv_matmul_heuristics {
namespace {

// Behind every place among proposals.
constexpr double kNotProposed = 1000;
constexpr int64_t kMostTile = std::numeric_limits<uint16_t>::max();
constexpr int64_t kMostByte = std::numeric_limits<uint8_t>::max();

// The library's letters for inputs, sum and output. It has measured times of f16 alone, and bf16 is
// as long and as fast: both are asked for as f16.
const char* precision_of(const gemm::View& view) {
  const auto half = [](DType dtype) { return dtype == DType::f16 || dtype == DType::bf16; };
  if (half(view.a) && half(view.b)) {
    if (half(view.out)) return "HSH";
    if (view.out == DType::f32) return "HSS";
  }
  if (view.a == view.b && view.a == view.out) {
    if (view.a == DType::f32) return "SFS";
    if (view.a == DType::f64) return "DDD";
  }
  return nullptr;
}

int layout_of(const Problem& problem) {
  const std::string letters = gemm::layout_string(problem, true);  // Of a, b, out.
  if (letters.size() != 3) return 0;
  const char usual = letters[2];
  return (usual == 't' ? 0 : abi::kColumnMajorOutput) + (letters[0] == usual ? 0 : abi::kOtherA) +
         (letters[1] == usual ? 0 : abi::kOtherB);
}

bool fits(int64_t size) { return size > 0 && size <= std::numeric_limits<uint32_t>::max(); }

// Kernels that differ in nothing that the library is told of.
using Key = std::tuple<int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, bool>;
Key key_of(const TileDesign& tile) {
  return {tile.tile_m,    tile.tile_n, tile.tile_k,  tile.cluster_m,
          tile.cluster_n, tile.stages, tile.split_k, tile.stream_k};
}

// As many as fit beside the output's tile into `shared` bytes.
uint8_t stages_that_fit(const TileDesign& tile, int64_t tile_k, int64_t element_bytes,
                        int64_t shared) {
  const int64_t stage = (tile.tile_m + tile.tile_n) * tile_k * element_bytes;
  const int64_t room = shared - tile.tile_m * tile.tile_n * element_bytes;
  return static_cast<uint8_t>(std::clamp<int64_t>(room / std::max<int64_t>(stage, 1), 1, 16));
}

abi::Configuration configuration_of(const TileDesign& tile, int64_t element_bytes, int64_t shared) {
  const int64_t tile_k = tile.tile_k > 0 ? tile.tile_k : 128 / element_bytes;
  const auto m = static_cast<uint16_t>(tile.tile_m), n = static_cast<uint16_t>(tile.tile_n),
             k = static_cast<uint16_t>(tile_k);
  // A warp group's instruction: 64 rows, up to 256 columns, 32 bytes of k.
  const auto rows = std::min<uint16_t>(m, 64), columns = std::min<uint16_t>(n, 256);
  return {.block = {m, n, k},
          .warp = {rows, columns, k},
          .instruction = {rows, columns, static_cast<uint16_t>(32 / element_bytes)},
          .split_k = static_cast<uint16_t>(tile.split_k),
          .stages = tile.stages > 0 ? static_cast<uint8_t>(tile.stages)
                                    : stages_that_fit(tile, tile_k, element_bytes, shared),
          .swizzle = 1,
          .order = 0,
          .cluster = {static_cast<uint8_t>(tile.cluster_m), static_cast<uint8_t>(tile.cluster_n)}};
}

// By tile and cluster; one that splits k is for kernels that can.
bool implements(const TileDesign& tile, const abi::Configuration& proposal) {
  const bool splits = tile.stream_k || tile.split_k > 1;
  return tile.tile_m == proposal.block[0] && tile.tile_n == proposal.block[1] &&
         (tile.tile_k == 0 || tile.tile_k == proposal.block[2]) &&
         tile.cluster_m == proposal.cluster[0] && tile.cluster_n == proposal.cluster[1] &&
         splits == (proposal.split_k > 1);
}

class HeuristicsScorer final : public Scorer {
 public:
  explicit HeuristicsScorer(std::unique_ptr<Library> library) : library_(std::move(library)) {}
  std::string version() const override { return library_->version(); }
  std::string path() const override { return library_->path(); }

 private:
  void do_score(std::span<const KernelMetadata> rows, const Problem& problem,
                const DeviceFacts& device, Scores& scores) const override {
    const auto all = [&](std::string why) {
      scores.unscored[std::move(why)] += static_cast<int64_t>(rows.size());
    };
    if (device.capability <= 0) return all("the library is for GPUs");
    const auto gpu = gpu_number(device.name);
    if (!gpu)
      return all(
          fmt::format("the library has no description of the GPU {}", sanitize(device.name, 80)));
    const auto view = gemm::view(problem);
    if (!view) return all("the library is for GEMM alone");
    const char* precision = precision_of(*view);
    if (precision == nullptr) return all("the library has no such element types");
    if (!fits(view->m) || !fits(view->n) || !fits(view->k) || !fits(view->l))
      return all("the problem has a size that the library cannot be told");
    Library::Question question{precision,
                               {static_cast<uint32_t>(view->m), static_cast<uint32_t>(view->n),
                                static_cast<uint32_t>(view->k), static_cast<uint32_t>(view->l),
                                static_cast<uint8_t>(layout_of(problem))},
                               *gpu};
    const std::vector<abi::Configuration> proposals = library_->propose(question);
    const auto bytes = static_cast<int64_t>(size_bytes(view->a));
    const int64_t shared = cuda::most_shared_bytes(device.capability);
    TileReader reader;
    TileDesign tile;
    std::map<Key, double> known;
    for (size_t i = 0; i < rows.size(); ++i) {
      std::string_view why = reader.read(rows[i].design, tile);
      if (why.empty() &&
          (std::max({tile.tile_m, tile.tile_n, tile.tile_k, tile.split_k}) > kMostTile ||
           std::max({tile.cluster_m, tile.cluster_n, tile.stages}) > kMostByte))
        why = "its design has a number that the library cannot be told";
      if (why.empty()) {
        const auto [found, is_new] = known.try_emplace(key_of(tile), 0);
        if (is_new) found->second = cost_of(tile, proposals, question, bytes, shared);
        scores.costs[i] = found->second;
        if (std::isfinite(found->second)) continue;
        why = "the library gives no estimate of it";
      }
      ++scores.unscored[std::string(why)];
    }
  }

  // The place of the best proposal that it implements; behind all of those, by estimated seconds.
  double cost_of(const TileDesign& tile, const std::vector<abi::Configuration>& proposals,
                 const Library::Question& question, int64_t element_bytes, int64_t shared) const {
    for (size_t place = 0; place < proposals.size(); ++place)
      if (implements(tile, proposals[place])) return static_cast<double>(place);
    const double seconds =
        library_->estimate(question, configuration_of(tile, element_bytes, shared));
    return std::isfinite(seconds) && seconds > 0 ? kNotProposed + seconds
                                                 : std::numeric_limits<double>::quiet_NaN();
  }

  std::unique_ptr<Library> library_;
};

class Heuristics final : public Ranker {
 public:
  const RankerInfo& info() const override {
    static const RankerInfo info = {
        .name = "nv_matmul_heuristics",
        .summary = "what NVIDIA's nvMatmulHeuristics proposes for CUTLASS 3, then by its estimates",
        .licence = "NVIDIA's own; never shipped",
        .library = "libnvMatmulHeuristics.so.0",
        .packages = {"nvidia-matmul-heuristics (pip)"},
        .rank = 20};
    return info;
  }

 private:
  Result<std::unique_ptr<Scorer>> do_open(const ProviderSettings& settings) const override {
    ASSAY_TRY(auto library, Library::open(settings));
    return std::make_unique<HeuristicsScorer>(std::move(library));
  }
};

}  // namespace

std::unique_ptr<Ranker> make_ranker() { return std::make_unique<Heuristics>(); }

}  // namespace assay::nv_matmul_heuristics
