#include "compile.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <iterator>
#include <unistd.h>

#include "assay/base/clock.h"
#include "assay/base/compiler.h"
#include "assay/base/file.h"
#include "assay/base/hash.h"
#include "assay/base/json.h"
#include "assay/base/subprocess.h"
#include "assay/base/text.h"
#include "assay/device/cpu/cpu_device.h"
#include "assay/input/source_files.h"
#include "shim.h"

namespace assay::cpp_source {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPath = "/usr/local/bin:/usr/bin:/bin";
constexpr std::string_view kShimOfCpp = "assay_shim.cc";
constexpr std::string_view kShimOfC = "assay_shim.c";
constexpr std::string_view kObjectFile = "kernel.o";
constexpr std::string_view kLibraryFile = "kernel.so";

// GCC's names of features where they are not Linux's with -m in front.
struct FlagName {
  std::string_view feature, flag;
};
constexpr FlagName kFlagNames[] = {{"avx512_bf16", "avx512bf16"},
                                   {"avx512_vnni", "avx512vnni"},
                                   {"avx512_fp16", "avx512fp16"},
                                   {"avx512_vbmi2", "avx512vbmi2"},
                                   {"avx512_bitalg", "avx512bitalg"},
                                   {"avx_vnni", "avxvnni"},
                                   {"avx512_vpopcntdq", "avx512vpopcntdq"},
                                   {"amx_tile", "amx-tile"},
                                   {"amx_bf16", "amx-bf16"},
                                   {"amx_int8", "amx-int8"},
                                   {"sse4_1", "sse4.1"},
                                   {"sse4_2", "sse4.2"},
                                   {"bmi1", "bmi"}};
// Those that GCC has a flag of the same name for, among what code is likely to ask.
constexpr std::string_view kSameNames[] = {
    "sse2",    "ssse3",    "avx",      "avx2",     "fma",      "f16c",       "bmi2",      "popcnt",
    "avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl", "avx512ifma", "avx512vbmi"};

// Flags that make GCC's linker add start-up code which lets the whole process round subnormal
// numbers to zero as soon as the object is loaded: other kernels' results would change.
bool for_compiling_alone(const std::string& flag) {
  return flag == "-ffast-math" || flag == "-Ofast" || flag == "-funsafe-math-optimizations";
}

std::string_view shim_file(const KernelEntry& entry) { return is_c(entry) ? kShimOfC : kShimOfCpp; }

// First the sentence that a static_assert of the shim has for it, if one failed.
std::string explain(const KernelEntry& entry, const CommandOutput& output) {
  const std::string_view text = output.err.empty() ? output.out : output.err;
  constexpr std::string_view kMarker = "static assertion failed: assay: ";
  if (const size_t at = text.find(kMarker); at != std::string_view::npos) {
    std::string_view sentence = text.substr(at + kMarker.size());
    return fmt::format("{}: {}", entry.origin, sanitize(sentence.substr(0, sentence.find('\n'))));
  }
  // The shim names the entry point and nothing else of the user's.
  const std::string_view shim = shim_file(entry);
  if (const size_t at = text.find(fmt::format("{}:", shim)); at != std::string_view::npos) {
    std::string_view line = text.substr(at, text.find("error:", at) - at);
    line = text.substr(at, text.find('\n', at + line.size()) - at);
    if (line.find("arguments to function") != std::string_view::npos)
      return fmt::format(
          "{}: args and the function differ in the number of parameters: args "
          "lists {}",
          entry.origin, entry.args.size());
    for (const std::string& name : {entry.entry, entry.prepare_entry})
      if (!name.empty() && line.find("error:") != std::string_view::npos &&
          line.find(fmt::format("'{}'", name)) != std::string_view::npos)
        return fmt::format("{}: {} defines no function '{}'", entry.origin,
                           entry.source.filename().string(), sanitize(name, 80));
  }
  // Where our own lines are named, they say nothing to a user.
  return fmt::format("{}: the compiler {}:{}", entry.origin, output.status.describe(),
                     first_lines(text, fmt::format("In file included from {}", shim)));
}

// In the words of GCC, Clang and the C++ library.
bool ran_out_of_memory(const CommandOutput& output) {
  constexpr std::string_view kWords[] = {"out of memory allocating", "virtual memory exhausted",
                                         "LLVM ERROR: out of memory", "std::bad_alloc",
                                         "memory exhausted"};
  return std::any_of(std::begin(kWords), std::end(kWords), [&](std::string_view words) {
    return output.err.find(words) != std::string::npos;
  });
}

class Compiler {
 public:
  Compiler(const Build& build, std::string program) : build_(build), program_(std::move(program)) {}

  std::vector<std::string> compile_flags() const {
    std::vector<std::string> flags =
        default_flags(build_.target, is_c(build_.entry) ? kStandardOfC : kStandardOfCpp);
    flags.insert(flags.end(),
                 {"-fPIC", "-fvisibility=hidden", "-fdiagnostics-color=never", "-fmax-errors=5"});
    // What C only warns of would be a call that crashes, and -w would silence that too.
    if (is_c(build_.entry))
      flags.insert(flags.end(),
                   {"-Werror=implicit-function-declaration", "-Werror=int-conversion"});
    else
      flags.emplace_back("-w");
    for (const std::string& macro : build_.macros) flags.push_back("-D" + macro);
    flags.insert(flags.end(), build_.entry.flags.begin(), build_.entry.flags.end());
    return flags;
  }

  std::vector<std::string> link_flags() const {
    std::vector<std::string> flags = {"-shared", "-fPIC"};
    for (std::string& flag : flags_for_linking(build_.entry.flags))
      flags.push_back(std::move(flag));
    return flags;
  }

  // Its output, if it was done in time and well.
  Result<std::string> run(std::vector<std::string> arguments, const std::string& folder,
                          std::string_view input = {}) const {
    SubprocessOptions options;
    options.argv = {program_};
    options.argv.insert(options.argv.end(), std::make_move_iterator(arguments.begin()),
                        std::make_move_iterator(arguments.end()));
    options.env = {"PATH=" + std::string(kPath), "LC_ALL=C"};
    if (!folder.empty()) {
      options.env.push_back("TMPDIR=" + folder);
      options.working_directory = folder;
    }
    CommandLimits limits;
    limits.timeout_ns = static_cast<int64_t>(build_.context.timeout_seconds * 1e9);
    options.address_space_bytes =
        static_cast<std::uint64_t>(std::max<int64_t>(build_.context.memory_bytes, 0));
    limits.max_output = size_t{64} << 20;  // A preprocessed text is an output, too.
    limits.input = input;
    limits.cancel_fd = build_.context.cancel_fd;
    ASSAY_TRY(CommandOutput output, run_command(options, limits));
    if (output.timed_out)
      return fail(ErrorCode::build_failed,
                  "{}: the compiler was stopped after {} (--compile-timeout)", build_.entry.origin,
                  format_duration(build_.context.timeout_seconds));
    if (!output.status.success() && options.address_space_bytes > 0 && ran_out_of_memory(output))
      return fail(ErrorCode::build_failed,
                  "{}: the compiler needs more than the {} MiB of memory that it may take "
                  "(--memory-limit)",
                  build_.entry.origin, options.address_space_bytes >> 20);
    if (!output.status.success())
      return fail(ErrorCode::build_failed, "{}", explain(build_.entry, output));
    return std::move(output.out);
  }

  const std::string& program() const { return program_; }
  const std::string& origin() const { return build_.entry.origin; }

 private:
  const Build& build_;
  std::string program_;
};

Result<ArtifactCache::Built> build_in(const fs::path& folder, const Compiler& compiler,
                                      const std::string& shim_name, const std::string& shim) {
  const std::string file = (folder / shim_name).string();
  ASSAY_TRY(write_file_atomic(file, shim));
  std::vector<std::string> compile = compiler.compile_flags();
  std::vector<std::string> link = compiler.link_flags();
  Json flags = {{"compile", compile}, {"link", link}};
  // Relative names: the folder is a temporary one, and the bytes should not depend on it.
  // The compiler is one of C++: it takes a file for what it is told.
  if (shim_name == kShimOfC) compile.insert(compile.end(), {"-x", "c"});
  compile.insert(compile.end(), {"-c", shim_name, "-o", std::string(kObjectFile)});
  ASSAY_TRY(compiler.run(compile, folder.string()));
  // The object stands before the flags, which may name libraries.
  link.insert(link.begin(), {std::string(kObjectFile), "-o", std::string(kLibraryFile)});
  ASSAY_TRY(compiler.run(link, folder.string()));
  std::error_code ignored;
  if (!fs::is_regular_file(folder / kLibraryFile, ignored))
    return fail(ErrorCode::build_failed,
                "{}: the compiler {} ended well and left no shared object; is it a C++ compiler?",
                compiler.origin(), compiler.program());
  fs::remove(folder / kObjectFile, ignored);
  ASSAY_TRY(const std::string version, compiler.run({"--version"}, ""));
  return ArtifactCache::Built{
      .file_name = std::string(kLibraryFile),
      .facts = {{"compiler", compiler.program()},
                {"compiler_version", sanitize(version.substr(0, version.find('\n')), 200)},
                {"flags", std::move(flags)}}};
}

}  // namespace

std::vector<std::string> default_flags(const Target& target, const std::string& standard) {
  std::vector<std::string> flags = {standard, "-O3"};
  if (target == cpu::host_target()) {
    flags.emplace_back("-march=native");
    return flags;
  }
  if (target.arch != "x86_64") return flags;
  for (const std::string& feature : target.features) {
    for (const FlagName& name : kFlagNames)
      if (name.feature == feature) flags.push_back(fmt::format("-m{}", name.flag));
    for (const std::string_view name : kSameNames)
      if (name == feature) flags.push_back(fmt::format("-m{}", name));
  }
  return flags;
}

std::vector<std::string> flags_for_linking(const std::vector<std::string>& flags) {
  std::vector<std::string> taken;
  std::copy_if(flags.begin(), flags.end(), std::back_inserter(taken),
               [](const std::string& flag) { return !for_compiling_alone(flag); });
  return taken;
}

Result<std::string> find_compiler(const std::string& cxx) {
  std::vector<std::string> tried;
  if (cxx.find('/') != std::string::npos) {
    tried.push_back(cxx);
  } else {
    for (const std::string_view folder : split(kPath, ':'))
      tried.push_back(fmt::format("{}/{}", folder, cxx));
  }
  for (const std::string& path : tried) {
    std::error_code failed;
    if (!cxx.empty() && ::access(path.c_str(), X_OK) == 0 && fs::is_regular_file(path, failed))
      return fs::canonical(path, failed).string();
  }
  return fail(ErrorCode::unsupported, "there is no C++ compiler '{}'; install g++ or name another",
              sanitize(cxx, 200));
}

Result<Artifact> compile(const Build& build) {
  if (build.context.cache == nullptr)
    return fail(ErrorCode::internal, "a source is compiled into a cache, and none was given");
  ASSAY_TRY(std::string program, find_compiler(build.context.cxx));
  ASSAY_TRY(Json compiler_identity, file_identity(program));
  compiler_identity["path"] = program;
  const Compiler compiler(build, std::move(program));
  ASSAY_TRY(const std::string shim, shim_text(build.entry));
  ASSAY_TRY(const input::LocalFiles files,
            input::find_local_files(build.entry.source, build.entry.flags));
  Json key = {{"provider", "cpp_source"},
              {"files", files.sha256},
              {"shim", shim},
              {"compile", compiler.compile_flags()},
              {"link", compiler.link_flags()},
              {"compiler", std::move(compiler_identity)},
              {"target", build.target.to_string()}};
  if (files.needs_preprocessor) {
    std::vector<std::string> arguments = compiler.compile_flags();
    arguments.insert(arguments.end(), {"-E", "-P", "-x", is_c(build.entry) ? "c" : "c++", "-"});
    ASSAY_TRY(const std::string text, compiler.run(arguments, "", shim));
    key["preprocessed"] = sha256_hex(text);
  }
  return build.context.cache->get_or_build(key, [&](const fs::path& folder) {
    return build_in(folder, compiler, std::string(shim_file(build.entry)), shim);
  });
}

}  // namespace assay::cpp_source
