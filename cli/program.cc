#include "cli/program.h"

#include <csignal>
#include <cstring>
#include <sys/signalfd.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "assay/base/version.h"
#include "assay/kernel/provider.h"
#include "assay/sweep/worker.h"
#include "cli/command.h"
#include "cli/exit_code.h"

namespace assay::cli {
namespace {

std::vector<std::unique_ptr<Command>> all_commands() {
  std::vector<std::unique_ptr<Command>> commands;
  commands.push_back(make_race_command());
  commands.push_back(make_sweep_command());
  return commands;
}

std::string version_text() {
  const BuildInfo& build = build_info();
  return fmt::format("assay {} ({}, {}, {})\n", build.version, build.revision, build.compiler, build.build_type);
}

// Ctrl-C and a polite kill become a readable descriptor, so that nothing is interrupted half way.
int make_cancel_fd() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&signals, signal);
  sigprocmask(SIG_BLOCK, &signals, nullptr);
  return signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
}

int finish(const Status& status) { return status ? kDone : exit_code(status.error().code); }

int run_command(int argc, char** argv) {
  Console console;
  auto settings = Settings::from_environment();
  if (!settings) {
    console.error(settings.error().message);
    return exit_code(settings.error().code);
  }
  CLI::App app{"Which kernel is fastest for my shapes, and does mine really beat the best stock one?", "assay"};
  app.require_subcommand(1);
  app.fallthrough();
  app.failure_message(CLI::FailureMessage::simple);
  bool json = false, quiet = false, version = false;
  std::string colour = "auto";
  int verbosity = 0;
  app.add_flag("--json", json, "Machine output on stdout, nothing else there");
  app.add_flag("--quiet,-q", quiet, "No progress");
  app.add_flag("-v,--verbose", verbosity, "Say more");
  app.add_option("--color", colour, "auto, always or never")->check(CLI::IsMember({"auto", "always", "never"}));
  app.add_flag("--version", version, "Print version and build");
  const auto commands = all_commands();
  for (const auto& command : commands) command->declare(*app.add_subcommand(command->name(), command->summary()));
  // Before parsing: --version needs no subcommand.
  for (int i = 1; i < argc; ++i)
    if (std::strcmp(argv[i], "--version") == 0) {
      console.result(version_text());
      return kDone;
    }
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp& help) {
    return app.exit(help);
  } catch (const CLI::CallForAllHelp& help) {
    return app.exit(help);
  } catch (const CLI::ParseError& error) {
    console.error(fmt::format("{} (assay --help lists what there is)", error.what()));
    return kBadInput;
  }
  console.configure(json, quiet, colour == "always" ? Colour::always : colour == "never" ? Colour::never : Colour::automatic, verbosity);
  std::vector<std::string> words(argv, argv + argc);
  Context context{console, *settings, std::move(words), make_cancel_fd()};
  for (const auto& command : commands) {
    if (!app.got_subcommand(command->name())) continue;
    const auto code = command->run(context);
    if (code) return *code;
    console.error(code.error().message);
    return exit_code(code.error().code);
  }
  return kBadInput;
}

}  // namespace

int run_program(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  try {
    if (argc == 2 && std::strcmp(argv[1], "worker") == 0) return finish(sweep::worker_main(built_in_providers()));
    if (argc == 2 && std::strcmp(argv[1], "referee") == 0) return finish(sweep::referee_main());
    return run_command(argc, argv);
  } catch (const std::exception& error) {
    Console().error(fmt::format("internal error: {}; please report it with the command", error.what()));
    return kMachineFailed;
  }
}

}  // namespace assay::cli
