#include "assay/kernel/export.h"

#include <algorithm>
#include <filesystem>
#include <span>

#include <nlohmann/json.hpp>

#include "assay/base/hash.h"

namespace assay {
namespace {

Result<std::vector<std::string>> texts(const JsonField& root, const char* key) {
  ASSAY_TRY(const JsonField list, root.at(key));
  ASSAY_TRY(const auto items, list.items());
  std::vector<std::string> texts;
  for (const JsonField& item : items) {
    ASSAY_TRY(texts.emplace_back(), item.as_string());
  }
  return texts;
}

// JSON holds text alone: compiled code goes as digits.
bool is_plain(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c > 0 && c < 0x7f; });
}
std::span<const uint8_t> bytes_of(std::string_view text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}
Result<std::string> bytes_from_hex(std::string_view digits) {
  const auto value = [](char c) {
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
  };
  std::string bytes;
  bytes.reserve(digits.size() / 2);
  for (size_t i = 0; i < digits.size(); i += 2) {
    const int high = value(digits[i]), low = i + 1 < digits.size() ? value(digits[i + 1]) : -1;
    if (high < 0 || low < 0) return fail(ErrorCode::internal, "an exported file is no digits");
    bytes.push_back(static_cast<char>(high * 16 + low));
  }
  return bytes;
}

}  // namespace

bool ExportFile::lies_below() const {
  const auto place = std::filesystem::path(path).lexically_normal();
  return !place.empty() && place.is_relative() && *place.begin() != "..";
}

Json KernelExport::to_json() const {
  Json list = Json::array();
  for (const ExportFile& file : files) {
    const bool plain = is_plain(file.text);
    list.push_back({{"path", file.path},
                    {plain ? "text" : "hex", plain ? file.text : to_hex(bytes_of(file.text))}});
  }
  return {{"code", code},
          {"files", std::move(list)},
          {"sources", sources},
          {"compile_flags", compile_flags},
          {"link_flags", link_flags},
          {"workspace_bytes", workspace_bytes},
          {"prepared_bytes", prepared_bytes},
          {"on_gpu", on_gpu},
          {"dependent_launch", dependent_launch},
          {"what", what}};
}

Result<KernelExport> KernelExport::from_json(const Json& json) {
  JsonDocument document;
  document.root = json;
  document.origin = "export";
  const JsonField root(document);
  ASSAY_TRY(root.expect_object());
  KernelExport made;
  ASSAY_TRY(const JsonField code, root.at("code"));
  ASSAY_TRY(made.code, code.as_string());
  ASSAY_TRY(const JsonField what, root.at("what"));
  ASSAY_TRY(made.what, what.as_string());
  ASSAY_TRY(const JsonField list, root.at("files"));
  ASSAY_TRY(const auto files, list.items());
  for (const JsonField& file : files) {
    ASSAY_TRY(const JsonField path, file.at("path"));
    ExportFile& one = made.files.emplace_back();
    ASSAY_TRY(one.path, path.as_string());
    if (!one.lies_below())
      return fail(path.error(ErrorCode::invalid_input, "must lie below the export's folder"));
    if (const auto hex = file.find("hex")) {
      ASSAY_TRY(const std::string digits, hex->as_string());
      ASSAY_TRY(one.text, bytes_from_hex(digits));
    } else {
      ASSAY_TRY(const JsonField text, file.at("text"));
      ASSAY_TRY(one.text, text.as_string());
    }
  }
  ASSAY_TRY(made.sources, texts(root, "sources"));
  ASSAY_TRY(made.compile_flags, texts(root, "compile_flags"));
  ASSAY_TRY(made.link_flags, texts(root, "link_flags"));
  ASSAY_TRY(const JsonField workspace, root.at("workspace_bytes"));
  ASSAY_TRY(made.workspace_bytes, workspace.as_int64(0));
  ASSAY_TRY(const JsonField prepared, root.at("prepared_bytes"));
  ASSAY_TRY(made.prepared_bytes, prepared.as_int64(0));
  ASSAY_TRY(const JsonField on_gpu, root.at("on_gpu"));
  ASSAY_TRY(made.on_gpu, on_gpu.as_bool());
  ASSAY_TRY(const JsonField dependent, root.at("dependent_launch"));
  ASSAY_TRY(made.dependent_launch, dependent.as_bool());
  return made;
}

Result<KernelExport> export_kernel(const Kernel& kernel, const Problem& problem,
                                   const ExportOptions& options) {
  const KernelMetadata& row = kernel.metadata();
  const Exportable* family = kernel.family().exportable();
  if (family == nullptr)
    return fail(ErrorCode::unsupported,
                "kernels of {}/{} cannot be exported as source; a tuned table ships them (sweep "
                "--save-table, then TunedTable in the program)",
                row.provider(), row.family());
  if (const Refusals refusals = kernel.supports(problem, options.target); !refusals.empty())
    return fail(ErrorCode::unsupported, "{} cannot run {} here: {}", row.name(), problem.name(),
                refusals.front().sentence);
  ASSAY_TRY(KernelExport made, family->export_row(row, problem, options));
  made.workspace_bytes = static_cast<int64_t>(kernel.workspace_bytes(problem, options.threads));
  return made;
}

}  // namespace assay
