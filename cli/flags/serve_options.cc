#include "cli/flags/serve_options.h"

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <limits>

#include <fmt/format.h>

#include "assay/base/file.h"
#include "assay/base/subprocess.h"
#include "assay/base/text.h"
#include "assay/base/version.h"
#include "assay/lab/evaluate/env_defaults.h"
#include "assay/lab/files/series.h"
#include "cli/flags/number.h"
#include "cli/lab/evaluate_setup.h"
#include "cli/own_environment.h"

namespace assay::cli {
namespace {

constexpr int kMost = std::numeric_limits<int>::max();
constexpr std::size_t kMostKeyBytes = 4096;

bool is_loopback(std::string_view host) {
  return host == "localhost" || host == "::1" || host.starts_with("127.");
}

// A file, or a folder with what says how a model is built.
bool holds_model(const std::filesystem::path& path) {
  std::error_code error;
  if (std::filesystem::is_regular_file(path, error)) return true;
  for (const auto& entry : std::filesystem::directory_iterator(path, error)) {
    const std::string name = entry.path().filename().string();
    if (name == "config.json" || name == "params.json" || name.ends_with(".gguf")) return true;
  }
  return false;
}

}  // namespace

void ServeOptions::declare(Flags& app) {
  app.set_group(FlagGroup::backend);
  app.add_option("--backend", backend_,
                 "What makes the tokens: mock, seeded text at stated times; process, the server "
                 "that COMMAND starts; plugin, a shared object (default: the case's, or mock)")
      .one_of({"mock", "process", "plugin"});
  app.add_option("--model", model_,
                 "Name of the model, as clients call it (default: the case's, or mock)");
  app.add_option("--tokenizer", tokenizer_,
                 "The model's tokenizer.json or GGUF file, for /tokenize, prompts and usage")
      .type_name("FILE");
  app.add_option("--chat-template", chat_template_,
                 "What a chat becomes: roles (each role and its text on a line), chatml or llama3")
      .one_of({"roles", "chatml", "llama3"})
      .show_default();
  app.add_option("--plugin", plugin_, "The shared object of --backend plugin (assay_backend.h)")
      .type_name("FILE");
  app.add_option("--step-timeout", step_,
                 "Seconds without a token after which a plug-in with work to do is started again")
      .type_name("SECONDS")
      .show_default();
  app.add_option("--ready-timeout", ready_,
                 "Seconds that COMMAND or a plug-in has from its start until it is ready (default: "
                 "the case's, or 600)")
      .type_name("SECONDS");
  app.add_option("command", command_,
                 "Behind --: a server to start; {port} in it is the port to listen on, {port_file} "
                 "a file to write one to")
      .type_name("COMMAND");
  app.set_group(FlagGroup::server);
  app.add_option("--host", host_, "Address to listen on; any but loopback needs a key")
      .show_default();
  app.add_option("--port", port_, "Port to listen on; 0 takes a free one")
      .range(0, 65535)
      .show_default();
  app.add_option("--port-file", port_file, "Gets the port once the server listens")
      .type_name("FILE");
  app.add_option("--api-key-file", key_file_, "First line: the key that clients must send")
      .type_name("FILE");
  app.add_option("--allow-origin", origins_, "Origins of web pages that may ask; others may not")
      .type_name("ORIGIN")
      .several_words(false);
  app.add_flag("--strict", strict_, "Refuse fields that the server does not know");
  app.add_flag("--no-retries", no_retries_, "Tell clients not to repeat a request that failed");
  app.add_option("--drain", drain_, "Seconds that answers under way get after SIGTERM")
      .type_name("SECONDS")
      .show_default();
  app.set_group(FlagGroup::limits);
  const auto seconds = [&](const char* name, std::string& value, const char* help) {
    app.add_option(name, value, help).type_name("SECONDS").show_default();
  };
  seconds("--head-timeout", head_seconds_, "From the first byte of a request to its head's last");
  seconds("--body-timeout", body_seconds_, "For the body of a request");
  seconds("--idle-timeout", idle_seconds_, "Between the requests of one connection");
  app.add_option("--connections", connections_, "Connections at a time; more are answered 503")
      .range(1, 1 << 20)
      .show_default();
  app.add_option("--max-body", body_mib_, "Longest body of a request, in MiB")
      .type_name("MIB")
      .show_default();
  app.add_option("--max-choices", choices_, "Most answers to one prompt (n)")
      .range(1, 4096)
      .show_default();
  app.set_group(FlagGroup::mock);
  declare_mock(app);
  app.set_group(FlagGroup::output);
  app.add_option("--log", log, "Gets a line of JSON for each request, without texts and keys")
      .type_name("FILE");
  app.add_option("--stamps", stamps, "Gets the time of each token, taken before it is sent")
      .type_name("FILE");
}

void ServeOptions::declare_mock(Flags& app) {
  const auto text = [&](const char* name, std::string& value, const char* help, const char* type) {
    app.add_option(name, value, help).type_name(type).show_default();
  };
  text("--mock-ttft-ms", ttft_, "Time to the first token", "MS");
  text("--mock-ttft-std-ms", ttft_std_, "Standard deviation of the time to the first token", "MS");
  text("--mock-itl-ms", itl_, "Time from one token to the next", "MS");
  text("--mock-itl-std-ms", itl_std_, "Standard deviation of the time between tokens", "MS");
  app.add_option("--mock-output-tokens", output_tokens_, "Tokens after which the model ends")
      .range(1, kMost)
      .show_default();
  text("--mock-output-std", output_std_, "Standard deviation of the tokens", "TOKENS");
  app.add_option("--mock-seed", seed_, "Seed of texts, times and faults")
      .range(0, kMost)
      .show_default();
  text("--mock-error-rate", error_rate_, "Share of answers that fail, 0 to 1", "SHARE");
  text("--mock-stall-rate", stall_rate_, "Share of answers that stop coming", "SHARE");
  text("--mock-disconnect-rate", disconnect_rate_, "Share of answers whose connection is cut",
       "SHARE");
  text("--mock-miscount-rate", miscount_rate_, "Share of answers whose usage is one too high",
       "SHARE");
  app.add_option("--mock-slots", slots_, "Answers that are made at a time")
      .range(1, 1 << 20)
      .show_default();
  app.add_option("--mock-queue", queue_, "Answers that may wait for a slot; more are refused (429)")
      .range(0, 1 << 20)
      .show_default();
  app.add_option("--mock-context", context_, "Tokens of prompt and answer together")
      .range(2, 1 << 24)
      .show_default();
}

Result<net::ServerOptions> ServeOptions::server() const {
  net::ServerOptions options;
  options.host = host_;
  options.port = static_cast<std::uint16_t>(port_);
  options.connections = connections_;
  ASSAY_TRY(const double mib, parse_number(body_mib_, "--max-body", 0.001, 256));
  options.limits.body_bytes = static_cast<std::size_t>(mib * (1 << 20));
  options.unfinished_bytes = std::max(options.unfinished_bytes, 2 * options.limits.body_bytes);
  ASSAY_TRY(options.head_seconds, parse_number(head_seconds_, "--head-timeout", 0.1, 86400));
  ASSAY_TRY(options.body_seconds, parse_number(body_seconds_, "--body-timeout", 0.1, 86400));
  ASSAY_TRY(options.idle_seconds, parse_number(idle_seconds_, "--idle-timeout", 0.1, 86400));
  return options;
}

Result<serve::MockOptions> ServeOptions::mock() const {
  constexpr double kMostMs = 1e7;
  serve::MockOptions mock;
  ASSAY_TRY(mock.ttft_ms, parse_number(ttft_, "--mock-ttft-ms", 0, kMostMs));
  ASSAY_TRY(mock.ttft_std_ms, parse_number(ttft_std_, "--mock-ttft-std-ms", 0, kMostMs));
  ASSAY_TRY(mock.itl_ms, parse_number(itl_, "--mock-itl-ms", 0, kMostMs));
  ASSAY_TRY(mock.itl_std_ms, parse_number(itl_std_, "--mock-itl-std-ms", 0, kMostMs));
  ASSAY_TRY(mock.output_tokens_std, parse_number(output_std_, "--mock-output-std", 0, 1e6));
  ASSAY_TRY(mock.error_rate, parse_number(error_rate_, "--mock-error-rate", 0, 1));
  ASSAY_TRY(mock.stall_rate, parse_number(stall_rate_, "--mock-stall-rate", 0, 1));
  ASSAY_TRY(mock.disconnect_rate, parse_number(disconnect_rate_, "--mock-disconnect-rate", 0, 1));
  ASSAY_TRY(mock.miscount_rate, parse_number(miscount_rate_, "--mock-miscount-rate", 0, 1));
  if (mock.error_rate + mock.stall_rate + mock.disconnect_rate > 1)
    return fail(ErrorCode::invalid_input,
                "--mock-error-rate, --mock-stall-rate and --mock-disconnect-rate add up to more "
                "than 1: an answer meets one fault at most");
  mock.output_tokens = output_tokens_;
  mock.seed = static_cast<std::uint64_t>(seed_);
  mock.slots = slots_;
  mock.queue = queue_;
  mock.context = context_;
  return mock;
}

Result<serve::UpstreamOptions> ServeOptions::upstream(const Context& context) const {
  if (command_.empty())
    return fail(ErrorCode::invalid_input,
                "--backend process: which server? Give its command behind --, with {{port}} where "
                "it takes the port to listen on");
  if (!stamps.empty())
    return fail(ErrorCode::invalid_input,
                "--stamps: tokens of a process are not known; its streams are passed on as bytes");
  serve::UpstreamOptions options;
  options.command = command_;
  options.folder = folder_;
  options.environment = child_environment(context);
  ASSAY_TRY(options.ready_seconds,
            parse_number(ready_.empty() ? "600" : ready_, "--ready-timeout", 0.1, 86400));
  return options;
}

Result<serve::PluginOptions> ServeOptions::plugin(const Context& context) const {
  serve::PluginOptions options;
  std::error_code error;
  options.library = std::filesystem::absolute(plugin_, error).string();
  if (!std::filesystem::is_regular_file(options.library, error))
    return fail(
        ErrorCode::invalid_input, "{}: there is no such file{}", sanitize(plugin_, 300),
        workspace_.empty() ? "" : ": build the workspace first (workspace/scripts/build.sh)");
  // A case's backend would fail only after clients were told that it serves.
  if (!workspace_.empty() && !holds_model(model_folder_))
    return fail(ErrorCode::invalid_input,
                "{}: the case's model is not there (a folder with its config.json); put the "
                "snapshot there, or mend model.path in case.yaml",
                sanitize(model_folder_, 300));
  options.model = model();
  options.folder = workspace_;
  options.model_folder = model_folder_;
  options.environment = child_environment(context);
  ASSAY_TRY(options.ready_seconds,
            parse_number(ready_.empty() ? "600" : ready_, "--ready-timeout", 0.1, 86400));
  ASSAY_TRY(options.step_seconds, parse_number(step_, "--step-timeout", 0.1, 86400));
  return options;
}

Status ServeOptions::take_case(const LabPlace& place, Context& context) {
  const lab::Case& target = place.target;
  ASSAY_TRY(check_case_hardware(target, context));
  if (!target.server)
    return fail(ErrorCode::invalid_input,
                "{}: there is no `server`: say which backend serves this case",
                (target.folder / "case.yaml").string());
  folder_ = target.folder.string();
  workspace_ = (target.folder / "workspace").string();
  model_folder_ = lab::model_folder(place.lab, target).lexically_normal().string();
  if (model_.empty()) model_ = target.model_name;
  if (backend_.empty()) backend_ = target.server->backend;
  if (backend_ == target.server->backend) {
    if (plugin_.empty() && !target.server->plugin.empty())
      plugin_ = (target.folder / target.server->plugin).string();
    if (command_.empty()) command_ = target.server->command;
  }
  if (ready_.empty()) ready_ = fmt::format("{}", target.server->ready_seconds);
  std::error_code error;
  const std::string tokenizer = model_folder_ + "/tokenizer.json";
  if (tokenizer_.empty() && std::filesystem::is_regular_file(tokenizer, error))
    tokenizer_ = tokenizer;
  ASSAY_TRY(const lab::Environment defaults, lab::read_env_defaults(target.folder));
  // What an attempt sets wins over the file.
  for (const auto& [name, value] : defaults)
    case_environment_.push_back(name + '=' + environment_value(name).value_or(value));
  case_environment_.push_back("ASSAY_WORKSPACE=" + workspace_);
  case_environment_.push_back("ASSAY_MODEL=" + model_folder_);
  return {};
}

std::vector<std::string> ServeOptions::child_environment(const Context& context) const {
  std::vector<std::string> environment = context.settings.child_environment;
  // The device that was chosen: nothing else that the environment has.
  if (context.venue.is_gpu()) set_variable(environment, "CUDA_VISIBLE_DEVICES", context.venue.gpu);
  environment.insert(environment.end(), case_environment_.begin(), case_environment_.end());
  return environment;
}

Status ServeOptions::check() const {
  if (backend() == "plugin" && plugin_.empty())
    return fail(ErrorCode::invalid_input, "--backend plugin: which? Give its file by --plugin");
  if (backend() != "plugin" && !plugin_.empty())
    return fail(ErrorCode::invalid_input, "--plugin {}: only --backend plugin loads it",
                sanitize(plugin_, 200));
  if (backend() != "process" && !command_.empty())
    return fail(ErrorCode::invalid_input, "'{}': only --backend process starts a command",
                sanitize(command_.front(), 80));
  return {};
}

Result<std::string> ServeOptions::key(const Settings& settings) const {
  if (key_file_.empty()) return settings.api_key;
  ASSAY_TRY(const std::string text, read_file(key_file_, kMostKeyBytes));
  const std::string key(trim(std::string_view(text).substr(0, text.find('\n'))));
  if (key.empty())
    return fail(ErrorCode::invalid_input, "{}: the first line must be the key",
                sanitize(key_file_, 200));
  return key;
}

Result<serve::DeskOptions> ServeOptions::desk(const Settings& settings) const {
  ASSAY_TRY(const std::string secret, key(settings));
  if (secret.empty() && !is_loopback(host_))
    return fail(ErrorCode::invalid_input,
                "--host {} lets other machines ask, and there is no key: give --api-key-file, or "
                "listen on 127.0.0.1",
                sanitize(host_, 80));
  const std::string name = model();
  if (sanitize(name, 200) != name)
    return fail(ErrorCode::invalid_input,
                "--model must be 1 to 200 characters without control characters");
  serve::DeskOptions options;
  options.site.model = name;
  options.site.version = std::string(build_info().version);
  options.site.created_s = static_cast<std::int64_t>(std::time(nullptr));
  options.site.limits.strict = strict_;
  options.site.limits.choices = choices_;
  options.site.limits.chat_template =
      text::chat_template_named(chat_template_).value_or(text::ChatTemplate::roles);
  if (!secret.empty()) options.key.emplace(secret);
  options.origins = origins_;
  options.no_retries = no_retries_;
  return options;
}

Result<std::shared_ptr<const serve::Vocabulary>> ServeOptions::vocabulary() const {
  if (tokenizer_.empty()) return serve::mock_vocabulary();
  ASSAY_TRY(text::Tokenizer tokenizer, text::Tokenizer::load(tokenizer_));
  auto vocabulary = std::make_shared<serve::ModelVocabulary>(std::move(tokenizer));
  if (vocabulary->words().empty())
    return fail(ErrorCode::invalid_input, "{}: no token of it is a text of its own",
                sanitize(tokenizer_, 200));
  return std::shared_ptr<const serve::Vocabulary>(std::move(vocabulary));
}

Result<double> ServeOptions::drain_seconds() const {
  return parse_number(drain_, "--drain", 0, 86400);
}

}  // namespace assay::cli
