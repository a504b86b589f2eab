#pragma once

// A provider: a source of kernels, exactly one folder under providers/.

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "assay/base/expression.h"
#include "assay/kernel/family.h"
#include "assay/tensor/error_bound.h"

namespace assay {

enum class ProviderRole : uint8_t { stock, ours, user, reference };
std::string_view to_string(ProviderRole role);
Result<ProviderRole> parse_provider_role(std::string_view text);

// Where a provider that says no rank stands: behind all that say one.
inline constexpr int kNoRank = 1000;

// What a user may say of a provider besides the library that it loads: `cublaslt: {space: all}` in
// a config, or --setting cublaslt.space=all.
struct ProviderSetting {
  std::string name;
  std::string values;  // What it takes, the default first: "heuristic|all|all:N".
};

// A variable of the environment that says a setting, where neither flag nor config does.
struct ProviderVariable {
  std::string name;     // "CUTLASS_DIR".
  std::string setting;  // "directory".
  std::string meaning;  // A sentence for the handbook, without its full stop.
};

// From provider.yaml, made C++ at build: what code cannot say.
struct ProviderInfo {
  std::string name;
  ProviderRole role = ProviderRole::user;
  std::string summary;
  std::string licence;
  std::string library;                // Soname pattern sought at run time, may be empty.
  bool on_gpu = false;                // Its kernels run on a GPU, not on this machine's cores.
  int rank = kNoRank;                 // Of a stock provider: whose default is a race's baseline.
  std::vector<std::string> packages;  // What to install on Debian or Ubuntu.
  std::vector<ProviderSetting> settings;
  std::vector<ProviderVariable> environment;
  std::string results_file;   // Its results for other tools; empty: NAME_results.json.
  std::string output_folder;  // Below artifacts/, of a sweep of it alone; empty: the suite's name.
};

// Of the kernels that a provider lists by itself: what no user brought is none of theirs, though
// the provider takes their files (Triton's baseline).
ProviderRole own_role(const ProviderInfo& info);

// What a machine has of a provider.
struct Availability {
  bool available = false;
  std::string reason;   // Why not, and what to install.
  std::string version;  // Of the library, as it says itself.
  std::string path;     // What was really mapped.
  Json details;         // Cores chosen, threading ...
  std::string remark;   // What to know of it, though it is here; one sentence, may be empty.
};

// Settings of one provider, by name ("library" overrides what is looked for; the others are those
// of its ProviderInfo). From flags and config.
using ProviderSettings = std::map<std::string, std::string>;

// Whether a record may hold that setting of a provider, and is obeyed where it does: one that its
// provider.yaml declares, with no FILE, DIR or PATH among its values. Where code lies that will
// run, or be compiled, is the user's alone to say.
bool may_be_recorded(const ProviderInfo& info, std::string_view setting);

// A file of a user's as it was when it was read: once, by the process that the user started.
struct SourceFile {
  std::string bytes;   // Empty in workers for a plug-in, which they map.
  std::string sha256;  // Hex.
};
// What was read for a kernel, by absolute path.
using SourceFiles = std::map<std::string, std::shared_ptr<const SourceFile>>;

// A user's kernel, as a manifest entry or head comment says (input/ reads it). Lines are for
// errors.
struct KernelEntry {
  std::string name;
  std::string provider;          // Empty: chosen by the source's extension.
  std::filesystem::path source;  // Absolute.
  // The source, and what it brings along: headers beside it, modules that it imports. Null for a
  // description that came without files.
  std::shared_ptr<const SourceFiles> files;
  std::string origin;  // "my.cc:1" or "kernel_manifest.yaml:12": prefix of errors.
  std::string entry;   // Function.
  std::shared_ptr<const ProblemRule> rule;
  std::vector<std::string> args;  // Order of pointers, sizes, scalars: a, b, out, m, lda, alpha ...
  struct Tunable {
    std::string name;
    std::vector<Value> values;
  };
  std::vector<Tunable> tunables;
  std::vector<std::pair<std::string, Expression>> constraints;  // Text and parsed.
  std::vector<std::string> flags;                               // Extra compiler flags.
  std::string workspace_text;  // Expression over sizes; empty: none.
  std::vector<std::string> specialised_on;
  std::string prepare_entry, prepare_bytes_text;
  std::vector<std::string> prepare_args;
  // How device code is launched: expressions over sizes and tunables.
  struct Launch {
    std::vector<std::string> grid, block, cluster;  // One to three each; cluster may be empty.
    std::string shared_text;                        // Dynamic shared memory, bytes; empty: none.
    bool dependent = false;                         // Waits for what is ahead of it by itself.
    // Tensor maps, passed as the argument map_ROLE. `box`: extents of one copy, innermost first.
    struct Map {
      std::string role;
      std::vector<std::string> box;
      int64_t swizzle = 0, promotion = 0;  // Bytes; 0: none.
    };
    std::vector<Map> maps;
  };
  std::optional<Launch> launch;
  bool deterministic = true;
  ErrorBound error_bound = ErrorBound::elementwise;
};

// The bytes of the entry's source; providers never read its path. Errors, prefixed by the origin:
// more than `most` bytes (invalid_input), or none were read (not_found).
Result<std::string_view> source_bytes(const KernelEntry& entry, size_t most);

// What `path`, which the entry brings along, holds; null: it is not one of its files.
const SourceFile* find_file(const KernelEntry& entry, const std::filesystem::path& path);

// That the files it brings along are on the disk as they were read: who reads them again by their
// names (a compiler, for headers) is to find the same. ErrorCode::invalid_input.
Status check_brought_files(const KernelEntry& entry);

// Who says how code that a user brings is launched.
enum class LaunchForm : uint8_t {
  itself,    // It launches itself: its entry is called, and the field `launch` has no place.
  grid,      // The field says grids; what compiles it decides on the rest.
  geometry,  // The field says all.
};

class Provider {
 public:
  virtual ~Provider() = default;
  virtual const ProviderInfo& info() const = 0;

  // Whether the values of its own settings are such as it takes; loads nothing.
  // ErrorCode::invalid_input.
  Status check(const ProviderSettings& settings) const { return do_check(settings); }

  // Looks for the library once per call; never loads candidate code of users.
  Availability availability(const ProviderSettings& settings) const {
    return do_availability(settings);
  }

  // The families it offers; a missing library is an Error with the reason (ErrorCode::unsupported).
  Result<std::vector<std::shared_ptr<const Family>>> families(
      const ProviderSettings& settings) const {
    return do_families(settings);
  }

  // File extensions that bring() takes: ".cc".
  virtual std::vector<std::string> extensions() const { return {}; }
  virtual LaunchForm launch_form() const { return LaunchForm::itself; }
  // Refuses an entry with flags that check_flag() refuses.
  Result<std::shared_ptr<const Family>> bring(const KernelEntry& entry,
                                              const ProviderSettings& settings = {}) const;
  // Whether a file may hand that flag to what compiles it (kernel/compiler_flags.h has what such
  // lists have in common); none, unless a provider has a list. ErrorCode::invalid_input.
  virtual Status check_flag(std::string_view flag) const;
  // True: bring() runs what the file holds, so only a process that has given up its rights calls
  // it.
  virtual bool runs_code_to_bring() const { return false; }

 private:
  virtual Status do_check(const ProviderSettings&) const { return {}; }
  virtual Availability do_availability(const ProviderSettings& settings) const = 0;
  virtual Result<std::vector<std::shared_ptr<const Family>>> do_families(
      const ProviderSettings& settings) const = 0;
  virtual Result<std::shared_ptr<const Family>> do_bring(const KernelEntry& entry,
                                                         const ProviderSettings& settings) const;
};

// Generated from the folders under providers/ (target assay::providers).
std::vector<std::unique_ptr<Provider>> built_in_providers();

}  // namespace assay
