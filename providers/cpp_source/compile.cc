#include "compile.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <functional>
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
#include "assay/kernel/traced_artifacts.h"
#include "shim.h"

namespace assay::cpp_source {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPath = "/usr/local/bin:/usr/bin:/bin";
constexpr std::string_view kObjectFile = "kernel.o";
constexpr std::string_view kLibraryFile = "kernel.so";
constexpr std::string_view kIncludesFile = "includes.d";    // What the compiler read.
constexpr std::string_view kAssemblerFile = "assembler.d";  // The assembler: .incbin.

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

bool is_macro(const std::string& flag) { return flag.starts_with("-D") || flag.starts_with("-U"); }

// In the words of GCC and Clang, of a name that stands for several functions or for none yet.
bool is_overloaded(std::string_view line) {
  return line.find("overloaded function") != std::string_view::npos ||
         line.find("cannot resolve address") != std::string_view::npos;
}

// "; did you mean 'mine::tiled'?", if the compiler knows a name near to the last part of `entry`
// that is the user's; else empty.
std::string suggested(std::string_view line, std::string_view entry) {
  constexpr std::string_view kAsks = "did you mean '", kOurs = "assay_";
  const size_t at = line.find(kAsks);
  if (at == std::string_view::npos) return {};
  const std::string_view name =
      line.substr(at + kAsks.size(), line.find('\'', at + kAsks.size()) - (at + kAsks.size()));
  const size_t colons = entry.rfind("::");
  const size_t last = colons == std::string_view::npos ? 0 : colons + 2;
  const bool is_of_last = line.find(fmt::format("'{}'", entry.substr(last))) < at;
  if (name.empty() || name.starts_with(kOurs) || !is_of_last) return {};
  return fmt::format("; did you mean '{}{}'?", sanitize(entry.substr(0, last), 80),
                     sanitize(name, 80));
}

// First the sentence that a static_assert of the shim has for it, if one failed.
std::string explain(const KernelEntry& entry, const CommandOutput& output) {
  const std::string_view text = output.err.empty() ? output.out : output.err;
  for (const std::string_view marker :
       {"static assertion failed: assay: ", "error: assay: ", "static_assert failed \"assay: "}) {
    const size_t at = text.find(marker);
    if (at == std::string_view::npos) continue;
    const std::string_view rest = text.substr(at + marker.size());
    return fmt::format("{}: {}", entry.origin,
                       sanitize(rest.substr(0, rest.find_first_of("\n\""))));
  }
  const std::string_view shim = shim_file(entry);
  // The shim's own lines name the entry points and nothing else of the user's. Where the user's
  // file is wrong itself, they say only what comes of that.
  for (const std::string_view line : split(text, '\n')) {
    if (line.find("error:") == std::string_view::npos) continue;
    if (!line.starts_with(shim)) break;
    if (line.find("arguments to function") != std::string_view::npos)
      return fmt::format(
          "{}: args and the function differ in the number of parameters: args lists {}",
          entry.origin, entry.args.size());
    if (is_overloaded(line))
      return fmt::format(
          "{}: the function of entry is overloaded, or a template, and nothing says which is "
          "meant; name a function of its own that calls it",
          entry.origin);
    if (line.find("assay_shim_function_") != std::string_view::npos &&
        line.find("declared") != std::string_view::npos)
      return fmt::format(
          "{}: what entry names is no function; name one that takes as many values as args lists",
          entry.origin);
    // A compiler names the part that is missing: "'gemm' is not a member of 'mine'".
    for (const std::string& name : {entry.entry, entry.prepare_entry})
      if (!name.empty() && std::ranges::any_of(split(name, ':'), [&](std::string_view part) {
            return !part.empty() && line.find(fmt::format("'{}'", part)) != std::string_view::npos;
          }))
        return fmt::format("{}: {} defines no function '{}'{}", entry.origin,
                           entry.source.filename().string(), sanitize(name, 80),
                           suggested(line, name));
  }
  // Where our own lines are named, they say nothing to a user.
  const std::string lines = first_lines(text, fmt::format("In file included from {}", shim));
  const std::string error = first_error(text, shim);
  return error.empty()
             ? fmt::format("{}: the compiler {}:{}", entry.origin, output.status.describe(), lines)
             : fmt::format("{}:{}", error, lines);
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
    std::ranges::copy_if(build_.entry.flags, std::back_inserter(flags), std::not_fn(is_macro));
    return flags;
  }

  // The text is compiled elsewhere, and what it includes lies beside the user's file. No fact of
  // the artifact: where a file lies does not make it another one.
  std::vector<std::string> flags_here() const {
    std::vector<std::string> flags = {"-iquote", build_.entry.source.parent_path().string()};
    std::ranges::copy(compile_flags(), std::back_inserter(flags));
    return flags;
  }

  // Those flags that stand in the text instead.
  std::vector<std::string> macros() const {
    std::vector<std::string> flags;
    for (const std::string& macro : build_.macros) flags.push_back("-D" + macro);
    std::ranges::copy_if(build_.entry.flags, std::back_inserter(flags), is_macro);
    return flags;
  }

  std::vector<std::string> link_flags() const {
    std::vector<std::string> flags = {"-shared", "-fPIC"};
    for (std::string& flag : flags_for_linking(build_.entry.flags))
      if (!is_macro(flag)) flags.push_back(std::move(flag));
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
    // Of a text on stdin, a compiler looks for what it includes in its own folder.
    options.working_directory = folder.empty() ? "/" : folder;
    if (!folder.empty()) options.env.push_back("TMPDIR=" + folder);
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

  // SHA-256 of the preprocessed text: what the compiler sees, whichever files there are.
  Result<std::string> text_hash(const std::string& shim) const {
    std::vector<std::string> arguments = flags_here();
    arguments.insert(arguments.end(), {"-E", "-P", "-x", is_c(build_.entry) ? "c" : "c++", "-"});
    ASSAY_TRY(const std::string text, run(std::move(arguments), "", shim));
    return sha256_hex(text);
  }

  // What the user wrote.
  std::string_view users_text() const {
    const SourceFile* const file = find_file(build_.entry, build_.entry.source);
    return file == nullptr ? std::string_view() : file->bytes;
  }

  const std::string& program() const { return program_; }
  const std::string& origin() const { return build_.entry.origin; }

 private:
  const Build& build_;
  std::string program_;
};

std::vector<std::string> folders_of(const std::vector<std::string>& flags) {
  std::vector<std::string> folders;
  for (size_t i = 0; i < flags.size(); ++i) {
    for (const std::string_view flag : {"-iquote", "-isystem", "-idirafter", "-I", "-L"}) {
      if (!flags[i].starts_with(flag)) continue;
      std::string folder = flags[i].substr(flag.size());
      if (folder.empty() && i + 1 < flags.size()) folder = flags[++i];
      folders.push_back(std::move(folder));
      break;
    }
  }
  return folders;
}

// Their packages replace them as a whole, and what they ask of each other stays as it is.
bool is_of_system(const std::string& file) {
  return file.starts_with("/usr/include/") || file.starts_with("/usr/lib/");
}

// Whether the word stands in a text, on one line or continued on the next.
bool says(std::string_view text, std::string_view word) {
  std::string joined;
  joined.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    size_t after = i + 1;
    if (after < text.size() && text[after] == '\r') ++after;
    if (text[i] == '\\' && after < text.size() && text[after] == '\n')
      i = after;
    else
      joined += text[i];
  }
  return joined.find(word) != std::string::npos;
}

// What stands in a build's own folder goes with it.
class InputsReader {
 public:
  InputsReader(const fs::path& folder, const Compiler& compiler,
               const std::vector<std::string>& flags)
      : folder_(folder), compiler_(compiler), flags_(flags) {}

  Result<BuildInputs> read(bool assembler_tells, const std::string& trace,
                           const std::string& shim) {
    for (const std::string& flag_folder : folders_of(flags_)) inputs_.folders.insert(flag_folder);
    ASSAY_TRY(const std::string includes, read_file((folder_ / kIncludesFile).string()));
    for (const std::string& file : files_of_rules(includes)) add(file);
    const auto assembled = read_file((folder_ / kAssemblerFile).string());
    if (assembled)
      for (const std::string& file : files_of_rules(*assembled)) add(file);
    for (const std::string& file : files_of_trace(trace)) add(file);
    const bool assembler_told = assembled && assembler_tells;
    look_at(compiler_.users_text(), assembler_told);
    for (const std::string& file : inputs_.files) {
      if (is_of_system(file)) continue;
      const auto text = read_file(file);
      if (text) look_at(*text, assembler_told);  // Else gone: whoever takes the inputs says so.
    }
    if (asks_) {
      ASSAY_TRY(inputs_.preprocessed, compiler_.text_hash(shim));
    }
    return std::move(inputs_);
  }

 private:
  void look_at(std::string_view text, bool assembler_told) {
    asks_ = asks_ || says(text, "__has_include") || says(text, "__has_embed");
    inputs_.incomplete =
        inputs_.incomplete || (!assembler_told && says(text, "asm")) || says(text, "#embed");
  }
  void add(const std::string& name) {
    const fs::path path = (folder_ / name).lexically_normal();
    if (path.native().starts_with(folder_.native() + "/")) return;
    inputs_.files.insert(path.string());
    if (!is_of_system(path.string()) && !is_library(path))
      inputs_.folders.insert(path.parent_path().string());
  }
  static bool is_library(const fs::path& path) {
    return path.extension() == ".a" || path.extension() == ".o" ||
           path.filename().string().find(".so") != std::string::npos;
  }

  const fs::path folder_;
  const Compiler& compiler_;
  const std::vector<std::string>& flags_;
  BuildInputs inputs_;
  bool asks_ = false;  // Which files there are.
};

Result<TracedBuilt> build_in(const fs::path& folder, const Compiler& compiler,
                             const std::string& shim_name, const std::string& shim) {
  const std::string file = (folder / shim_name).string();
  ASSAY_TRY(write_file_atomic(file, shim));
  ASSAY_TRY(const std::string version, compiler.run({"--version"}, ""));
  std::vector<std::string> compile = compiler.flags_here();
  std::vector<std::string> link = compiler.link_flags();
  const std::vector<std::string> all = compile;
  Json flags = {
      {"compile", compiler.compile_flags()}, {"macros", compiler.macros()}, {"link", link}};
  // Clang assembles by itself, and link-time optimisation later: neither tells what was read.
  const bool assembler_tells =
      version.find("Free Software Foundation") != std::string::npos &&
      std::ranges::none_of(all, [](const std::string& flag) { return flag.starts_with("-flto"); });
  // Relative names: the folder is a temporary one, and the bytes should not depend on it.
  // The compiler is one of C++: it takes a file for what it is told.
  if (shim_name == kShimOfC) compile.insert(compile.end(), {"-x", "c"});
  compile.insert(compile.end(), {"-c", shim_name, "-o", std::string(kObjectFile), "-MD", "-MF",
                                 std::string(kIncludesFile)});
  if (assembler_tells) compile.push_back(fmt::format("-Wa,--MD,{}", kAssemblerFile));
  ASSAY_TRY(compiler.run(compile, folder.string()));
  // The object stands before the flags, which may name libraries.
  link.insert(link.begin(), {std::string(kObjectFile), "-o", std::string(kLibraryFile)});
  link.emplace_back("-Wl,--trace");
  ASSAY_TRY(const std::string trace, compiler.run(link, folder.string()));
  std::error_code ignored;
  if (!fs::is_regular_file(folder / kLibraryFile, ignored))
    return fail(ErrorCode::build_failed,
                "{}: the compiler {} ended well and left no shared object; is it a C++ compiler?",
                compiler.origin(), compiler.program());
  ASSAY_TRY(BuildInputs inputs,
            InputsReader(folder, compiler, all).read(assembler_tells, trace, shim));
  for (const std::string_view left : {kObjectFile, kIncludesFile, kAssemblerFile})
    fs::remove(folder / left, ignored);
  ArtifactCache::Built built{
      .file_name = std::string(kLibraryFile),
      .facts = {{"compiler", compiler.program()},
                {"compiler_version", sanitize(version.substr(0, version.find('\n')), 200)},
                {"flags", std::move(flags)}}};
  return TracedBuilt{std::move(built), std::move(inputs)};
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
  ASSAY_TRY(const std::string shim, shim_text(build.entry, compiler.macros()));
  const Json key = {{"provider", "cpp_source"},
                    {"shim", sha256_hex(shim)},
                    {"compile", compiler.flags_here()},
                    {"link", compiler.link_flags()},
                    {"compiler", std::move(compiler_identity)},
                    {"target", build.target.to_string()}};
  ASSAY_TRY(Artifact artifact, get_or_build_traced(
                                   *build.context.cache, key,
                                   [&](const fs::path& folder) {
                                     return build_in(folder, compiler,
                                                     std::string(shim_file(build.entry)), shim);
                                   },
                                   [&] { return compiler.text_hash(shim); }));
  ASSAY_TRY(check_brought_files(build.entry));
  return artifact;
}

}  // namespace assay::cpp_source
