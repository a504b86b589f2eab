#include "load.h"

#include "assay/base/text.h"
#include "assay/device/cuda/libraries.h"

namespace assay::tvm_ffi {
namespace {

// The loader takes what is mapped already for a library of its name: those that it would not find
// (beside the user's file, in Python's packages) are mapped first. What cannot be is the loader's
// to say.
void map_needed(const Wanted& wanted) {
  std::vector<std::filesystem::path> folders = {wanted.folder};
  for (const auto& packages : cuda::python_package_folders(wanted.settings)) {
    for (const char* cuda : {"cu13", "cu12", ""})
      folders.push_back(packages / "nvidia_cutlass_dsl" / cuda / "lib");
    folders.push_back(packages / "tilelang" / "lib");
  }
  std::error_code ignored;
  for (const std::string& name : wanted.needed) {
    if (name.find('/') != std::string::npos) continue;
    for (const auto& folder : folders) {
      if (!std::filesystem::is_regular_file(folder / name, ignored)) continue;
      if (DynamicLibrary::open((folder / name).string(), {.deep_bind = false})) break;
    }
  }
}

// The loader's own reason, without the place in the cache that it begins with.
std::string reason_of(const Error& error, const std::string& file) {
  const size_t at = error.message.rfind(file + ": ");
  return at == std::string::npos ? error.message : error.message.substr(at + file.size() + 2);
}

}  // namespace

Result<Loaded> load(const Wanted& wanted) {
  auto api = Api::open(wanted.settings);
  map_needed(wanted);
  const auto object = open_quietly(wanted.file, {.deep_bind = false});
  if (!object && api)
    return fail(ErrorCode::build_failed, "it cannot be loaded: {}",
                reason_of(object.error(), wanted.file));
  if (object && !api) {
    if (auto linked = Api::of(*object)) api = std::move(linked);
  }
  if (!api)
    return fail(
        ErrorCode::unsupported,
        "no library of TVM-FFI can be used here: {}; install apache-tvm-ffi (PyPI), or name "
        "the file: --library tvm_ffi=FILE",
        api.error().message);
  Loaded loaded{.api = std::move(*api)};
  ASSAY_TRY(object->load(wanted.symbol, loaded.function));
  return loaded;
}

}  // namespace assay::tvm_ffi
