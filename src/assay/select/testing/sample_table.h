#pragma once

// A catalog of toys and a table tuned on them.

#include <memory>
#include <string>
#include <vector>

#include "assay/kernel/testing/toy_family.h"
#include "assay/select/tuned_table.h"

namespace assay::testing {

inline Problem shape(int64_t m, int64_t n, int64_t k, std::vector<std::string> constant = {}) {
  return *gemm::problem(gemm::Shape{.m = m, .n = n, .k = k, .constant = std::move(constant)});
}

// toys/toy with toy_8, toy_16 and toy_32.
struct Toys {
  std::shared_ptr<ToyFamily> family = std::make_shared<ToyFamily>("toy", toy_groups());
  Catalog catalog;
  std::vector<Kernel> kernels;

  Toys() {
    catalog.add("toys", ProviderRole::ours, family);
    kernels = catalog.get_kernels()->kernels;
  }

  // A table that knows them, without problems.
  TableContents table() const {
    TableContents contents;
    contents.origin.created = "2025-01-02T03:04:05Z";
    contents.origin.run = "0001-toys";
    contents.origin.target = "x86_64";
    contents.origin.threads = 1;
    contents.origin.libraries = {{"toys", "1.0", "/usr/lib/toys.so", "abc"}};
    for (const Kernel& kernel : kernels) {
      TableKernel& made = contents.kernels.emplace_back();
      made.metadata = kernel.metadata();
      const Artifact artifact = Artifact::without_bytes({{"toy", true}});
      made.artifact_hash = artifact.hash;
      made.artifact_facts = artifact.facts;
      made.sample = shape(4, 4, 4).to_json();
    }
    return contents;
  }
};

}  // namespace assay::testing
