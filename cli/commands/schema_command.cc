#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "assay/base/choices.h"
#include "assay/base/json.h"
#include "assay/base/text.h"
#include "cli/command.h"
#include "cli/exit_code.h"
#include "cli/files/new_file.h"
#include "cli/help/file_schemas.h"

namespace assay::cli {
namespace {

class SchemaCommand : public Command {
 public:
  const char* name() const override { return "schema"; }
  const char* summary() const override {
    return "The JSON Schema of a file that you write or that a run leaves behind";
  }
  const char* example() const override { return "assay schema manifest"; }
  const char* description() const override {
    return "Editors complete and check files by a schema (draft 2020-12). It says which fields a "
           "file has and what they may be. What fields mean together, the commands that read the "
           "file check as well.";
  }

  void declare(Flags& app) override {
    app.add_option("name", name_, "Of which file; none: list them").type_name("NAME");
    app.add_option("--output-dir", folder_,
                   "Write every schema into this folder; nothing is overwritten")
        .type_name("DIR");
  }

  Result<int> run(Context& context) override {
    if (!folder_.empty()) return write_all(context.console);
    if (name_.empty()) return list(context.console);
    std::vector<std::string> known;
    for (const FileSchema& schema : file_schemas()) {
      known.emplace_back(schema.name);
      if (schema.name != name_) continue;
      context.console.result(dump_pretty(schema.make()));
      return kDone;
    }
    return fail(ErrorCode::invalid_input, "there is no schema '{}'{}", sanitize(name_, 80),
                did_you_mean(name_, known, "there are: " + join(known, ", ")));
  }

 private:
  static Result<int> list(Console& console) {
    Json files = Json::array();
    std::string text;
    for (const FileSchema& schema : file_schemas()) {
      files.push_back({{"name", schema.name}, {"file", schema.file}, {"summary", schema.summary}});
      text += fmt::format("{:<17} {:<21} {}\n", schema.name, schema.file, schema.summary);
    }
    console.result(console.json()
                       ? dump_pretty({{"schema", "assay.schemas/1"}, {"files", std::move(files)}})
                       : text);
    return kDone;
  }

  Result<int> write_all(Console& console) const {
    if (!name_.empty())
      return fail(ErrorCode::invalid_input,
                  "--output-dir takes every schema; leave '{}' out, or send its schema on with >",
                  sanitize(name_, 80));
    std::vector<std::string> files;
    for (const FileSchema& schema : file_schemas()) {
      files.push_back(
          (std::filesystem::path(folder_) / fmt::format("{}.json", schema.name)).string());
      ASSAY_TRY(write_new_file(files.back(), dump_pretty(schema.make()), "--output-dir"));
    }
    console.result(console.json() ? dump_pretty({{"schema", "assay.schemas/1"}, {"files", files}})
                                  : fmt::format("wrote {} schemas to {}\n", files.size(),
                                                sanitize(folder_, 1000)));
    return kDone;
  }

  std::string name_, folder_;
};

}  // namespace

std::unique_ptr<Command> make_schema_command() { return std::make_unique<SchemaCommand>(); }

}  // namespace assay::cli
