#include "assay/lab/files/openai_http_fields.h"

#include <algorithm>
#include <array>

#include "assay/base/text.h"
#include "assay/lab/files/form_pieces.h"

namespace assay::lab {
namespace {

using input::YamlField;

// A key of the file and the flag that it becomes.
struct FlagOfKey {
  const char* key;
  const char* flag;
};

constexpr std::array<FlagOfKey, 8> kLoad = {{{"concurrency", "--max-concurrency"},
                                             {"rate", "--request-rate"},
                                             {"arrivals", "--arrivals"},
                                             {"burstiness", "--burstiness"},
                                             {"requests", "--num-prompts"},
                                             {"warmups", "--num-warmups"},
                                             {"duration_s", "--duration"},
                                             {"grace_s", "--grace"}}};
constexpr std::array<FlagOfKey, 8> kDataset = {{{"kind", "--dataset-name"},
                                                {"path", "--dataset-path"},
                                                {"prompt", "--prompt"},
                                                {"input_tokens", "--input-len"},
                                                {"output_tokens", "--output-len"},
                                                {"spread", "--len-spread"},
                                                {"prefix_tokens", "--prefix-len"},
                                                {"prefix_pool", "--prefix-pool"}}};
constexpr std::array<FlagOfKey, 1> kRequest = {{{"temperature", "--temperature"}}};

// as_word().
Form word_form() { return Form::either({Form::text(), Form::number()}); }

// Fields that are handed on as words.
template <std::size_t N>
void add_words(const std::array<FlagOfKey, N>& flags, std::vector<input::FormField>& fields) {
  for (const auto& [key, flag] : flags)
    fields.push_back(
        {key, word_form(), Need::optional, fmt::format("As `assay load` has {}.", flag)});
}

const Form& target_form() {
  static const Form form = Form::fields({{"base_url", filled_text(), Need::required},
                                         {"key_env", Form::text("^([A-Z0-9_]*_API_KEY)?$"),
                                          Need::optional, "The variable that has the key."}});
  return form;
}

const Form& load_form() {
  static const Form form = [] {
    std::vector<input::FormField> fields = {
        {"mode", Form::words({"open", "closed"}), Need::required,
         "An open load has a rate, a closed one a concurrency."}};
    add_words(kLoad, fields);
    fields.push_back({"seed", Form::integer(0, kMostSeed)});
    return Form::fields(std::move(fields));
  }();
  return form;
}

const Form& dataset_form() {
  static const Form form = [] {
    std::vector<input::FormField> fields;
    add_words(kDataset, fields);
    return Form::fields(std::move(fields));
  }();
  return form;
}

const Form& request_form() {
  static const Form form = [] {
    std::vector<input::FormField> fields = {{"stream", Form::truth()},
                                            {"ignore_eos", Form::truth()}};
    add_words(kRequest, fields);
    return Form::fields(std::move(fields));
  }();
  return form;
}

const Form& require_form() {
  static const Form form = Form::fields(
      {{"errored", Form::integer(0), Need::optional, "The most requests that may fail."},
       {"client_limited", Form::truth()},
       {"output_tokens", Form::words({"exact", ""})}});
  return form;
}

Result<std::string> as_word(const YamlField& field) {
  if (const auto text = field.as_string()) return *text;
  if (const auto whole = field.as_int64()) return std::to_string(*whole);
  ASSAY_TRY(const double number, field.as_double());
  return fmt::format("{}", number);
}

template <std::size_t N>
Status add_flags(const YamlField& map, const std::array<FlagOfKey, N>& flags,
                 std::vector<std::string>& words) {
  for (const auto& [key, flag] : flags) {
    ASSAY_TRY(const auto field, map.find(key));
    if (!field) continue;
    ASSAY_TRY(const std::string word, as_word(*field));
    words.push_back(fmt::format("{}={}", flag, word));
  }
  return {};
}

Result<bool> truth_or(const YamlField& map, const char* key, bool otherwise) {
  ASSAY_TRY(const auto field, map.find(key));
  if (!field) return otherwise;
  return field->as_bool();
}

Status read_load(const YamlField& root, OpenAiHttp& http) {
  ASSAY_TRY(const YamlField load, root.at("load"));
  ASSAY_TRY(only(load, load_form()));
  ASSAY_TRY(const YamlField mode, load.at("mode"));
  ASSAY_TRY(const std::string word, mode.as_string());
  if (word != "open" && word != "closed") return fail(mode.error("open or closed"));
  const char* const needed = word == "open" ? "rate" : "concurrency";
  ASSAY_TRY(const YamlField there, load.at(needed));
  static_cast<void>(there);
  ASSAY_TRY(const auto rate, load.find("rate"));
  if (word == "closed" && rate) return fail(rate->error("a closed loop has no rate"));
  ASSAY_TRY(add_flags(load, kLoad, http.arguments));
  ASSAY_TRY(const auto seed, load.find("seed"));
  if (seed) {
    ASSAY_TRY(http.seed, seed->as_int64(0, kMostSeed));
  }
  return {};
}

Status read_dataset(const YamlField& root, OpenAiHttp& http) {
  ASSAY_TRY(const auto dataset, root.find("dataset"));
  if (!dataset) return {};
  ASSAY_TRY(only(*dataset, dataset_form()));
  return add_flags(*dataset, kDataset, http.arguments);
}

Status read_request(const YamlField& root, OpenAiHttp& http) {
  ASSAY_TRY(const auto endpoint, root.find("endpoint"));
  if (endpoint) {
    ASSAY_TRY(const std::string word, endpoint->as_string());
    http.arguments.push_back("--endpoint=" + word);
  }
  ASSAY_TRY(const auto request, root.find("request"));
  if (!request) return {};
  ASSAY_TRY(only(*request, request_form()));
  ASSAY_TRY(const bool streams, truth_or(*request, "stream", true));
  ASSAY_TRY(const bool ignores, truth_or(*request, "ignore_eos", false));
  if (!streams) http.arguments.emplace_back("--no-stream");
  if (ignores) http.arguments.emplace_back("--ignore-eos");
  return add_flags(*request, kRequest, http.arguments);
}

// A case is a file of others: it may have a key, and no other of its user's secrets.
Status read_key(const YamlField& target, OpenAiHttp& http) {
  ASSAY_TRY(http.key_env, text_or(target, "key_env", ""));
  const bool named =
      http.key_env.ends_with("_API_KEY") && std::ranges::all_of(http.key_env, [](char c) {
        return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
      });
  if (!http.key_env.empty() && !named)
    return fail(target.error("key_env: the name of a variable that ends in _API_KEY"));
  return {};
}

Status read_target(const YamlField& root, OpenAiHttp& http) {
  ASSAY_TRY(const YamlField target, root.at("target"));
  if (target.kind() == YamlField::Kind::map) {
    ASSAY_TRY(only(target, target_form()));
    ASSAY_TRY(http.base_url, text_at(target, "base_url"));
    return read_key(target, http);
  }
  ASSAY_TRY(const std::string word, target.as_string());
  if (word != "case") return fail(target.error("expected case, or {base_url: URL}"));
  return {};
}

Status read_require(const YamlField& root, OpenAiHttp& http) {
  ASSAY_TRY(const auto require, root.find("require"));
  if (!require) return {};
  ASSAY_TRY(only(*require, require_form()));
  ASSAY_TRY(const auto errored, require->find("errored"));
  if (errored) {
    ASSAY_TRY(http.most_errored, errored->as_int64(0));
  }
  ASSAY_TRY(const bool limited, truth_or(*require, "client_limited", true));
  http.unlimited_client = !limited;
  ASSAY_TRY(const std::string tokens, text_or(*require, "output_tokens", ""));
  if (!tokens.empty() && tokens != "exact")
    return fail(require->error("output_tokens: exact is all that can be required"));
  http.exact_tokens = tokens == "exact";
  return {};
}

}  // namespace

std::vector<input::FormField> openai_http_fields() {
  return {{"target", Form::either({Form::words({"case"}), target_form()}), Need::required,
           "The case's own server, or one that runs elsewhere."},
          {"endpoint", Form::text(), Need::optional, "As `assay load` has --endpoint."},
          {"load", load_form(), Need::required},
          {"dataset", dataset_form()},
          {"request", request_form()},
          {"require", require_form()},
          {"restart", Form::words({"per_pair"})}};
}

Result<OpenAiHttp> read_openai_http(const YamlField& root) {
  OpenAiHttp http;
  ASSAY_TRY(read_target(root, http));
  ASSAY_TRY(read_load(root, http));
  ASSAY_TRY(read_dataset(root, http));
  ASSAY_TRY(read_request(root, http));
  ASSAY_TRY(read_require(root, http));
  ASSAY_TRY(const std::string restart, text_or(root, "restart", "per_pair"));
  if (restart != "per_pair") return fail(root.error("restart: per_pair is all that there is"));
  return http;
}

}  // namespace assay::lab
