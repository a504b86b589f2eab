#include <algorithm>
#include <array>
#include <cstring>

#include "assay/kernel/design_space.h"
#include "gemm.h"

namespace assay::libxsmm {
namespace {

enum class Source { in_place, copied, prepared };

constexpr int64_t kRows = 64;  // Of a and out in a tile: more only make the code larger.

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

// How out is cut: n into columns of `n`, k into slices of `k`, m into rows of kRows.
struct Cut {
  int64_t m, n, k, tile_n, tile_k;
  int64_t m_blocks() const { return ceil_div(m, kRows); }
  int64_t n_blocks() const { return ceil_div(n, tile_n); }
  int64_t k_blocks() const { return ceil_div(k, tile_k); }
  int64_t rows(int64_t block) const { return std::min(kRows, m - block * kRows); }
  int64_t columns(int64_t block) const { return std::min(tile_n, n - block * tile_n); }
  int64_t depth(int64_t block) const { return std::min(tile_k, k - block * tile_k); }
  int64_t tile_elements() const { return tile_n * tile_k; }
};

// b's rows p to p + depth and columns j to j + columns as code wants them: rows of tile_n elements;
// bf16 in pairs along k, so that (p, j) stands at [p / 2][j][p % 2].
template <class T>
void copy_tile(const Api& api, const gemm::Matrix& b, const T* from, const Cut& cut, int64_t depth,
               int64_t columns, T* to) {
  if constexpr (sizeof(T) == 2) {
    const int64_t row = b.row_stride, column = b.column_stride;
    for (int64_t p = 0; p < depth; p += 2) {
      const T* const even = from + p * row;
      T* const pairs = to + p * cut.tile_n;
      for (int64_t j = 0; j < columns; ++j) {
        pairs[2 * j] = even[j * column];
        pairs[2 * j + 1] = even[j * column + row];
      }
    }
  } else if (b.column_stride == 1) {
    for (int64_t p = 0; p < depth; ++p)
      std::memcpy(to + p * cut.tile_n, from + p * b.row_stride,
                  static_cast<size_t>(columns) * sizeof(T));
  } else {
    api.transpose(to, from, sizeof(T), static_cast<int>(depth), static_cast<int>(columns),
                  static_cast<int>(b.column_stride), static_cast<int>(cut.tile_n));
  }
}

template <class In, class Out>
struct Tiles {
  std::shared_ptr<const Api> api;
  int threads = 1;
  Source source = Source::in_place;
  Cut cut{};
  gemm::Matrix a, b, out;  // With plain strides.
  int64_t batches = 1, groups = 1;
  size_t a_place = 0, b_place = 0, out_place = 0, workspace_place = 0, prepared_place = 0;
  // By whether columns, rows and depth are those of the last block, and whether k begins.
  std::array<abi::Kernel<In, Out>*, 16> kernels{};

  static size_t index(bool last_n, bool last_m, bool last_k, bool first) {
    return (last_n ? 8u : 0u) + (last_m ? 4u : 0u) + (last_k ? 2u : 0u) + (first ? 1u : 0u);
  }

  // False where the library makes no code for one of the shapes.
  bool make_kernels() {
    const bool transposed = a.column_stride != 1;
    const int lda = static_cast<int>(source == Source::in_place ? b.row_stride : cut.tile_n);
    const int ldb = static_cast<int>(transposed ? a.column_stride : a.row_stride);
    const int64_t last_n = cut.n_blocks() - 1, last_m = cut.m_blocks() - 1,
                  last_k = cut.k_blocks() - 1;
    for (const int64_t j : {int64_t{0}, last_n})
      for (const int64_t i : {int64_t{0}, last_m})
        for (const int64_t p : {int64_t{0}, last_k})
          for (const bool first : {false, true}) {
            auto*& kernel = kernels[index(j == last_n, i == last_m, p == last_k, first)];
            const In* const type = nullptr;
            kernel = api->dispatch(type, static_cast<int>(cut.columns(j)),
                                   static_cast<int>(cut.rows(i)), static_cast<int>(cut.depth(p)),
                                   lda, ldb, static_cast<int>(out.row_stride), first, transposed);
            if (kernel == nullptr) return false;
          }
    return true;
  }

  // Rows of m that one piece of work covers are those of a group of blocks.
  int64_t pieces() const { return batches * cut.n_blocks() * groups; }

  static int launch(const void* state, void* const* data) {
    const auto& tiles = *static_cast<const Tiles*>(state);
    struct Launch {
      const Tiles* tiles;
      void* const* data;
    } const all{&tiles, data};
    tiles.api->parallel(
        tiles.threads,
        [](const void* given, int index, int count) {
          const auto& [self, operands] = *static_cast<const Launch*>(given);
          const int64_t pieces = self->pieces();
          for (int64_t piece = pieces * index / count; piece < pieces * (index + 1) / count;
               ++piece)
            self->run(piece, index, operands);
        },
        &all);
    return 0;
  }

  void run(int64_t piece, int thread, void* const* data) const {
    const int64_t group = piece % groups, j = piece / groups % cut.n_blocks(),
                  l = piece / groups / cut.n_blocks();
    const int64_t from_i = cut.m_blocks() * group / groups,
                  to_i = cut.m_blocks() * (group + 1) / groups;
    const In* const a_data = static_cast<const In*>(data[a_place]) + l * a.batch_stride;
    Out* const out_data =
        static_cast<Out*>(data[out_place]) + l * out.batch_stride + j * cut.tile_n;
    for (int64_t p = 0; p < cut.k_blocks(); ++p) {
      const In* const tile = tile_of(l, j, p, thread, data);
      for (int64_t i = from_i; i < to_i; ++i)
        kernels[index(j == cut.n_blocks() - 1, i == cut.m_blocks() - 1, p == cut.k_blocks() - 1,
                      p == 0)](tile,
                               a_data + i * kRows * a.row_stride + p * cut.tile_k * a.column_stride,
                               out_data + i * kRows * out.row_stride);
    }
  }

  const In* b_at(int64_t l, int64_t j, int64_t p, const void* data) const {
    return static_cast<const In*>(data) + l * b.batch_stride + p * cut.tile_k * b.row_stride +
           j * cut.tile_n * b.column_stride;
  }

  const In* tile_of(int64_t l, int64_t j, int64_t p, int thread, void* const* data) const {
    if (source == Source::prepared)
      return static_cast<const In*>(data[prepared_place]) + packed_at(l, j, p);
    const In* const from = b_at(l, j, p, data[b_place]);
    if (source == Source::in_place) return from;
    In* const to = static_cast<In*>(data[workspace_place]) + thread * cut.tile_elements();
    copy_tile(*api, b, from, cut, cut.depth(p), cut.columns(j), to);
    return to;
  }

  // In prepared memory: the slices of a column of tiles lie together. A b that is the same for all
  // batches is packed once.
  int64_t packed_batches() const { return b.batch_stride == 0 ? 1 : batches; }
  int64_t packed_at(int64_t l, int64_t j, int64_t p) const {
    const int64_t batch = packed_batches() == 1 ? 0 : l;
    return ((batch * cut.n_blocks() + j) * cut.k_blocks() + p) * cut.tile_elements();
  }
  int64_t packed_elements() const { return packed_at(packed_batches() - 1, cut.n_blocks(), 0); }

  void pack(const void* from, In* to) const {
    for (int64_t l = 0; l < packed_batches(); ++l)
      for (int64_t j = 0; j < cut.n_blocks(); ++j)
        for (int64_t p = 0; p < cut.k_blocks(); ++p)
          copy_tile(*api, b, b_at(l, j, p, from), cut, cut.depth(p), cut.columns(j),
                    to + packed_at(l, j, p));
  }
};

Cut cut_of(const KernelMetadata& row, const Matrices& matrices) {
  return {.m = matrices.out.rows,
          .n = matrices.out.columns,
          .k = matrices.a.columns,
          .tile_n = row.design.integer("tile_n", 64),
          .tile_k = row.design.integer("tile_k", 64)};
}

template <class In, class Out>
Result<Tiles<In, Out>> make_tiles(const std::shared_ptr<const Api>& api, Source source,
                                  const KernelMetadata& row, const Problem& problem, int threads) {
  ASSAY_TRY(const gemm::View view, gemm::view(problem));
  const Matrices matrices = matrices_of(view);
  Tiles<In, Out> tiles;
  tiles.api = api;
  tiles.threads = threads;
  tiles.source = source;
  tiles.cut = cut_of(row, matrices);
  tiles.a = matrices.a.plain();
  tiles.b = matrices.b.plain();
  tiles.out = matrices.out.plain();
  tiles.batches = view.l;
  // Rows are shared among threads only where columns and batches are too few for all of them.
  tiles.groups = std::clamp<int64_t>(ceil_div(threads, view.l * tiles.cut.n_blocks()), 1,
                                     tiles.cut.m_blocks());
  const gemm::Places places = gemm::places_of(problem);
  tiles.a_place = matrices.swapped ? places.b : places.a;
  tiles.b_place = matrices.swapped ? places.a : places.b;
  tiles.out_place = places.out;
  tiles.workspace_place = places.workspace;
  tiles.prepared_place = places.prepared;
  return tiles;
}

void check(const Api& api, Source source, const Problem& problem, Refusals& refusals) {
  const auto view = gemm::view(problem);
  if (!view) {
    refusals.add(Reason::other, view.error().message);
    return;
  }
  const Matrices matrices = matrices_of(*view);
  const bool pairs = view->a == DType::bf16;
  if (pairs && !api.has_bf16())
    refusals.add(Reason::target, fmt::format("libxsmm {} makes code for bf16 from AVX-512 on, and "
                                             "this machine is '{}' to it",
                                             api.version(), api.target()));
  if (pairs && view->k % 2 != 0)
    refusals.add(Reason::divisibility,
                 fmt::format("k={} is odd: libxsmm takes bf16 in pairs along k", view->k));
  // Rows of a as well: code reads both of a pair at once.
  const int64_t apart = matrices.a.plain().row_stride;
  if (pairs && matrices.a.leading(true) && apart % 2 != 0)
    refusals.add(
        Reason::divisibility,
        fmt::format("rows of operand {} lie {} elements apart, which is odd: libxsmm takes "
                    "bf16 in pairs along k",
                    matrices.swapped ? "b" : "a", apart));
  if (source == Source::prepared && matrices.swapped)
    refusals.add(Reason::layout,
                 "out is column-major: then b is the operand that libxsmm takes as it is");
  check_matrix(matrices.a, matrices.swapped ? "b" : "a", !pairs, refusals);
  check_matrix(matrices.b, matrices.swapped ? "a" : "b", source != Source::in_place, refusals);
  check_matrix(matrices.out, "out", false, refusals);
}

// The hooks of one type, of which a routine has several.
template <class In, class Out>
struct Typed {
  static size_t workspace_bytes(Source source, const KernelMetadata& row, const Problem& problem,
                                int threads) {
    const auto view = gemm::view(problem);
    if (!view || source != Source::copied) return 0;
    return static_cast<size_t>(cut_of(row, matrices_of(*view)).tile_elements() * threads) *
           sizeof(In);
  }

  static Status prepare(const std::shared_ptr<const Api>& api, const KernelMetadata& row,
                        const Binding& binding, Prepared& prepared) {
    ASSAY_TRY(const auto tiles,
              (make_tiles<In, Out>(api, Source::prepared, row, binding.problem, binding.threads)));
    ASSAY_TRY(const std::span<std::byte> memory,
              prepared.allocate(static_cast<size_t>(tiles.packed_elements()) * sizeof(In)));
    tiles.pack(binding.data[tiles.b_place], reinterpret_cast<In*>(memory.data()));
    return {};
  }

  static Result<HostStep> bind(const std::shared_ptr<const Api>& api, Source source,
                               const KernelMetadata& row, const Binding& binding) {
    ASSAY_TRY(auto tiles,
              (make_tiles<In, Out>(api, source, row, binding.problem, binding.threads)));
    if (!tiles.make_kernels())
      return fail(ErrorCode::failed, "libxsmm {} makes no code for tiles of {} x {} here",
                  api->version(), tiles.cut.tile_n, tiles.cut.tile_k);
    return HostStep{&Tiles<In, Out>::launch, std::make_shared<Tiles<In, Out>>(std::move(tiles))};
  }
};

// use(Typed<...>()) for the type of a.
template <class Use>
auto with_type(const Problem& problem, Use use) {
  const auto view = gemm::view(problem);
  const DType type = view ? view->a : DType::f32;
  if (type == DType::f64) return use(Typed<double, double>());
  if (type == DType::bf16) return use(Typed<uint16_t, float>());
  return use(Typed<float, float>());
}

Routine routine_of(const std::shared_ptr<const Api>& api, const char* name, Source source) {
  const bool prepared = source == Source::prepared;
  Routine routine{.name = name,
                  .prepares = prepared,
                  .rules = {rule_of(DType::f32, DType::f32, prepared),
                            rule_of(DType::f64, DType::f64, prepared)}};
  if (source != Source::in_place)
    routine.rules.push_back(rule_of(DType::bf16, DType::f32, prepared));
  // Deep tiles stay in cache while rows of a pass; wide ones are read in the order of memory, which
  // matters where b lies as it was given (README.md).
  std::vector<std::vector<Value>> shapes = {{int64_t{64}, int64_t{512}}};
  if (!prepared) shapes.push_back({int64_t{512}, int64_t{64}});
  routine.axes = {preset({"tile_n", "tile_k"}, std::move(shapes))};
  routine.row_name = "{routine}_{tile_n}x{tile_k}";
  routine.check = [api, source](const KernelMetadata&, const Problem& problem, Refusals& refusals) {
    check(*api, source, problem, refusals);
  };
  routine.workspace_bytes = [source](const KernelMetadata& row, const Problem& problem,
                                     int threads) {
    return with_type(
        problem, [&](auto typed) { return typed.workspace_bytes(source, row, problem, threads); });
  };
  routine.prepare = [api](const KernelMetadata& row, const Binding& binding, Prepared& memory) {
    return with_type(binding.problem,
                     [&](auto typed) { return typed.prepare(api, row, binding, memory); });
  };
  routine.bind = [api, source](const KernelMetadata& row, const Binding& binding) {
    return with_type(binding.problem,
                     [&](auto typed) { return typed.bind(api, source, row, binding); });
  };
  return routine;
}

}  // namespace

std::shared_ptr<const Family> make_tiles_family(std::shared_ptr<const Api> api) {
  return make_library_family(
      "tiles", api->facts(),
      {routine_of(api, "tiles", Source::in_place), routine_of(api, "tiles_copied", Source::copied),
       routine_of(api, "tiles_prepared", Source::prepared)});
}

}  // namespace assay::libxsmm
