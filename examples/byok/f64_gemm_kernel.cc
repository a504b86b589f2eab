#include "f64_gemm_kernel.h"

namespace byok {
namespace {

struct Index {
  int64_t m, n, l;
};

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

// What one thread of one block does.
void thread(const Tile& tile, const Index& block, int thread_m, int thread_n, const Sizes& sizes,
            const Matrices& a, const Matrices& b, const Matrices& out) {
  const int64_t m = block.m * tile.m + thread_m;
  const int64_t n = block.n * tile.n + thread_n;
  if (m >= sizes.m || n >= sizes.n) return;  // The last tiles reach beyond the matrix.
  double sum = 0;
  for (int64_t k = 0; k < sizes.k; ++k) sum += a.at(block.l, m, k) * b.at(block.l, k, n);
  out.at(block.l, m, n) = sum;
}

}  // namespace

void f64_gemm(const Tile& tile, const Sizes& sizes, const Matrices& a, const Matrices& b,
              const Matrices& out) {
  const Index grid = {ceil_div(sizes.m, tile.m), ceil_div(sizes.n, tile.n), sizes.l};
  for (int64_t l = 0; l < grid.l; ++l) {
    for (int64_t block_m = 0; block_m < grid.m; ++block_m) {
      for (int64_t block_n = 0; block_n < grid.n; ++block_n) {
        for (int thread_m = 0; thread_m < tile.m; ++thread_m) {
          for (int thread_n = 0; thread_n < tile.n; ++thread_n) {
            thread(tile, {block_m, block_n, l}, thread_m, thread_n, sizes, a, b, out);
          }
        }
      }
    }
  }
}

}  // namespace byok
