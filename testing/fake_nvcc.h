#pragma once

// A toolchain for CUTLASS's kernels on machines without one: a script in the place of nvcc, which
// hands out testing/fake_cutlass's kernel for the types that a source names and says what ptxas
// says of it, and headers that hold a version alone.
//
// Sources of 256x256 tiles spill. The script does what the file `orders` in its folder says: "fail"
// (a compile error), "serialise" (ptxas's warning), "hang", or what it leaves instead of an object:
// "nothing", "pipe", "link" (to `object.so` in its folder), "text", "object" (a copy of that file).
// Each compile is a line in `compiled`.

#include <string>

#include "assay/base/file.h"

namespace assay::testing {

class FakeNvcc {
 public:
  explicit FakeNvcc(const std::string& folder);

  std::string nvcc() const { return folder_ + "/nvcc"; }
  std::string directory() const { return folder_ + "/cutlass"; }
  void order(const std::string& words) const;
  int compiled() const;  // How often.

 private:
  std::string folder_;
};

}  // namespace assay::testing
