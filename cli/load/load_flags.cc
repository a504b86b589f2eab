#include "cli/load/load_flags.h"

#include <cmath>
#include <limits>
#include <memory>

#include <fmt/format.h>

#include "assay/base/file.h"
#include "assay/base/json.h"
#include "assay/base/text.h"
#include "assay/base/ulid.h"
#include "assay/text/tokenizer.h"
#include "cli/flags/number.h"
#include "cli/flags/quantities.h"
#include "cli/own_environment.h"

namespace assay::cli {
namespace {

constexpr int kMostWhole = std::numeric_limits<int>::max();
constexpr std::size_t kMostKeyFileBytes = 4096;
constexpr double kMostSeconds = 30 * 86400.0;
constexpr int kFewestRequests = 100;  // Where nothing says how many.

Result<double> read_seconds(const std::string& text, const std::string& flag) {
  if (text == "0") return 0;
  ASSAY_TRY(const double seconds, parse_seconds(text, flag));
  if (seconds > kMostSeconds)
    return fail(ErrorCode::invalid_input, "{} {}: give 0 to 30 days", flag, sanitize(text, 40));
  return seconds;
}

Result<double> read_share(const std::string& text, const std::string& flag) {
  if (text == "0") return 0;
  return parse_fraction(text, flag);
}

bool names_secret(std::string_view header) {
  const std::string name = net::lower_case(header);
  return name == "authorization" || name == "proxy-authorization" || name == "cookie";
}

}  // namespace

void LoadFlags::declare(Flags& app, const LoadFlagChoice& choice) {
  if (choice.base_url) {
    app.add_option("--base-url", base_url_, "Where the server is: http://127.0.0.1:8000")
        .type_name("URL");
    app.add_option("--host", host_, "Or its host alone, by http (default: 127.0.0.1)")
        .type_name("HOST");
    app.add_option("--port", port_, "Or its port alone (default: 8000)").range(1, 65535);
  }
  app.add_option("--model", model_, "The model to ask for (default: the only one there)")
      .type_name("NAME");
  app.add_option("--served-model-name", served_model_, "What requests call it, if not --model")
      .type_name("NAME");
  app.set_group(FlagGroup::problem);
  declare_data(app);
  app.set_group(FlagGroup::measuring);
  if (choice.sends) declare_sends(app);
  app.add_option("--num-warmups,--warmup-request-count", warmups_, "Requests before, not counted")
      .range(0, kMostWhole)
      .show_default();
  app.add_option("--seed", seed_, "Seed of prompts and arrivals")
      .range(0, kMostWhole)
      .show_default();
  app.add_option("--goodput", goodput_,
                 "What a good request keeps, in ms: ttft:200 tpot:20 e2el:3000")
      .type_name("NAME:MS");
  app.set_group(FlagGroup::more);
  declare_requests(app);
}

void LoadFlags::declare_data(Flags& app) {
  app.add_option("--dataset-name", dataset_,
                 "random: words; fixed: --prompt; jsonl: prompts, messages or turns, a line each; "
                 "trace: timestamps and lengths")
      .one_of({"random", "fixed", "jsonl", "trace"})
      .show_default();
  app.add_option("--dataset-path", dataset_path_, "The file of jsonl or trace").type_name("FILE");
  app.add_option("--prompt", prompt_, "The prompt of every request of `fixed`").type_name("TEXT");
  app.add_option("--input-len,--isl", input_, "Tokens of a prompt")
      .range(1, 1 << 24)
      .show_default();
  app.add_option("--input-len-std,--isl-stddev", input_std_, "Their standard deviation")
      .type_name("TOKENS");
  app.add_option("--output-len,--osl", output_, "Tokens of an answer, at most")
      .range(1, 1 << 24)
      .show_default();
  app.add_option("--output-len-std,--osl-stddev", output_std_, "Their standard deviation")
      .type_name("TOKENS");
  app.add_option("--len-spread", spread_, "Both lengths uniform within this share: 0.2 or 20%")
      .type_name("SHARE");
  app.add_option("--tokenizer", tokenizer_,
                 "The model's tokenizer.json or GGUF file, which counts prompts (default: the "
                 "server's /tokenize), and answers that come without usage")
      .type_name("FILE");
  app.add_option("--prefix-len", prefix_, "Tokens at each prompt's begin that others share")
      .range(0, 1 << 24)
      .show_default();
  app.add_option("--prefix-pool", prefix_pool_, "How many different such beginnings there are")
      .range(1, 100000)
      .show_default();
  app.add_option("--replay-speed", replay_speed_, "A trace's times divided by it")
      .type_name("FACTOR");
}

void LoadFlags::declare_sends(Flags& app) {
  app.add_option("--request-rate", rate_, "Requests per second, whatever the server does; or inf")
      .type_name("RATE");
  app.add_option("--max-concurrency,--concurrency", concurrency_,
                 "Requests at a time; with --request-rate, at most")
      .range(1, 1 << 16);
  app.add_option("--arrivals", arrivals_, "The law of the gaps between requests")
      .one_of({"constant", "poisson", "gamma"})
      .show_default();
  app.add_option("--burstiness", burstiness_, "Shape of gamma: below 1 bursty, above 1 smoother")
      .type_name("SHAPE");
  app.add_option("--ramp-to", ramp_to_, "The rate at the ramp's end").type_name("RATE");
  app.add_option("--ramp-seconds", ramp_seconds_, "How long the rate changes").type_name("SECONDS");
  app.add_option("--ramp", ramp_shape_, "How it changes")
      .one_of({"linear", "exponential"})
      .show_default();
  app.add_option("--num-prompts,--request-count", requests_,
                 "Requests in all (default: 100, or as many as --duration has)")
      .range(1, kMostWhole);
  app.add_option("--duration,--benchmark-duration", duration_, "Nothing is sent after so long")
      .type_name("SECONDS");
  app.add_option("--grace", grace_, "For answers that are under way at the duration's end")
      .type_name("SECONDS")
      .show_default();
}

void LoadFlags::declare_requests(Flags& app) {
  app.add_option("--endpoint", endpoint_, "Which of the server's interfaces")
      .one_of({"chat", "completions"})
      .show_default();
  app.add_flag("--no-stream", no_stream_, "Ask for whole answers");
  app.add_flag("--ignore-eos", ignore_eos_, "Ask for exactly as many tokens as --output-len");
  app.add_option("--temperature", temperature_, "Of sampling").type_name("T");
  app.add_option("--extra-body", extra_body_, "An object whose members every request gets")
      .type_name("JSON");
  app.add_option("--header", headers_, "A header of every request; its value is never recorded")
      .type_name("NAME=VALUE")
      .several_words(false);
  app.add_option("--api-key-file", key_file_, "First line: the key (default: OPENAI_API_KEY)")
      .type_name("FILE");
  app.add_option("--ca-file", ca_file_, "Whom to trust for https (default: the system's)")
      .type_name("FILE");
  app.add_option("--request-timeout", timeout_, "Longest wait for a whole answer")
      .type_name("SECONDS")
      .show_default();
  app.add_option("--retry", retries_,
                 "How often a request is sent again that is answered with 429 or 503")
      .range(0, 1000)
      .show_default();
  app.add_option("--cancellation-rate", cancellation_rate_, "Share of requests that are given up")
      .type_name("SHARE");
  app.add_option("--cancellation-delay", cancellation_delay_, "How long after they were sent")
      .type_name("SECONDS");
  app.add_option("--ready-check-timeout-sec", ready_, "How long to wait until the server is ready")
      .type_name("SECONDS")
      .show_default();
}

Result<std::string> LoadFlags::key() const {
  if (key_file_.empty()) return key_variable("OPENAI_API_KEY");
  ASSAY_TRY(const std::string text, read_file(key_file_, kMostKeyFileBytes));
  const std::string key(trim(std::string_view(text).substr(0, text.find('\n'))));
  if (key.empty())
    return fail(ErrorCode::invalid_input, "{}: the first line must be the key",
                sanitize(key_file_, 200));
  return key;
}

Result<std::string> LoadFlags::base_url() const {
  if (host_.empty() && port_ == 0) return base_url_;
  if (!base_url_.empty())
    return fail(ErrorCode::invalid_input,
                "--base-url says host and port: leave --host and --port out");
  const std::string host = host_.empty() ? "127.0.0.1" : host_;
  const bool is_ipv6 = host.find(':') != std::string::npos && !host.starts_with('[');
  return fmt::format("http://{}:{}", is_ipv6 ? "[" + host + "]" : host, port_ == 0 ? 8000 : port_);
}

Status LoadFlags::read_shape(load::RequestShape& shape) const {
  shape.model = served_model_.empty() ? model_ : served_model_;
  shape.chat = endpoint_ == "chat";
  shape.stream = !no_stream_;
  shape.ignore_eos = ignore_eos_;
  if (!temperature_.empty()) {
    ASSAY_TRY(shape.temperature, parse_number(temperature_, "--temperature", 0, 100));
  }
  if (!extra_body_.empty()) {
    ASSAY_TRY(shape.extra, parse_json(extra_body_, "--extra-body"));
    if (!shape.extra.is_object())
      return fail(ErrorCode::invalid_input, "--extra-body: an object was expected");
  }
  for (const std::string& header : headers_) {
    const std::size_t equals = header.find('=');
    const std::string name = header.substr(0, equals);
    if (equals == std::string::npos || !net::is_token(name))
      return fail(ErrorCode::invalid_input, "--header: write NAME=VALUE");
    if (names_secret(name))
      return fail(ErrorCode::invalid_input,
                  "--header {}: other users see command lines; give --api-key-file", name);
    shape.headers.push_back({name, header.substr(equals + 1)});
  }
  ASSAY_TRY(shape.api_key, key());
  return {};
}

Result<load::ArrivalPlan> LoadFlags::arrivals() const {
  load::ArrivalPlan plan;
  if (rate_ == "inf") {
    plan.rate = std::numeric_limits<double>::infinity();
  } else {
    ASSAY_TRY(plan.rate, parse_number(rate_, "--request-rate", 1e-6, 1e7));
  }
  plan.law = arrivals_ == "constant" ? load::Law::constant
             : arrivals_ == "gamma"  ? load::Law::gamma
                                     : load::Law::poisson;
  ASSAY_TRY(plan.burstiness, parse_number(burstiness_, "--burstiness", 1e-3, 1e6));
  // As vLLM has it: another burstiness than 1 means the gamma law.
  if (plan.burstiness != 1 && plan.law == load::Law::poisson) plan.law = load::Law::gamma;
  if (!ramp_to_.empty()) {
    load::Ramp ramp;
    ASSAY_TRY(ramp.to_rate, parse_number(ramp_to_, "--ramp-to", 1e-6, 1e7));
    ASSAY_TRY(ramp.seconds, read_seconds(ramp_seconds_, "--ramp-seconds"));
    if (ramp.seconds <= 0 || !std::isfinite(plan.rate))
      return fail(ErrorCode::invalid_input,
                  "--ramp-to needs --request-rate to begin with and --ramp-seconds to take");
    ramp.exponential = ramp_shape_ == "exponential";
    plan.ramp = ramp;
  }
  return plan;
}

Status LoadFlags::read_sends(load::LoadPlan& plan) const {
  plan.replays_trace = dataset_ == "trace" && rate_.empty() && concurrency_ == 0;
  if (!rate_.empty()) {
    ASSAY_TRY(plan.arrivals, arrivals());
  } else if (!ramp_to_.empty()) {
    return fail(ErrorCode::invalid_input, "--ramp-to needs --request-rate to begin with");
  }
  plan.concurrency = concurrency_;
  if (!plan.is_open() && plan.concurrency == 0) plan.concurrency = 1;
  plan.requests = requests_;
  ASSAY_TRY(plan.duration_s, read_seconds(duration_, "--duration"));
  ASSAY_TRY(plan.grace_s, read_seconds(grace_, "--grace"));
  if (plan.arrivals && std::isinf(plan.arrivals->rate) && plan.requests == 0 && plan.duration_s > 0)
    return fail(ErrorCode::invalid_input,
                "--request-rate inf sends all at once: say how many with --num-prompts");
  if (plan.requests == 0 && plan.duration_s == 0 && !plan.replays_trace)
    plan.requests = kFewestRequests;
  return {};
}

Result<load::LoadPlan> LoadFlags::plan(Context& context, const std::string& base_url,
                                       const load::MayGetReady& may_get_ready) const {
  if (base_url.empty())
    return fail(ErrorCode::invalid_input,
                "which server? Give --base-url, such as http://127.0.0.1:8000");
  load::LoadPlan plan;
  ASSAY_TRY(plan.server, net::parse_url(base_url));
  plan.ca_file = ca_file_;
  ASSAY_TRY(read_shape(plan.shape));
  ASSAY_TRY(read_sends(plan));
  plan.warmups = warmups_;
  plan.seed = static_cast<std::uint64_t>(seed_);
  ASSAY_TRY(plan.timeout_s, read_seconds(timeout_, "--request-timeout"));
  ASSAY_TRY(plan.cancellation_rate, read_share(cancellation_rate_, "--cancellation-rate"));
  ASSAY_TRY(plan.cancellation_delay_s, read_seconds(cancellation_delay_, "--cancellation-delay"));
  plan.retries = retries_;
  if (plan.timeout_s <= 0)
    return fail(ErrorCode::invalid_input, "--request-timeout must be above 0");
  ASSAY_TRY(const std::string ulid, make_ulid());
  plan.run_id = ulid;
  ASSAY_TRY(const double ready, read_seconds(ready_, "--ready-check-timeout-sec"));
  // Some servers have neither of the two places that are looked at: then the first connection
  // tells.
  if (ready > 0) ASSAY_TRY(load::await_ready(plan, ready, context.cancel_fd, may_get_ready));
  if (plan.shape.model.empty()) {
    auto model = load::only_model(plan, context.cancel_fd);
    if (!model && model.error().code == ErrorCode::failed)
      return fail(ErrorCode::unsupported, "the server is not ready: {}", model.error().message);
    ASSAY_TRY(plan.shape.model, std::move(model));
  }
  return plan;
}

Result<load::TokenCount> LoadFlags::token_count() const {
  if (tokenizer_.empty()) return load::TokenCount();
  ASSAY_TRY(auto loaded, text::Tokenizer::load(tokenizer_));
  const auto tokenizer = std::make_shared<const text::Tokenizer>(std::move(loaded));
  return [tokenizer](const std::string& text) -> Result<std::int64_t> {
    ASSAY_TRY(const std::vector<int> ids, tokenizer->encode(text));
    return static_cast<std::int64_t>(ids.size());
  };
}

Result<load::WordText> LoadFlags::word_text(Context& context, const load::LoadPlan& plan) const {
  ASSAY_TRY(const load::TokenCount own, token_count());
  if (own) return load::WordText::counted(own, sanitize(tokenizer_, 200));
  auto counted = load::WordText::counted(load::server_tokenizer(plan, context.cancel_fd),
                                         "the server's /tokenize");
  if (counted || counted.error().code == ErrorCode::interrupted) return counted;
  context.console.note(fmt::format("prompts are counted in words, as the server does not count: {}",
                                   counted.error().message));
  return load::WordText();
}

Result<std::unique_ptr<load::Dataset>> LoadFlags::dataset(Context& context,
                                                          const load::LoadPlan& plan,
                                                          std::uint64_t seed) const {
  const bool has_file = dataset_ == "jsonl" || dataset_ == "trace";
  if (has_file == dataset_path_.empty())
    return fail(ErrorCode::invalid_input, "--dataset-path is the file of jsonl and trace alone");
  if (dataset_ == "fixed") return load::fixed_dataset(prompt_, output_);
  if (dataset_ == "jsonl") return load::jsonl_dataset(dataset_path_, output_);
  ASSAY_TRY(load::WordText text, word_text(context, plan));
  if (dataset_ == "trace") {
    ASSAY_TRY(const double speed, parse_number(replay_speed_, "--replay-speed", 1e-3, 1e6));
    return load::trace_dataset(dataset_path_, speed, std::move(text), seed);
  }
  load::RandomOptions options;
  ASSAY_TRY(const double spread, read_share(spread_, "--len-spread"));
  ASSAY_TRY(const double input_std, parse_number(input_std_, "--input-len-std", 0, 1e7));
  ASSAY_TRY(const double output_std, parse_number(output_std_, "--output-len-std", 0, 1e7));
  if (spread > 0 && input_std + output_std > 0)
    return fail(ErrorCode::invalid_input,
                "--len-spread and a standard deviation are two laws: give one of them");
  options.input = {static_cast<double>(input_), input_std, spread};
  options.output = {static_cast<double>(output_), output_std, spread};
  options.prefix_tokens = prefix_;
  options.prefix_pool = prefix_pool_;
  return load::random_dataset(options, std::move(text), seed);
}

Result<std::vector<load::Objective>> LoadFlags::objectives() const {
  std::vector<load::Objective> objectives;
  for (const std::string& text : goodput_) {
    ASSAY_TRY(load::Objective objective, load::parse_objective(text));
    objectives.push_back(std::move(objective));
  }
  return objectives;
}

}  // namespace assay::cli
