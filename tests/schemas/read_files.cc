// Reads files as the program does, for check.py, which holds them against schemas. Each line of its
// input is {"kind": ..., "path": ..., "show": ...}; each line of its output {"document": ...,
// "error": ...}: the file as JSON, null where it is none or was not to be shown, and what its
// reader says of it, null where it is right.

#include <filesystem>
#include <iostream>
#include <string>
#include <variant>

#include "assay/base/file.h"
#include "assay/base/json.h"
#include "assay/input/manifest.h"
#include "assay/input/model_config.h"
#include "assay/input/operation_file.h"
#include "assay/input/suite.h"
#include "assay/input/yaml.h"
#include "assay/kernel/provider.h"
#include "assay/kernel/taker.h"
#include "assay/lab/climb/attempt_note.h"
#include "assay/lab/files/benchmark_file.h"
#include "assay/lab/files/case_file.h"
#include "assay/lab/files/history_lines.h"
#include "assay/lab/files/reference_packs.h"
#include "assay/record/attempt.h"
#include "assay/record/compressed_text.h"
#include "assay/record/provider_results.h"
#include "assay/record/record.h"
#include "cli/config.h"
#include "cli/config_names.h"
#include "cli/flags/command_line.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostBytes = std::size_t{512} << 20;

Result<std::string> text_of(const fs::path& path) {
  ASSAY_TRY(std::string text, read_file(path.string(), kMostBytes));
  if (path.extension() == ".zst") return decompress(text, path.string(), kMostBytes);
  return text;
}

Result<Json> json_of(const input::YamlField& field) {
  using Kind = input::YamlField::Kind;
  if (field.kind() == Kind::list) {
    ASSAY_TRY(const auto items, field.items());
    Json list = Json::array();
    for (const auto& item : items) {
      ASSAY_TRY(list.emplace_back(), json_of(item));
    }
    return list;
  }
  if (field.kind() == Kind::map) {
    ASSAY_TRY(const auto members, field.members());
    Json map = Json::object();
    for (const auto& [name, member] : members) {
      ASSAY_TRY(map[name], json_of(member));
    }
    return map;
  }
  if (field.kind() == Kind::null) return Json();
  ASSAY_TRY(const Value value, field.as_value());
  return std::visit([](const auto& one) { return Json(one); }, value);
}

Result<Json> document_of(const fs::path& path) {
  ASSAY_TRY(const std::string text, text_of(path));
  if (path.extension() == ".yaml") {
    ASSAY_TRY(const auto root, input::parse_yaml(text, path.string()));
    return json_of(root);
  }
  return parse_json(text, path.string());
}

template <class T>
Status status_of(const Result<T>& result) {
  return result ? Status() : Status(fail(result.error()));
}

// Those of JSON, by its document.
template <class Read>
Status read_json(const fs::path& path, Read read) {
  ASSAY_TRY(const std::string text, text_of(path));
  ASSAY_TRY(const JsonDocument document, parse_json_document(text, path.string()));
  return status_of(read(document));
}

Result<std::string> read_history_line(const JsonDocument& document) {
  const JsonField line(document);
  ASSAY_TRY(std::string type, lab::line_type(line));
  lab::Attempt attempt;
  if (type == "start") ASSAY_TRY(status_of(lab::read_start(line)));
  if (type == "end") ASSAY_TRY(lab::read_end(line, attempt));
  if (type == "skip") ASSAY_TRY(status_of(lab::read_skip(line)));
  return type;
}

// The case that the path is in or is.
Result<lab::Case> case_of(const fs::path& folder) {
  ASSAY_TRY(const lab::Lab lab, lab::find_lab(folder));
  return lab::find_case(lab, folder);
}

Status read(const std::string& kind, const fs::path& path) {
  if (kind == "manifest") {
    ASSAY_TRY(const std::string text, text_of(path));
    return status_of(input::parse_manifest(text, path, launch_forms(built_in_providers())));
  }
  if (kind == "suite") return status_of(input::read_suite(path));
  if (kind == "operation") return status_of(input::read_operation_file(path));
  if (kind == "model") return status_of(input::read_model(path, {.batches = {1}}));
  if (kind == "config") {
    static const cli::ConfigNames names = cli::config_names(cli::CommandLine());
    return status_of(cli::read_config(path.string(), names));
  }
  if (kind == "provider_results") return read_json(path, read_provider_results);
  if (kind == "record") return read_json(path, read_record);
  if (kind == "attempt") return read_json(path, read_attempt_record);
  if (kind == "history") return read_json(path, read_history_line);
  if (kind == "lab") return status_of(lab::read_lab(path.parent_path()));
  if (kind == "packs")
    return status_of(lab::read_reference_packs(path.parent_path().parent_path()));
  if (kind == "case") return status_of(case_of(path.parent_path()));
  if (kind == "benchmark") {
    const fs::path folder = path.parent_path().parent_path();
    return status_of(lab::read_benchmark(folder, fs::relative(path, folder).string()));
  }
  if (kind == "attempt_note") {
    ASSAY_TRY(const lab::Case target, case_of(path.parent_path()));
    return status_of(lab::read_attempt_note(path, target));
  }
  return fail(ErrorCode::internal, "no reader of '{}'", kind);
}

Json answer(const Json& request) {
  const fs::path path = request.at("path").get<std::string>();
  const auto document = document_of(path);
  const Status status = read(request.at("kind").get<std::string>(), path);
  const bool show = request.at("show").get<bool>();
  return {{"document", document && show ? *document : Json()},
          {"is_readable", document.has_value()},
          {"error", status ? Json() : Json(status.error().message)}};
}

}  // namespace
}  // namespace assay

int main() {
  for (std::string line; std::getline(std::cin, line);)
    std::cout << assay::canonical(assay::answer(assay::Json::parse(line))) << std::endl;
}
