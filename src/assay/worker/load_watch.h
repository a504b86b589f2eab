#pragma once

// What the objects of users' kernels did to this process when they were loaded.

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "assay/kernel/metadata.h"
#include "assay/record/outcome.h"
#include "assay/worker/process_state.h"

namespace assay::sweep {

// Kernels that may come out of one object.
inline std::string owner_of(const KernelMetadata& kernel) {
  return kernel.provider() + "/" + kernel.family();
}

class LoadWatch {
 public:
  // Calls `load`, which may map objects of this owner, and puts the process back into the state
  // that it had before.
  template <class Load>
  auto around(const std::string& owner, Load&& load) {
    const ProcessState before = ProcessState::read();
    auto loaded = std::forward<Load>(load)();
    add(owner, before.restore());
    return loaded;
  }

  // An object is mapped once: all kernels of its owner have what was found then. Sentences follow
  // "it".
  const std::vector<Finding>& findings_of(const std::string& owner) const;
  std::vector<Finding> all() const;

 private:
  void add(const std::string& owner, std::vector<Finding> found);

  std::map<std::string, std::vector<Finding>> found_;
};

}  // namespace assay::sweep
