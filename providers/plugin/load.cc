#include "load.h"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <map>
#include <mutex>
#include <set>
#include <sstream>
#include <sys/mman.h>
#include <sys/stat.h>

#include "assay/base/choices.h"
#include "assay/base/fd.h"
#include "assay/base/file.h"
#include "assay/base/text.h"
#include "assay/base/version.h"
#include "assay/input/manifest.h"

namespace assay::plugin {
namespace {

constexpr size_t kMostMetadataBytes = size_t{1} << 20;
constexpr size_t kMostNameBytes = 4096;
constexpr uint32_t kMostKernels = 4096;
constexpr int kNewestVersionLookedFor = 99;

using Entry = int(const AssayHost* host, AssayPlugin* plugin);

// The plug-in's struct at the head of more memory than we know: one that writes the fields of a
// newer header does no harm.
union Descriptor {
  AssayPlugin plugin;
  std::byte room[4096];
};

int64_t written_ns(const struct stat& facts) {
  return facts.st_mtim.tv_sec * int64_t{1'000'000'000} + facts.st_mtim.tv_nsec;
}

// Device and inode of the file that is mapped at an address, as /proc/self/maps has them; empty if
// none is.
std::string mapped_file_at(const void* address) {
  const auto at = reinterpret_cast<uintptr_t>(address);
  const auto maps = read_file("/proc/self/maps", size_t{64} << 20);
  if (!maps) return {};
  std::istringstream lines(*maps);
  for (std::string line; std::getline(lines, line);) {
    uintptr_t first = 0, end = 0;
    char permissions[8], device[32];
    unsigned long offset = 0, inode = 0;
    if (std::sscanf(line.c_str(), "%lx-%lx %7s %lx %31s %lu", &first, &end, permissions, &offset,
                    device, &inode) == 6 &&
        first <= at && at < end)
      return inode == 0 ? std::string() : fmt::format("{} {}", device, inode);
  }
  return {};
}

class Loader {
 public:
  explicit Loader(const KernelEntry& entry) : entry_(entry) {}

  Result<std::shared_ptr<const Loaded>> load() {
    ASSAY_TRY(const DynamicLibrary library, open());
    ASSAY_TRY(Entry* const function, find_entry(library));
    Descriptor descriptor;
    std::memset(&descriptor, 0, sizeof descriptor);
    ASSAY_TRY(call(function, descriptor.plugin));
    const AssayPlugin& plugin = descriptor.plugin;
    ASSAY_TRY(check_sizes(plugin));
    ASSAY_TRY(loaded_.name, text(plugin.name, kMostNameBytes, "name"));
    if (!matches_name_rule(loaded_.name))
      return wrong("'{}' cannot be a plug-in's name; use letters, digits, '_', '.' and '-'",
                   sanitize(loaded_.name, 60));
    if (plugin.version != nullptr) {
      ASSAY_TRY(const std::string version, text(plugin.version, kMostNameBytes, "version"));
      loaded_.version = sanitize(version, 60);
    }
    for (uint32_t i = 0; i < plugin.kernel_count; ++i) ASSAY_TRY(add_kernel(plugin.kernels[i], i));
    ASSAY_TRY(check_names());
    return std::make_shared<const Loaded>(std::move(loaded_));
  }

 private:
  template <class... Args>
  tl::unexpected<Error> wrong(fmt::format_string<Args...> sentence, Args&&... args) const {
    return fail(ErrorCode::invalid_input, "{}: {}", sanitize(entry_.origin, 300),
                fmt::format(sentence, std::forward<Args>(args)...));
  }

  // The loader maps a path once in a process, whatever stands there later: the hash must be of what
  // was mapped, and of what was read when the run began. It is taken of an open file, which the
  // path must name when the loader is done. The path is what it is mapped by: libraries that lie
  // beside a plug-in are found from there.
  Result<DynamicLibrary> open() {
    static std::mutex mutex;
    static std::map<std::string, std::string> mapped;
    const std::string path = entry_.source.string();
    const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file) return wrong("cannot open '{}': {}", sanitize(path, 300), errno_text(errno));
    const std::string opened = fmt::format("/proc/self/fd/{}", file.get());
    const auto hash = sha256_of_file(opened);
    if (!hash) return wrong("{}", hash.error().message);
    if (const SourceFile* const read = find_file(entry_, path);
        read != nullptr && read->sha256 != *hash)
      return wrong("the file has changed since it was read; start anew");
    const std::lock_guard hold(mutex);
    auto library = DynamicLibrary::open(path, {.deep_bind = false});
    if (!library) return wrong("{}", library.error().message);
    const auto [at, first] = mapped.emplace(path, *hash);
    struct stat facts {};
    if (at->second != *hash || !is_named_by(path, file.get()) ||
        !is_mapped_from(*library, file.get()) || ::fstat(file.get(), &facts) != 0 ||
        sha256_of_file(opened).value_or("") != *hash)
      return wrong("the file has changed since {}; start anew",
                   first ? "it was looked at" : "this process loaded it");
    loaded_.sha256 = *hash;
    loaded_.file = {path, facts.st_dev, facts.st_ino, written_ns(facts)};
    return std::move(*library);
  }

  // Whether the loader mapped that open file: a path may have named another one just while it
  // looked. By what maps say of both, since stat says something else on some file systems. Of a
  // library without an entry point, which is not called, nothing is asked.
  static bool is_mapped_from(const DynamicLibrary& library, int file) {
    const auto entry = library.symbol("assay_plugin_v1");
    if (!entry) return true;
    constexpr size_t kSome = 4096;
    void* const page = ::mmap(nullptr, kSome, PROT_READ, MAP_PRIVATE, file, 0);
    if (page == MAP_FAILED) return false;
    const std::string there = mapped_file_at(*entry), wanted = mapped_file_at(page);
    ::munmap(page, kSome);
    return !wanted.empty() && there == wanted;
  }

  static bool is_named_by(const std::string& path, int file) {
    struct stat named {
    }, opened{};
    return ::stat(path.c_str(), &named) == 0 && ::fstat(file, &opened) == 0 &&
           named.st_dev == opened.st_dev && named.st_ino == opened.st_ino;
  }

  Result<Entry*> find_entry(const DynamicLibrary& library) const {
    Entry* function = nullptr;
    if (library.load("assay_plugin_v1", function)) return function;
    for (int version = 2; version <= kNewestVersionLookedFor; ++version)
      if (library.symbol(fmt::format("assay_plugin_v{}", version)))
        return wrong(
            "speaks version {} of the plug-in ABI, and this assay speaks version {}; build it "
            "with this assay's plugin_abi.h",
            version, ASSAY_PLUGIN_ABI_VERSION);
    return wrong(
        "has no function assay_plugin_v1: it is no plug-in of assay, or its entry point is hidden "
        "or not extern \"C\"");
  }

  Status call(Entry* function, AssayPlugin& plugin) const {
    std::string sentence;
    AssayHost host{};
    host.struct_bytes = sizeof host;
    host.abi_version = ASSAY_PLUGIN_ABI_VERSION;
    const std::string version(build_info().version);
    host.assay_version = version.c_str();
    host.host = &sentence;
    host.fail = [](const AssayHost* self, const char* why) {
      if (self != nullptr && self->host != nullptr && why != nullptr)
        *static_cast<std::string*>(self->host) = sanitize({why, strnlen(why, kMostNameBytes)});
    };
    plugin.struct_bytes = sizeof plugin;
    int code = 0;
    try {
      code = function(&host, &plugin);
    } catch (...) {
      return wrong("assay_plugin_v1 threw an exception, which must not cross a C function");
    }
    if (code == 0) return {};
    return wrong("assay_plugin_v1 returned {}{}{}", code, sentence.empty() ? "" : ": ", sentence);
  }

  Status check_sizes(const AssayPlugin& plugin) const {
    if (plugin.abi_version != ASSAY_PLUGIN_ABI_VERSION)
      return wrong(
          "says that it was written for version {} of the plug-in ABI, and this assay speaks "
          "version {}; set abi_version to ASSAY_PLUGIN_ABI_VERSION",
          plugin.abi_version, ASSAY_PLUGIN_ABI_VERSION);
    if (plugin.struct_bytes < sizeof plugin)
      return wrong(
          "its AssayPlugin has {} bytes, and that of version {} has {}; set struct_bytes "
          "to sizeof",
          plugin.struct_bytes, ASSAY_PLUGIN_ABI_VERSION, sizeof plugin);
    if (plugin.kernel_count == 0) return wrong("offers no kernel: kernel_count is 0");
    if (plugin.kernel_count > kMostKernels)
      return wrong("says that it has {} kernels; at most {} are taken", plugin.kernel_count,
                   kMostKernels);
    if (plugin.kernels == nullptr)
      return wrong("says that it has {} kernels, and kernels is null", plugin.kernel_count);
    return {};
  }

  Result<std::string> text(const char* given, size_t most, std::string_view what) const {
    if (given == nullptr) return wrong("{} is null", what);
    const size_t size = strnlen(given, most);
    if (size == most) return wrong("{} has no end within {} bytes", what, most);
    return std::string(given, size);
  }

  Status add_kernel(const AssayKernel* given, uint32_t index) {
    const std::string which = fmt::format("kernels[{}]", index);
    if (given == nullptr) return wrong("{} is null", which);
    if (given->struct_bytes < sizeof *given)
      return wrong(
          "{}: its AssayKernel has {} bytes, and that of version {} has {}; set "
          "struct_bytes to sizeof",
          which, given->struct_bytes, ASSAY_PLUGIN_ABI_VERSION, sizeof *given);
    LoadedKernel kernel;
    std::memcpy(&kernel.hooks, given, sizeof kernel.hooks);
    ASSAY_TRY(const std::string json,
              text(given->metadata, kMostMetadataBytes, which + ".metadata"));
    const std::string origin = fmt::format("{}: {}.metadata", sanitize(entry_.origin, 300), which);
    ASSAY_TRY(kernel.entries, input::parse_plugin_kernel(json, entry_.source, origin));
    kernel.name = kernel.entries.front().entry;
    if (given->bind == nullptr) return wrong("{} ({}): bind is null", which, kernel.name);
    const bool described = !kernel.entries.front().prepare_entry.empty();
    if (described != (given->prepare != nullptr))
      return wrong("{} ({}): {}", which, kernel.name,
                   described ? "its metadata has prepare, and the hook is null"
                             : "it has a hook prepare, and its metadata does not say what of");
    for (const auto& tunable : kernel.entries.front().tunables)
      if (tunable.name == "kernel")
        return wrong("{} ({}): a tunable cannot be called 'kernel': rows are told apart by it",
                     which, kernel.name);
    loaded_.kernels.push_back(std::move(kernel));
    return {};
  }

  // Names tell kernels apart, and entry_.entry picks one.
  Status check_names() {
    std::vector<std::string> names;
    std::set<std::string> taken;
    for (const LoadedKernel& kernel : loaded_.kernels) {
      names.push_back(kernel.name);
      for (const KernelEntry& entry : kernel.entries)
        if (!taken.insert(entry.name).second)
          return wrong("two kernels are called '{}'", entry.name);
    }
    if (entry_.entry.empty()) return {};
    std::erase_if(loaded_.kernels,
                  [&](const LoadedKernel& kernel) { return kernel.name != entry_.entry; });
    if (!loaded_.kernels.empty()) return {};
    return wrong("there is no kernel '{}'{}", sanitize(entry_.entry, 60),
                 did_you_mean(entry_.entry, names, "there are " + join(names, ", ")));
  }

  const KernelEntry& entry_;
  Loaded loaded_;
};

}  // namespace

Result<std::shared_ptr<const Loaded>> load(const KernelEntry& entry) {
  return Loader(entry).load();
}

bool is_as_it_was(const Loaded& loaded) {
  const Loaded::File& file = loaded.file;
  struct stat now {};
  if (::stat(file.path.c_str(), &now) != 0 || now.st_dev != file.device ||
      now.st_ino != file.inode || written_ns(now) == file.written_ns)
    return true;
  return sha256_of_file(file.path).value_or("") == loaded.sha256;
}

}  // namespace assay::plugin
