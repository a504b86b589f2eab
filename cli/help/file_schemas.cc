#include "cli/help/file_schemas.h"

#include "assay/base/embedded.h"
#include "assay/base/json.h"
#include "assay/input/schemas.h"
#include "assay/lab/climb/attempt_note.h"
#include "assay/lab/files/forms.h"
#include "assay/lab/files/history_lines.h"
#include "assay/record/schemas.h"
#include "cli/config_names.h"

// cmake/provider.schema.json: the build reads providers by it.
namespace assay::cli_schemas {
std::span<const EmbeddedFile> embedded_files();
}

namespace assay::cli {
namespace {

Json provider_schema() {
  const auto files = cli_schemas::embedded_files();
  return parse_json(files.front().content, files.front().name).value_or(Json());
}

Json config_schema_of_all() { return config_schema(config_names(CommandLine())); }

}  // namespace

std::span<const FileSchema> file_schemas() {
  static constexpr FileSchema kSchemas[] = {
      {"manifest", "kernel_manifest.yaml", "Kernels that you bring", input::manifest_schema},
      {"suite", "shapes/*.yaml", "Shapes to race on", input::suite_schema},
      {"operation", "*.op.yaml", "An operation that you define", input::operation_schema},
      {"model", "config.json", "What is read of a model's configuration", input::model_schema},
      {"config", "--config FILE", "Defaults of flags, settings of providers", config_schema_of_all},
      {"provider_results", "*_results.json", "Numbers that any tool may hand over",
       provider_results_schema},
      {"record", "record.json", "What a run leaves behind", record_schema},
      {"lab", "lab.yaml", "A lab", lab::lab_schema},
      {"case", "case.yaml", "A case of a lab", lab::case_schema},
      {"benchmark", "benchmarks/*.yaml", "A benchmark of a case", lab::benchmark_schema},
      {"packs", "refs/packs.yaml", "References of a lab", lab::packs_schema},
      {"attempt_note", "$ASSAY_ATTEMPT", "What an agent says of its attempt",
       lab::attempt_note_schema},
      {"attempt", "runs/*/*/record.json", "The record of an attempt", attempt_schema},
      {"history", "runs/history.jsonl", "A line of a case's history", lab::history_schema},
      {"provider", "provider.yaml", "A provider's folder, for who adds one", provider_schema},
  };
  return kSchemas;
}

}  // namespace assay::cli
