#include "cli/serve_options.h"

#include <charconv>
#include <cmath>
#include <ctime>
#include <limits>

#include <fmt/format.h>

#include "assay/base/file.h"
#include "assay/base/text.h"
#include "assay/base/version.h"

namespace assay::cli {
namespace {

constexpr int kMost = std::numeric_limits<int>::max();
constexpr std::size_t kMostKeyBytes = 4096;

Result<double> number(std::string_view flag, const std::string& text, double least, double most) {
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [read, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || read != end || !std::isfinite(value) || value < least || value > most)
    return fail(ErrorCode::invalid_input, "{} {}: give a number from {} to {}", flag,
                sanitize(text, 40), least, most);
  return value;
}

bool is_loopback(std::string_view host) {
  return host == "localhost" || host == "::1" || host.starts_with("127.");
}

}  // namespace

void ServeOptions::declare(Flags& app) {
  app.add_option("--backend", backend_, "What makes the tokens: mock, seeded text at stated times")
      .one_of({"mock"})
      .show_default();
  app.add_option("--host", host_, "Address to listen on; any but loopback needs a key")
      .show_default();
  app.add_option("--port", port_, "Port to listen on; 0 takes a free one")
      .range(0, 65535)
      .show_default();
  app.add_option("--port-file", port_file, "Gets the port once the server listens")
      .type_name("FILE");
  app.add_option("--model", model_, "Name of the model, as clients call it").show_default();
  app.add_option("--tokenizer", tokenizer_,
                 "The model's tokenizer.json or GGUF file, for /tokenize, prompts and usage")
      .type_name("FILE");
  app.add_option("--chat-template", chat_template_,
                 "What a chat becomes: its roles joined, or the text that ChatML or Llama 3 has")
      .one_of({"roles", "chatml", "llama3"})
      .show_default();
  app.add_option("--api-key-file", key_file_, "First line: the key that clients must send")
      .type_name("FILE");
  app.add_option("--allow-origin", origins_, "Origins of web pages that may ask; others may not")
      .type_name("ORIGIN");
  app.add_flag("--strict", strict_, "Refuse fields that the server does not know");
  app.add_flag("--no-retries", no_retries_, "Tell clients not to repeat a request that failed");
  app.add_option("--log", log, "Gets a line of JSON for each request, without texts and keys")
      .type_name("FILE");
  app.add_option("--stamps", stamps, "Gets the time of each token, taken before it is sent")
      .type_name("FILE");
  app.add_option("--drain", drain_, "Seconds that answers under way get after SIGTERM")
      .type_name("SECONDS")
      .show_default();
  app.add_option("--connections", connections_, "Connections at a time; more are answered 503")
      .range(1, 1 << 20)
      .show_default();
  app.add_option("--max-body", body_mib_, "Longest body of a request, in MiB")
      .type_name("MIB")
      .show_default();
  app.add_option("--max-choices", choices_, "Most answers to one prompt (n)")
      .range(1, 4096)
      .show_default();
  declare_mock(app);
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
  ASSAY_TRY(const double mib, number("--max-body", body_mib_, 0.001, 256));
  options.limits.body_bytes = static_cast<std::size_t>(mib * (1 << 20));
  return options;
}

Result<serve::MockOptions> ServeOptions::mock() const {
  constexpr double kMostMs = 1e7;
  serve::MockOptions mock;
  ASSAY_TRY(mock.ttft_ms, number("--mock-ttft-ms", ttft_, 0, kMostMs));
  ASSAY_TRY(mock.ttft_std_ms, number("--mock-ttft-std-ms", ttft_std_, 0, kMostMs));
  ASSAY_TRY(mock.itl_ms, number("--mock-itl-ms", itl_, 0, kMostMs));
  ASSAY_TRY(mock.itl_std_ms, number("--mock-itl-std-ms", itl_std_, 0, kMostMs));
  ASSAY_TRY(mock.output_tokens_std, number("--mock-output-std", output_std_, 0, 1e6));
  ASSAY_TRY(mock.error_rate, number("--mock-error-rate", error_rate_, 0, 1));
  ASSAY_TRY(mock.stall_rate, number("--mock-stall-rate", stall_rate_, 0, 1));
  ASSAY_TRY(mock.disconnect_rate, number("--mock-disconnect-rate", disconnect_rate_, 0, 1));
  ASSAY_TRY(mock.miscount_rate, number("--mock-miscount-rate", miscount_rate_, 0, 1));
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

Result<std::string> ServeOptions::key(const Settings& settings) const {
  if (key_file_.empty()) return settings.api_key;
  ASSAY_TRY(const std::string text, read_file(key_file_, kMostKeyBytes));
  const std::string key(trim(std::string_view(text).substr(0, text.find('\n'))));
  if (key.empty())
    return fail(ErrorCode::invalid_input, "{}: the first line must be the key",
                sanitize(key_file_, 200));
  return key;
}

Result<serve::ServiceOptions> ServeOptions::service(const Settings& settings) const {
  ASSAY_TRY(const std::string secret, key(settings));
  if (secret.empty() && !is_loopback(host_))
    return fail(ErrorCode::invalid_input,
                "--host {} lets other machines ask, and there is no key: give --api-key-file, or "
                "listen on 127.0.0.1",
                sanitize(host_, 80));
  if (model_.empty() || sanitize(model_, 200) != model_)
    return fail(ErrorCode::invalid_input,
                "--model must be 1 to 200 characters without control characters");
  serve::ServiceOptions options;
  options.site.model = model_;
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

Result<double> ServeOptions::drain_seconds() const { return number("--drain", drain_, 0, 86400); }

}  // namespace assay::cli
