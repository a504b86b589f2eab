#include "cli/help/man_page.h"

#include <fmt/format.h>

#include "assay/base/text.h"
#include "assay/base/version.h"
#include "cli/exit_code.h"
#include "cli/settings.h"

namespace assay::cli {
namespace {

// Text as it is: roff would read backslashes, and dots and quotes at a line's start, and turns
// plain quotes, dashes and the like into typeset ones that nobody can paste into a shell.
std::string roff(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if ((c == '.' || c == '\'') && (out.empty() || out.back() == '\n')) out += "\\&";
    switch (c) {
      case '\\':
        out += "\\(rs";
        break;
      case '-':
        out += "\\-";
        break;
      case '\'':
        out += "\\(aq";
        break;
      case '`':
        out += "\\(ga";
        break;
      case '^':
        out += "\\(ha";
        break;
      case '~':
        out += "\\(ti";
        break;
      case '"':
        out += "\\(dq";
        break;
      default:
        out += c;
    }
  }
  return out;
}

// Text that is filled into lines: long lists of words may be broken behind commas and bars.
std::string prose(std::string_view text) {
  std::string out;
  for (const char c : roff(text)) {
    out += c;
    if (c == ',' || c == '|') out += "\\:";
  }
  return out;
}

std::string upper(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = c == ' ' ? '-' : c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c;
  return out;
}

std::string dashed(std::string_view path) {
  std::string out(path);
  for (char& c : out)
    if (c == ' ') c = '-';
  return out;
}

std::string bold(std::string_view text) { return "\\fB" + roff(text) + "\\fR"; }
std::string italic(std::string_view text) { return "\\fI" + roff(text) + "\\fR"; }

std::string value_text(const FlagEntry& flag) { return italic(flag.value_text()); }

std::string head_text(const FlagEntry& flag) {
  if (flag.names.empty()) return value_text(flag);
  std::vector<std::string> names;
  for (const std::string& name : flag.names) names.push_back(bold(name));
  return join(names, ", ") + (flag.value.empty() ? "" : ' ' + value_text(flag));
}

void add_flags(const std::vector<FlagEntry>& flags, std::string& out) {
  for (const FlagEntry& flag : flags)
    out += fmt::format(".TP\n{}\n{}\n", head_text(flag), prose(flag.full_help()));
}

void add_synopsis(const CommandEntry& command, std::string& out) {
  out += ".B " + roff(command.path);
  if (!command.commands.empty()) out += "\n.I " + roff("COMMAND");
  for (const FlagEntry& argument : command.arguments)
    out += argument.required ? "\n" + value_text(argument) : "\n[" + value_text(argument) + "]";
  out += "\n[" + italic("FLAG") + " ...]\n";
}

void add_command(const CommandEntry& command, std::string& out) {
  if (!command.arguments.empty()) out += ".SH ARGUMENTS\n";
  add_flags(command.arguments, out);
  if (!command.flags.empty()) out += ".SH OPTIONS\n";
  add_flags(command.flags, out);
  for (const CommandEntry& below : command.commands) {
    out += fmt::format(".SH {}\n{}.\n.PP\n", upper(below.path), roff(below.summary));
    add_synopsis(below, out);
    add_flags(below.arguments, out);
    add_flags(below.flags, out);
  }
}

std::string title(const CommandEntry& program, const CommandEntry& page) {
  const std::string name = dashed(page.path);
  return fmt::format(
      ".\\\" Made by `{} man{}`.\n.TH {} 1 \"\" \"{} {}\" \"User Commands\"\n.ad l\n.nh\n.SH "
      "NAME\n{} \\- {}\n",
      program.name, &page == &program ? "" : ' ' + page.name, roff(upper(name)), program.name,
      build_info().version, roff(name), roff(page.summary));
}

void add_exit_status(std::string& out) {
  out += ".SH EXIT STATUS\n";
  for (const ExitMeaning& exit : exit_meanings())
    out += fmt::format(".TP\n{}\n{}\n", exit.code, roff(exit.meaning));
}

}  // namespace

std::string program_page(const CommandEntry& program) {
  std::string out = title(program, program);
  out += ".SH SYNOPSIS\n";
  add_synopsis(program, out);
  out += ".SH DESCRIPTION\n" +
         roff(
             "Kernels are brought, or found in libraries; each is proven right, and then they are "
             "timed against one another so that the verdict can be trusted. What a run rests on "
             "stays in its record.") +
         "\n.SH COMMANDS\n";
  for (const CommandEntry& command : program.commands)
    out += fmt::format(".TP\n{}\n{}. See {}(1).\n", bold(command.name), roff(command.summary),
                       bold(dashed(command.path)));
  out += ".SH OPTIONS\nOf every command:\n";
  add_flags(program.flags, out);
  add_exit_status(out);
  out +=
      ".SH ENVIRONMENT\nFlags win over all of these, and they win over a file\n.I .env\nin the "
      "current folder.\n";
  for (const EnvironmentVariable& variable : environment_variables())
    out += fmt::format(".TP\n{}\n{}\n", bold(variable.name), roff(variable.meaning));
  out += ".SH EXAMPLES\n.nf\n";
  for (const CommandEntry& command : program.commands)
    if (!command.example.empty()) out += roff(command.example) + '\n';
  return out + ".fi\n";
}

std::string command_page(const CommandEntry& program, const CommandEntry& command) {
  std::string out = title(program, command);
  out += ".SH SYNOPSIS\n";
  add_synopsis(command, out);
  // NAME has the summary already.
  if (!command.description.empty())
    out += fmt::format(".SH DESCRIPTION\n{}\n", roff(command.description));
  add_command(command, out);
  std::vector<std::string> globals;
  for (const FlagEntry& flag : program.flags)
    if (flag.names.front() != "--help") globals.push_back(bold(flag.names.front()));
  out += fmt::format(".PP\nAlso the flags of every command: {}.\n", join(globals, ", "));
  add_exit_status(out);
  if (!command.example.empty())
    out += fmt::format(".SH EXAMPLE\n.nf\n{}\n.fi\n", roff(command.example));
  return out + fmt::format(".SH SEE ALSO\n{}(1)\n", bold(program.name));
}

}  // namespace assay::cli
