#pragma once

// For kernels with one helping thread of their own, which lives as long as the process: how it is
// woken, and how its end is told, is what each of them does in its own way.

#include <thread>

#include "honest.h"

// Rows of the upper half are the helper's.
struct Halves {
  Product product{};
  void upper() const { product.rows(0, product.m / 2); }
  void lower() const { product.rows(product.m / 2, product.m); }
};

// Its threads end with the process: nobody can join them when an object is unmapped for good.
template <class Work>
bool start_helper(Work work) {
  std::thread(work).detach();
  return true;
}
