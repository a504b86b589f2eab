#include "script.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "assay/base/compiler.h"
#include "assay/base/hash.h"
#include "assay/base/json.h"
#include "assay/base/subprocess.h"
#include "assay/base/text.h"
#include "assay/device/cuda/libraries.h"
#include "assay/input/python_files.h"
#include "providers/tvm_ffi/info.h"

namespace assay::tvm_ffi {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kHelper = "make_object.py";
constexpr std::string_view kInstall =
    "install what the script imports (CuTe DSL: pip install nvidia-cutlass-dsl apache-tvm-ffi) "
    "into "
    "a virtual environment, and activate that";

std::string_view helper() {
  for (const EmbeddedFile& file : embedded_files())
    if (file.name.ends_with(kHelper)) return file.content;
  return {};
}

// The first along PATH that has the package which every object needs. It is found by looking at
// files: nothing runs for it.
Result<std::string> find_python(const ProviderSettings& settings) {
  const std::vector<std::string> programs = cuda::python_programs(settings);
  std::error_code ignored;
  for (const std::string& program : programs) {
    if (!is_program(program)) continue;
    for (const fs::path& folder : cuda::package_folders_of(program))
      if (fs::is_directory(folder / "tvm_ffi", ignored)) return program;
  }
  return fail(ErrorCode::unsupported, "no TVM-FFI lies beside {}; {}", join(programs, ", "),
              kInstall);
}

// "nvidia_cutlass_dsl-4.8.1.dist-info" and all others: which of them the script imports is not
// known before it runs.
Json packages_of(const std::string& python) {
  std::set<std::string> names;
  std::error_code error;
  for (const fs::path& folder : cuda::package_folders_of(python))
    for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
      if (at->path().extension() == ".dist-info") names.insert(at->path().filename().string());
  return names;
}

// The bytes that hexadecimal digits stand for; empty for what is none.
std::string bytes_of(std::string_view digits) {
  const auto value = [](char digit) {
    if (digit >= '0' && digit <= '9') return digit - '0';
    return digit >= 'a' && digit <= 'f' ? digit - 'a' + 10 : -1;
  };
  if (digits.size() % 2 != 0) return {};
  std::string bytes;
  bytes.reserve(digits.size() / 2);
  for (size_t i = 0; i < digits.size(); i += 2) {
    const int high = value(digits[i]), low = value(digits[i + 1]);
    if (high < 0 || low < 0) return {};
    bytes.push_back(static_cast<char>(high << 4 | low));
  }
  return bytes;
}

Result<std::string> read_answer(const CommandOutput& output, const KernelEntry& entry,
                                double timeout_seconds) {
  if (output.timed_out)
    return fail(ErrorCode::build_failed, "{}: the script was stopped after {} (--compile-timeout)",
                entry.origin, format_duration(timeout_seconds));
  const auto document = parse_json_document(output.out, "answer");
  if (!output.status.success() || output.truncated || !document)
    return fail(ErrorCode::build_failed, "{}: the script {} and left no object{}", entry.origin,
                output.status.describe(), first_lines(output.err));
  const JsonField root(*document);
  if (const auto error = root.find("error"); error && error->json().is_string())
    return fail(ErrorCode::build_failed, "{}: {}", entry.origin,
                sanitize(error->json().get<std::string>(), 2000));
  const auto object = root.find("object");
  std::string bytes;
  if (object && object->json().is_string())
    bytes = bytes_of(object->json().get_ref<const std::string&>());
  if (bytes.empty())
    return fail(ErrorCode::build_failed, "{}: what came back is no object", entry.origin);
  return bytes;
}

}  // namespace

bool is_script(const KernelEntry& entry) { return entry.source.extension() == ".py"; }

Result<Json> script_identity(const KernelEntry& entry, const ProviderSettings& settings) {
  ASSAY_TRY(const std::string python, find_python(settings));
  ASSAY_TRY(const auto texts, input::python_files(entry));
  Json hashes = Json::object();
  for (const auto& [name, text] : texts) hashes[name] = sha256_hex(text);
  ASSAY_TRY(Json interpreter, file_identity(python));
  return Json{{"files", std::move(hashes)},
              {"python", python},
              {"interpreter", std::move(interpreter)},
              {"packages", packages_of(python)},
              {"helper", sha256_hex(helper())}};
}

Result<std::string> make_object(const KernelEntry& entry, const Target& target,
                                const ProviderSettings& settings, const CompileContext& context) {
  ASSAY_TRY(const std::string python, find_python(settings));
  ASSAY_TRY(const auto texts, input::python_files(entry));
  if (!context.run_guest)
    return fail(ErrorCode::unsupported,
                "{}: compiling runs a user's Python, and this program has no process without "
                "rights for that; `assay race` and `assay sweep` have",
                entry.origin);
  GuestProgram program;
  // -I: what the environment or the folder says is not to change what is imported.
  program.argv = {python, "-I", "-B", "-c", std::string(helper())};
  program.input = canonical(
      Json{{"main", entry.source.filename().string()}, {"files", texts}, {"arch", target.arch}});
  program.timeout_seconds = context.timeout_seconds;
  program.memory_bytes = context.memory_bytes;
  ASSAY_TRY(const CommandOutput output, context.run_guest(program));
  return read_answer(output, entry, context.timeout_seconds);
}

}  // namespace assay::tvm_ffi
