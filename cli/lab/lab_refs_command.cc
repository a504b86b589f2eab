#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "assay/base/counted.h"
#include "assay/base/json.h"
#include "assay/base/text.h"
#include "assay/lab/files/reference_packs.h"
#include "cli/exit_code.h"
#include "cli/lab/lab_commands.h"
#include "cli/lab/lab_place.h"

namespace assay::cli {
namespace {

class LabRefsCommand : public Command {
 public:
  const char* name() const override { return "refs"; }
  const char* summary() const override {
    return "Fetch upstream examples to read, pinned by commit";
  }
  const char* example() const override { return "assay lab refs --pack tri-dao"; }
  const char* description() const override {
    return "refs/packs.yaml of the lab names the files; they arrive in refs/files, read-only, and "
           "nothing is built from them. Without --pack, lists the packs. What cannot be fetched is "
           "a warning: a climb does not need it.";
  }

  void declare(Flags& app) override {
    app.add_option("--pack", pack_, "Which: a name in refs/packs.yaml").type_name("NAME");
  }

  Result<int> run(Context& context) override {
    ASSAY_TRY(const lab::Lab lab, lab::find_lab("."));
    ASSAY_TRY(const lab::ReferencePacks packs, lab::read_reference_packs(lab.root));
    if (pack_.empty()) return list(context, packs);
    const auto pack = packs.find(pack_);
    if (pack == packs.end())
      return fail(ErrorCode::not_found, "--pack: refs/packs.yaml has no '{}' (it has: {})",
                  sanitize(pack_, 60), names_of(packs));
    lab::FetchOptions options;
    options.folder = lab.root / "refs" / "files" / pack_;
    options.environment = context.settings.child_environment;
    options.cancel_fd = context.cancel_fd;
    Json sources = Json::array();
    std::string text;
    for (const lab::ReferenceSource& source : pack->second) {
      context.console.progress(fmt::format("{} ...", source.name()));
      ASSAY_TRY(const lab::Fetched fetched, lab::fetch_references(source, options));
      if (!fetched.warning.empty())
        context.console.note(fmt::format("warning: {}: {}", source.name(), fetched.warning));
      text += fmt::format("{:<16} {} fetched, {} there already, of {}\n", source.name(),
                          fetched.files, fetched.already_there, source.files.size());
      sources.push_back({{"name", source.name()},
                         {"commit", source.commit},
                         {"files", source.files.size()},
                         {"fetched", fetched.files},
                         {"already_there", fetched.already_there},
                         {"warning", fetched.warning}});
    }
    context.console.result(context.console.json()
                               ? dump_pretty({{"schema", "assay.lab_refs/1"},
                                              {"folder", options.folder.string()},
                                              {"sources", std::move(sources)}})
                               : text);
    return kDone;
  }

 private:
  static std::string names_of(const lab::ReferencePacks& packs) {
    std::vector<std::string> names;
    for (const auto& [name, sources] : packs) names.push_back(name);
    return names.empty() ? "none" : join(names, ", ");
  }

  static Result<int> list(Context& context, const lab::ReferencePacks& packs) {
    Json all = Json::object();
    std::string text;
    for (const auto& [name, sources] : packs)
      for (const lab::ReferenceSource& source : sources) {
        all[name].push_back(
            {{"url", source.url}, {"commit", source.commit}, {"files", source.files}});
        text += fmt::format("{:<12} {} @ {}, {}\n", name, sanitize(source.url, 200),
                            source.commit.substr(0, 12), counted(std::ssize(source.files), "file"));
      }
    context.console.result(context.console.json() ? dump_pretty({{"schema", "assay.lab_packs/1"},
                                                                 {"packs", std::move(all)}})
                                                  : text);
    return kDone;
  }

  std::string pack_;
};

}  // namespace

std::unique_ptr<Command> make_lab_refs_command() { return std::make_unique<LabRefsCommand>(); }

}  // namespace assay::cli
