#pragma once

// Compiled kernels that are there already: in the cache, and in a pool that was made elsewhere.
// Both are caches of artifacts, with the names of what a compiler has left there beside them:
//
//   ROOT/cutlass/HASH/toolchain.json      the compiler and the headers
//   ROOT/cutlass/HASH/NAME                for each configuration: empty
//
// so that no artifact has to be opened to know which there are, and a machine without a compiler
// finds those of another's.

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "assay/device/target.h"
#include "assay/kernel/artifact.h"
#include "configuration.h"
#include "toolchain.h"

namespace assay::cutlass {

// What nvcc is told besides the headers' folder. code: as code_for() says.
std::vector<std::string> compile_flags(std::string_view code = "sm_90a");

// Everything that an artifact's bytes depend on.
Result<Json> key_of(const Configuration& configuration, const Target& target, const Json& identity);

class Shelf {
 public:
  // code: as code_for() says; kernels of each lie on a shelf of their own.
  Shelf(std::filesystem::path root, Json identity, std::string code);

  // Those below a root, of whatever compiler, whose sources are those of this program.
  static std::vector<Shelf> all_of(const std::filesystem::path& root, const std::string& code);

  const std::filesystem::path& root() const { return root_; }
  const Json& identity() const { return identity_; }
  const std::string& code() const { return code_; }
  bool has(const std::string& name) const { return names_.contains(name); }
  bool empty() const { return names_.empty(); }
  size_t size() const { return names_.size(); }

  // Says that an artifact of that name is there; what cannot be written is compiled once more.
  void note(const std::string& name) const;
  void read();  // What is there now.

 private:
  std::filesystem::path folder() const;

  std::filesystem::path root_;
  Json identity_;
  std::string code_;
  std::set<std::string, std::less<>> names_;
};

}  // namespace assay::cutlass
