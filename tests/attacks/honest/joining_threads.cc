// assay: {entry: joining_threads, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Three threads for each launch, which meet at a barrier before their second half.
#include <barrier>
#include <thread>
#include <vector>

#include "honest.h"

KERNEL(joining_threads) {
  constexpr long kThreads = 3;
  const Product product{a, b, out, m, n, k};
  std::barrier barrier(kThreads);
  std::vector<std::jthread> threads;
  for (long own = 0; own < kThreads; ++own)
    threads.emplace_back([&, own] {
      const long first = own * m / kThreads, last = (own + 1) * m / kThreads;
      product.rows(first, (first + last) / 2);
      barrier.arrive_and_wait();
      product.rows((first + last) / 2, last);
    });
}
