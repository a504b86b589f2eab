#include "shelf.h"

#include <fmt/format.h>

#include "assay/base/file.h"
#include "assay/base/hash.h"
#include "providers/cutlass/info.h"

namespace assay::cutlass {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFolder = "cutlass";
constexpr const char* kToolchain = "toolchain.json";
constexpr size_t kMostShelfBytes = 1 << 20;

// Of what all sources of a code have in common.
std::string template_hash(const std::string& code) {
  const std::string_view body = body_of(code);
  std::string text;
  for (const EmbeddedFile& file : embedded_files())
    if (file.name == "kernel_abi.h" || file.name == body) text += file.content;
  for (const std::string& flag : compile_flags(code)) text += flag + '\n';
  return sha256_hex(text);
}

Json described(const Json& identity, const std::string& code) {
  return {{"schema", "assay-cutlass-toolchain-v1"},
          {"identity", identity},
          {"template", template_hash(code)}};
}

}  // namespace

// -DNDEBUG: without it CUTLASS's checks keep wgmma from being pipelined, and it spills.
// -gencode: -arch=sm_90a would compile a second time, for compute_90.
std::vector<std::string> compile_flags(std::string_view code) {
  const std::string_view number = code.substr(code.find('_') + 1);
  return {"-std=c++17",
          "-O3",
          "-gencode",
          fmt::format("arch=compute_{0},code=sm_{0}", number),
          "-DNDEBUG",
          "-DCUTLASS_ENABLE_TENSOR_CORE_MMA=1",
          "--expt-relaxed-constexpr",
          "-shared",
          "-Xcompiler",
          "-fPIC,-fvisibility=hidden",
          "-Xlinker",
          "-Bsymbolic,--exclude-libs,ALL",
          "--cudart",
          "static",
          "-Xptxas",
          "-v"};
}

Result<Json> key_of(const Configuration& configuration, const Target& target,
                    const Json& identity) {
  ASSAY_TRY(const std::string source, configuration.source());
  const std::string code = configuration.operands.generation->code_for(target);
  return Json{{"provider", "cutlass"},
              {"kernel", configuration.stock_name()},
              {"source", sha256_hex(source)},
              {"flags", compile_flags(code)},
              {"target", code},
              {"toolchain", identity}};
}

Shelf::Shelf(fs::path root, Json identity, std::string code)
    : root_(std::move(root)), identity_(std::move(identity)), code_(std::move(code)) {
  read();
}

fs::path Shelf::folder() const {
  return root_ / kFolder / sha256_hex(canonical(described(identity_, code_))).substr(0, 16);
}

void Shelf::read() {
  names_.clear();
  std::error_code error;
  for (fs::directory_iterator at(folder(), error), end; !error && at != end; at.increment(error))
    if (std::string name = at->path().filename().string(); name != kToolchain)
      names_.insert(std::move(name));
}

std::vector<Shelf> Shelf::all_of(const fs::path& root, const std::string& code) {
  std::vector<Shelf> shelves;
  std::error_code error;
  for (fs::directory_iterator at(root / kFolder, error), end; !error && at != end;
       at.increment(error)) {
    const std::string file = (at->path() / kToolchain).string();
    const auto text = read_file(file, kMostShelfBytes);
    if (!text) continue;
    const auto json = parse_json(*text, file);
    if (!json || !json->is_object() || !json->contains("identity")) continue;
    Shelf shelf(root, json->at("identity"), code);
    // The folder's name says that it is of this program's sources and of this code, too.
    if (shelf.folder() == at->path() && !shelf.empty()) shelves.push_back(std::move(shelf));
  }
  return shelves;
}

void Shelf::note(const std::string& name) const {
  const fs::path at = folder();
  if (!make_directories(at.string())) return;
  std::error_code ignored;
  if (!fs::exists(at / kToolchain, ignored))
    (void)write_file_atomic((at / kToolchain).string(), dump_pretty(described(identity_, code_)));
  (void)write_file_atomic((at / name).string(), "");
}

}  // namespace assay::cutlass
