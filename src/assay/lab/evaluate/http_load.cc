#include "assay/lab/evaluate/http_load.h"

#include <nlohmann/json.hpp>

#include "assay/base/counted.h"
#include "assay/base/text.h"

namespace assay::lab {
namespace {

std::vector<std::string> words_of(const OpenAiHttp& http, const std::optional<CaseServer>& server,
                                  int pair, const std::filesystem::path& folder) {
  std::vector<std::string> words = {"/proc/self/exe",
                                    "load",
                                    "--json",
                                    "--quiet",
                                    "--output-dir=" + folder.string(),
                                    fmt::format("--seed={}", http.seed + pair)};
  if (http.base_url.empty()) {
    for (const std::string& word : server_command(*server)) words.push_back("--start=" + word);
    words.push_back(fmt::format("--ready-check-timeout-sec={}", server->ready_seconds));
  } else {
    words.push_back("--base-url=" + http.base_url);
  }
  words.insert(words.end(), http.arguments.begin(), http.arguments.end());
  return words;
}

// Why the run is no measurement; empty: it is one.
std::string objection(const OpenAiHttp& http, const Json& record) {
  const Json& requests = record["requests"];
  const auto successful = requests.value("successful", std::int64_t{0});
  const auto errored = requests.value("errored", std::int64_t{0});
  if (successful == 0) return "no request was answered";
  if (http.most_errored && errored > *http.most_errored)
    return fmt::format("{} failed, and at most {} may", counted(errored, "request"),
                       *http.most_errored);
  const auto mismatched = record["tokens"].value("mismatch", std::int64_t{0});
  if (http.exact_tokens && mismatched > 0)
    return fmt::format("{} {} another number of tokens than asked", counted(mismatched, "answer"),
                       mismatched == 1 ? "has" : "have");
  if (http.unlimited_client)
    for (const auto& [part, word] :
         {std::pair("client", "client_limited"), std::pair("delivered", "not_delivered")})
      if (const Json& reasons = record[part]["reasons"]; !reasons.empty())
        return fmt::format("{}: {}", word, reasons.front().get<std::string>());
  return {};
}

// What scores: figures, and counts of requests and tokens.
Json scores_of(const Json& record) {
  Json scores = record["metrics"];
  scores["requests"] = record["requests"];
  scores["tokens"] = record["tokens"];
  scores["duration_s"] = record["duration_s"];
  return scores;
}

bool is_whole(const Json& record) {
  for (const char* key : {"requests", "tokens", "metrics", "client", "delivered"})
    if (!record.contains(key) || !record[key].is_object()) return false;
  return record.contains("duration_s");
}

}  // namespace

Command server_command(const CaseServer& server) {
  if (server.backend == "process") return server.command;
  return {"/proc/self/exe", "serve", "--case=.", "--port={port}"};
}

Result<Measured> run_openai_http(const ProgramRunner& runner, const Benchmark& benchmark,
                                 const std::optional<CaseServer>& server, const Side& side,
                                 int pair, const std::string& label,
                                 const std::filesystem::path& folder) {
  const auto& http = std::get<OpenAiHttp>(benchmark.kind);
  Environment environment = side.environment;
  environment.insert(benchmark.environment.begin(), benchmark.environment.end());
  if (!http.key_env.empty()) {
    ASSAY_TRY(const std::string key, runner.key(http.key_env));
    if (key.empty())
      return fail(ErrorCode::invalid_input, "{}: key_env: {} is not set", benchmark.file,
                  http.key_env);
    environment["OPENAI_API_KEY"] = key;
  }
  environment["ASSAY_WORKSPACE"] = (side.folder / "workspace").string();
  ASSAY_TRY(const ProgramRun run, runner.run(label, words_of(http, server, pair, folder),
                                             side.folder, environment, benchmark.timeout_seconds));
  const auto failed = [&](AttemptOutcome outcome, const std::string& reason) {
    return Measured{Failure{outcome, benchmark.name + ": " + reason}, {}};
  };
  const auto record = last_json_object(run.out);
  // A run that is not what was asked ends with 1, and has its record all the same.
  if (run.failure && (run.exit_code != 1 || !record || !is_whole(*record)))
    return failed(*run.failure, run.reason);
  if (!record || !is_whole(*record))
    return failed(AttemptOutcome::crash, "the load left no record");
  if (const std::string why = objection(http, *record); !why.empty())
    return failed(AttemptOutcome::crash, why);
  auto metrics = flatten(scores_of(*record), benchmark);
  if (!metrics)
    return failed(metrics.error().code == ErrorCode::unsupported ? AttemptOutcome::violation
                                                                 : AttemptOutcome::crash,
                  metrics.error().message);
  return Measured{std::nullopt, std::move(*metrics)};
}

}  // namespace assay::lab
