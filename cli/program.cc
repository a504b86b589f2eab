#include "cli/program.h"

#include <algorithm>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <system_error>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "assay/base/choices.h"
#include "assay/base/file.h"
#include "assay/base/json.h"
#include "assay/base/json_bytes.h"
#include "assay/base/supervise.h"
#include "assay/base/text.h"
#include "assay/kernel/provider.h"
#include "assay/kernel/ranker.h"
#include "assay/referee/referee.h"
#include "assay/serve/plugin_child.h"
#include "assay/worker/worker.h"
#include "cli/command.h"
#include "cli/config.h"
#include "cli/config_names.h"
#include "cli/exit_code.h"
#include "cli/flags/arguments.h"
#include "cli/flags/choose_device.h"
#include "cli/flags/command_line.h"
#include "cli/help/help.h"
#include "cli/signals.h"

namespace assay::cli {
namespace {

// Paths of users, and the folders that runs are put in, begin there.
Status check_working_folder() {
  std::error_code failed;
  static_cast<void>(std::filesystem::current_path(failed));
  if (!failed) return {};
  return fail(ErrorCode::invalid_input,
              "the folder that this command runs in cannot be told ({}): it may be deleted; change "
              "to one that is there",
              failed.message());
}

int finish(const Status& status) { return status ? kDone : exit_code(status.error().code); }

// Under a profiler, whose output is all that is read of it.
int profiled(const std::string& file) {
  const auto run = [&]() -> Status {
    constexpr size_t kMost = size_t{16} << 20;
    ASSAY_TRY(const std::string text, read_file(file, kMost));
    ASSAY_TRY(const Json script, parse_json_bytes(text, file));
    return sweep::profile_main(built_in_providers(), script);
  };
  const Status status = run();
  if (!status) Console().error(status.error().message);
  return finish(status);
}

class Program {
 public:
  Program(int argc, char** argv) : words_(argv, argv + argc) { join_flags_of_others(words_); }

  Result<int> run() {
    ASSAY_TRY(const Settings settings, Settings::from_environment());
    ASSAY_TRY(const Chosen chosen, choose());
    Command* const command = chosen.command;
    if (command == nullptr) return help_or_version();
    CLI::App& sub = *chosen.app;
    if (const std::string empty = empty_value(words_, app_, sub); !empty.empty())
      return fail(ErrorCode::invalid_input, "{} (assay {} --help lists its flags)", empty,
                  command_path(sub));
    ASSAY_TRY(const Config config, read_config_of(sub));
    relax_required(config, sub);
    // What was typed is what a record keeps.
    std::vector<std::string> spread = words_;
    spread_lists(spread);
    try {
      app_.parse(static_cast<int>(spread.size()), pointers(spread).data());
    } catch (const CLI::CallForHelp&) {
      const CommandEntry program = describe(line_);
      const std::string path = command_path(sub);
      std::vector<std::string> names;
      for (const std::string_view name : split(path, ' ')) names.emplace_back(name);
      ASSAY_TRY(const CommandEntry* const entry, find_command(program, names));
      console_.result(command_help(program, *entry, console_.width_out()));
      return kDone;
    } catch (const CLI::ParseError& error) {
      return fail(ErrorCode::invalid_input, "{}", usage_error(error, sub));
    }
    if (globals_.version) return help_or_version();
    if (!command->commands().empty() && !has_flags(sub))
      return fail(ErrorCode::invalid_input, "{}: which of its commands? There are: {}",
                  command->name(), join(names_of(command->commands()), ", "));
    ASSAY_TRY(apply_defaults(config, app_, sub));
    console_.configure(globals_.json, globals_.quiet, colour(), globals_.verbosity);
    const std::string& named = globals_.device.empty() ? settings.device : globals_.device;
    ASSAY_TRY(check_working_folder());
    auto device = choose_device(named);
    if (!device && globals_.device.empty() && !named.empty())
      return fail(device.error().code, "ASSAY_DEVICE is read as --device {}: {}",
                  sanitize(named, 80), device.error().message);
    if (!device) return fail(std::move(device).error());
    Context context{console_,         settings,         config.providers, words_,
                    make_cancel_fd(), {.gpu = *device}, !named.empty()};
    auto code = command->run(context);
    if (!code)
      code.error().message = config.with_origin(code.error().message, command_path(sub), words_);
    return code;
  }

  Console& console() { return console_; }

  // The sentence on stderr; for programs on stdout, too. Returns the exit code.
  int refuse(const Error& error) {
    const int code = exit_code(error.code);
    // The flags may be what is wrong, so they may never have been parsed.
    const bool json = globals_.json || std::ranges::find(words_, "--json") != words_.end();
    if (json)
      console_.result(dump_pretty(
          {{"schema", "assay.error/1"},
           {"error", {{"code", std::string(to_string(error.code))}, {"message", error.message}}},
           {"exit_code", code}}));
    console_.error(error.message);
    return code;
  }

 private:
  using Commands = std::span<const std::unique_ptr<Command>>;
  struct Chosen {
    Command* command = nullptr;  // Null: none at all, which is fine for --help and --version.
    CLI::App* app = nullptr;
  };

  static std::vector<std::string> names_of(Commands commands) {
    std::vector<std::string> names;
    for (const auto& command : commands) names.emplace_back(command->name());
    return names;
  }

  static bool has_flags(const CLI::App& app) { return !long_flags(app).empty(); }

  bool follows(const std::string& before, const std::string& word) const {
    const auto first = std::ranges::find(words_, before);
    return first != words_.end() && first + 1 != words_.end() && *(first + 1) == word;
  }

  Result<Chosen> choose() {
    Chosen chosen{nullptr, &app_};
    Commands commands = line_.commands();
    for (const std::string& word : plain_words(words_, app_)) {
      if (commands.empty()) break;
      const auto found = std::ranges::find_if(
          commands, [&](const auto& command) { return word == command->name(); });
      // A command with flags of its own may be run itself, and the word may be a flag's value: its
      // commands stand right behind it.
      if (chosen.command != nullptr && has_flags(*chosen.app) &&
          (found == commands.end() || !follows(chosen.command->name(), word)))
        break;
      if (found == commands.end()) {
        const auto names = names_of(commands);
        return fail(ErrorCode::invalid_input, "{}there is no command '{}'{}",
                    chosen.command == nullptr ? "" : command_path(*chosen.app) + ": ",
                    sanitize(word, 80),
                    did_you_mean(word, names, "there are: " + join(names, ", ")));
      }
      chosen = {found->get(), chosen.app->get_subcommand(word)};
      commands = chosen.command->commands();
    }
    return chosen;
  }

  Result<int> help_or_version() {
    for (const std::string& word : words_) {
      if (word != "--version") continue;
      console_.result(version_text());
      return kDone;
    }
    for (const std::string& word : words_) {
      if (word != "--help" && word != "-h") continue;
      console_.result(program_help(describe(line_), console_.width_out()));
      return kDone;
    }
    if (const std::string unknown = unknown_flag(words_, app_, app_); !unknown.empty())
      return fail(ErrorCode::invalid_input, "{} (assay --help lists what there is)", unknown);
    return fail(ErrorCode::invalid_input,
                "which command? `assay new my_gemm.cc` writes a kernel to begin with; `assay help` "
                "lists all "
                "commands");
  }

  Result<Config> read_config_of(const CLI::App&) {
    const std::string path = config_word(words_);
    if (path.empty()) return Config{};
    return read_config(path, config_names(line_));
  }

  std::string usage_error(const CLI::ParseError& error, const CLI::App& sub) {
    std::string sentence = unknown_flag(words_, app_, sub);
    if (sentence.empty()) sentence = missing_argument(error, sub);
    if (sentence.empty())
      sentence = fmt::format("{}: {}", command_path(sub), sanitize(error.what()));
    return fmt::format("{} (assay {} --help lists its flags)", sentence, command_path(sub));
  }

  // By what help calls it, and not by its variable.
  static std::string missing_argument(const CLI::ParseError& error, const CLI::App& sub) {
    if (error.get_name() != "RequiredError") return {};
    for (const CLI::Option* option : sub.get_options()) {
      if (option->nonpositional() || !option->get_required() || option->count() > 0) continue;
      const std::string type = option->get_type_name();
      return fmt::format("{}: {} is missing: {}", sub.get_name(), type.substr(0, type.find(':')),
                         option->get_description());
    }
    return {};
  }

  Colour colour() const {
    return globals_.colour == "always"  ? Colour::always
           : globals_.colour == "never" ? Colour::never
                                        : Colour::automatic;
  }

  static std::vector<const char*> pointers(const std::vector<std::string>& words) {
    std::vector<const char*> list;
    for (const std::string& word : words) list.push_back(word.c_str());
    return list;
  }

  std::vector<std::string> words_;
  CommandLine line_;
  CLI::App& app_ = line_.app();
  Globals& globals_ = line_.globals();
  Console console_;
};

// The first files that are opened would be a stream that is closed, and get what is said there.
void fill_closed_streams() {
  for (int stream = 0; stream < 3; ++stream)
    if (::fcntl(stream, F_GETFD) < 0)
      // What cannot be written to stdout is a result that was lost.
      (void)::open("/dev/null", stream == 2 ? O_WRONLY : O_RDONLY);
}

}  // namespace

int run_program(int argc, char** argv) {
  fill_closed_streams();
  make_writes_fail_instead();
  try {
    if (argc == 2 && std::strcmp(argv[1], "worker") == 0)
      return finish(sweep::worker_main(built_in_providers(), {}, built_in_rankers()));
    if (argc == 3 && std::strcmp(argv[1], "profiled") == 0) return profiled(argv[2]);
    if (argc == 2 && std::strcmp(argv[1], "referee") == 0) return finish(sweep::referee_main());
    if (argc > 2 && std::strcmp(argv[1], "supervise") == 0) return supervise_main(argc, argv);
    if (argc == 7 && std::strcmp(argv[1], "backend") == 0)
      return serve::plugin_child_main(argc, argv);
    Program program(argc, argv);
    const Result<int> code = program.run();
    if (const std::string& why = program.console().lost_result(); !why.empty()) {
      program.console().error("the result could not be written: " + why);
      return kMachineFailed;
    }
    if (code) return *code;
    if (::access("/proc/self/exe", F_OK) != 0)
      return program.refuse({ErrorCode::machine,
                             "/proc is not mounted here, and assay starts its processes by it; "
                             "mount it: mount -t proc proc /proc"});
    return program.refuse(code.error());
  } catch (const std::exception& error) {
    Console().error(
        fmt::format("internal error: {}; please report it with the command", error.what()));
    return kMachineFailed;
  }
}

}  // namespace assay::cli
