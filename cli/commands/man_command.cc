#include <filesystem>

#include <fmt/format.h>

#include "assay/base/json.h"
#include "assay/base/text.h"
#include "cli/exit_code.h"
#include "cli/files/new_file.h"
#include "cli/flags/command_line.h"
#include "cli/help/help.h"
#include "cli/help/man_page.h"
#include "cli/help/reference_page.h"
#include "cli/show/pager.h"

namespace assay::cli {
namespace {

class ManCommand : public Command {
 public:
  const char* name() const override { return "man"; }
  const char* summary() const override {
    return "The manual page of a command; in a pager on a terminal";
  }
  const char* example() const override { return "assay man race"; }

  void declare(Flags& app) override {
    app.add_option("command", path_, "Whose page, such as lab eval; none: the program's")
        .type_name("COMMAND");
    app.add_option("--format", format_,
                   "As a manual page (roff), or in Markdown: all commands on one page")
        .one_of({"roff", "markdown"})
        .type_name("FORMAT")
        .show_default();
    app.add_option("--output-dir", folder_,
                   "Write every page into this folder; nothing is overwritten")
        .type_name("DIR");
  }

  Result<int> run(Context& context) override {
    const CommandLine line;
    const CommandEntry program = describe(line);
    if (format_ == "markdown") return print_markdown(context.console, program);
    if (!folder_.empty()) return write_all_pages(context.console, program);
    std::string page;
    const CommandEntry* found = nullptr;
    if (path_.empty()) {
      page = program_page(program);
    } else {
      ASSAY_TRY(found, find_command(program, path_));
      page = command_page(program, *found);
    }
    const int width = context.console.width_out();
    if (context.console.terminal_out() && !context.console.json())
      return show_in_pager(context.console,
                           {page, found == nullptr ? program_help(program, width)
                                                   : command_help(program, *found, width)});
    context.console.result(
        context.console.json() ? dump_pretty({{"schema", "assay.man/1"}, {"page", page}}) : page);
    return kDone;
  }

 private:
  Result<int> print_markdown(Console& console, const CommandEntry& program) const {
    if (!folder_.empty())
      return fail(ErrorCode::invalid_input,
                  "--format markdown is one page; leave --output-dir out, or send it on with >");
    std::string page;
    if (path_.empty()) {
      page = commands_page(program);
    } else {
      ASSAY_TRY(const CommandEntry* const command, find_command(program, path_));
      page = command_section(*command);
    }
    console.result(console.json() ? dump_pretty({{"schema", "assay.man/1"}, {"page", page}})
                                  : page);
    return kDone;
  }

  Result<int> write_all_pages(Console& console, const CommandEntry& program) const {
    if (!path_.empty())
      return fail(ErrorCode::invalid_input,
                  "--output-dir takes every page; leave '{}' out, or send its page on with >",
                  sanitize(join(path_, " "), 80));
    std::vector<std::string> files;
    const auto write = [&](const std::string& name, const std::string& page) {
      files.push_back((std::filesystem::path(folder_) / (name + ".1")).string());
      return write_new_file(files.back(), page, "--output-dir");
    };
    ASSAY_TRY(write(program.name, program_page(program)));
    for (const CommandEntry& command : program.commands)
      ASSAY_TRY(write(program.name + '-' + command.name, command_page(program, command)));
    console.result(console.json() ? dump_pretty({{"schema", "assay.man/1"}, {"files", files}})
                                  : fmt::format("wrote {} pages to {}\n", files.size(),
                                                sanitize(folder_, 1000)));
    return kDone;
  }

  std::vector<std::string> path_;
  std::string format_ = "roff", folder_;
};

}  // namespace

std::unique_ptr<Command> make_man_command() { return std::make_unique<ManCommand>(); }

}  // namespace assay::cli
