#include "export.h"

#include <filesystem>

#include "assay/base/common_folder.h"
#include "assay/base/file.h"
#include "assay/base/text.h"
#include "assay/input/source_files.h"
#include "compile.h"
#include "shim.h"

namespace assay::cpp_source {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kFolder = "kernel";

// What the calls need: a pointer that becomes whatever the function takes, and what a function that
// returns nothing, or a code, says.
constexpr std::string_view kSupport = R"(
namespace {

struct Pointer {
  void* address;
  template <class T>
  operator T*() const {
    return static_cast<T*>(address);
  }
};

template <class Call>
int code_of(const Call& call) {
  if constexpr (std::is_void_v<decltype(call())>) {
    call();
    return 0;
  } else {
    return static_cast<int>(call());
  }
}

// Called through a pointer that the compiler cannot see through, as it was when it was timed: a
// copy specialised on the numbers below would be another kernel.
)";

std::string define(const std::string& macro) {
  const auto equals = macro.find('=');
  if (equals == std::string::npos) return fmt::format("#define {} 1\n", macro);
  return fmt::format("#define {} {}\n", macro.substr(0, equals), macro.substr(equals + 1));
}

Result<std::string> value_of(const CallValues& values, const CallArgument& argument) {
  ASSAY_TRY(const Slot slot, slot_of(values, argument.name));
  switch (argument.kind) {
    case SlotKind::integer:
      return fmt::format("std::int64_t{{{}}}", slot.integer);
    case SlotKind::real:
      return fmt::format("{:.17e}", slot.real);
    default:
      return slot.integer < 0 ? std::string("Pointer{nullptr}")
                              : fmt::format("Pointer{{data[{}]}}", slot.integer);
  }
}

Result<std::string> function_text(const CallValues& values, std::string_view name,
                                  const std::string& function,
                                  const std::vector<std::string>& args) {
  ASSAY_TRY(const auto arguments, call_arguments(values.entry, args));
  std::vector<std::string> list;
  for (const CallArgument& argument : arguments) {
    ASSAY_TRY(const std::string value, value_of(values, argument));
    list.push_back(fmt::format("/*{}*/ {}", argument.name, value));
  }
  return fmt::format(
      "auto* volatile {0}_function = &{1};\n"
      "int {0}([[maybe_unused]] void* const* data) {{\n"
      "  return code_of([&] {{\n    return {0}_function({2});\n  }});\n}}\n",
      name, function, join(list, ",\n        "));
}

// Folders of -I that lie among the files move with them.
std::string moved(const std::string& flag, const fs::path& root) {
  for (const std::string_view option : {"-iquote", "-isystem", "-I"}) {
    if (!flag.starts_with(option) || flag.size() == option.size()) continue;
    const fs::path inside = fs::path(flag.substr(option.size())).lexically_relative(root);
    if (!inside.empty() && *inside.begin() != "..")
      return fmt::format("{}{}", option, (fs::path(kFolder) / inside).string());
  }
  return flag;
}

}  // namespace

Result<KernelExport> export_source(const SourceExport& request) {
  const KernelEntry& entry = request.values.entry;
  if (is_c(entry))
    return fail(ErrorCode::unsupported,
                "{}: an exported caller is C++, which need not take what C takes; link the file "
                "itself, built by `cc -std=gnu17 -O3 -march=native {}`",
                entry.origin, join(entry.flags, " "));
  ASSAY_TRY(const input::LocalFiles found, input::find_local_files(entry, entry.flags));
  fs::path root = entry.source.parent_path();
  for (const auto& [path, hash] : found.sha256)
    root = common_folder(root, fs::path(path).parent_path());
  KernelExport made;
  for (const auto& [path, hash] : found.sha256) {
    std::string text;
    if (const SourceFile* const read = find_file(entry, path)) {
      text = read->bytes;
    } else {
      ASSAY_TRY(text, read_file(path));
    }
    made.files.push_back(
        {(fs::path(kFolder) / fs::path(path).lexically_relative(root)).string(), std::move(text)});
  }
  made.code = "#include <cstdint>\n#include <type_traits>\n\n";
  for (const std::string& macro : request.macros) made.code += define(macro);
  made.code += fmt::format("#include \"{}\"\n",
                           (fs::path(kFolder) / entry.source.lexically_relative(root)).string());
  made.code += kSupport;
  ASSAY_TRY(const std::string call,
            function_text(request.values, "run_kernel", entry.entry, entry.args));
  made.code += call;
  if (!entry.prepare_entry.empty()) {
    ASSAY_TRY(const std::string prepare, function_text(request.values, "prepare_kernel",
                                                       entry.prepare_entry, entry.prepare_args));
    made.code += '\n' + prepare;
  }
  made.code += "\n}  // namespace\n";
  made.compile_flags = default_flags(request.target);
  for (const std::string& flag : entry.flags) made.compile_flags.push_back(moved(flag, root));
  made.link_flags = flags_for_linking(entry.flags);
  made.what = fmt::format("the source of {}, which nothing else is needed for", entry.entry);
  return made;
}

}  // namespace assay::cpp_source
