// Reads the tokenizer that a GGUF file of a model carries. The file names how texts are split, and
// says nothing else of it: the names that are known here stand for what the models' own
// tokenizer.json says.

#include <array>

#include <fmt/format.h>

#include "assay/base/file.h"
#include "assay/base/text.h"
#include "assay/text/gguf.h"
#include "assay/text/gpt2_pattern.h"
#include "assay/text/tokenizer.h"

namespace assay::text {
namespace {

constexpr std::string_view kLlama3Pattern =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view kQwen2Pattern =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view kDigit = R"(\p{N})";

struct Named {
  std::string_view name;
  std::array<std::string_view, 2> patterns;  // The second may be empty.
  bool compose = false, ignore_merges = false, begins = false;
};
constexpr std::array<Named, 8> kNamed = {{
    {"gpt-2", {kGpt2Pattern, ""}},
    {"llama-bpe", {kLlama3Pattern, ""}, false, true, true},
    {"llama3", {kLlama3Pattern, ""}, false, true, true},
    {"qwen2", {kQwen2Pattern, ""}, true},
    {"smollm", {kDigit, kGpt2Pattern}},
    {"starcoder", {kDigit, kGpt2Pattern}},
    {"refact", {kDigit, kGpt2Pattern}},
    {"command-r", {kDigit, kGpt2Pattern}},
}};

// As GGUF numbers them.
constexpr std::int64_t kUnknownToken = 2, kControlToken = 3, kUserToken = 4;

using Values = std::map<std::string, GgufValue>;

class TokenizerReader {
 public:
  TokenizerReader(const Values& values, std::string_view origin)
      : values_(values), origin_(origin) {}

  Result<TokenizerParts> run() {
    ASSAY_TRY(const auto* model, need<std::string>("model"));
    if (*model != "gpt2")
      return wrong(
          fmt::format("the tokenizer '{}' is not supported: gpt2, byte-pair encoding of "
                      "bytes, is",
                      sanitize(*model, 80)));
    ASSAY_TRY(read_split());
    ASSAY_TRY(read_tokens());
    ASSAY_TRY(read_merges());
    ASSAY_TRY(read_ends());
    return std::move(parts_);
  }

 private:
  tl::unexpected<Error> wrong(std::string_view what) const {
    return fail(ErrorCode::invalid_input, "{}: {}", sanitize(origin_, 200), what);
  }

  template <class T>
  const T* find(std::string_view key) const {
    const auto found = values_.find(fmt::format("tokenizer.ggml.{}", key));
    return found == values_.end() ? nullptr : std::get_if<T>(&found->second);
  }
  template <class T>
  Result<const T*> need(std::string_view key) const {
    const T* found = find<T>(key);
    if (found == nullptr) return wrong(fmt::format("it has no tokenizer.ggml.{}", key));
    return found;
  }

  Status read_split() {
    ASSAY_TRY(const auto* name, need<std::string>("pre"));
    std::vector<std::string> known;
    for (const Named& named : kNamed) {
      known.emplace_back(named.name);
      if (*name != named.name) continue;
      for (const std::string_view pattern : named.patterns) {
        if (pattern.empty()) continue;
        ASSAY_TRY(Pattern compiled, Pattern::compile(pattern));
        parts_.splitters.push_back({.pattern = std::move(compiled)});
      }
      parts_.compose = named.compose;
      parts_.bpe.ignore_merges = named.ignore_merges;
      begins_ = named.begins;
      return {};
    }
    return wrong(fmt::format("the pre-tokenizer '{}' is not supported: {} are", sanitize(*name, 80),
                             join(known, ", ")));
  }

  Status read_tokens() {
    ASSAY_TRY(const auto* tokens, need<std::vector<std::string>>("tokens"));
    ASSAY_TRY(const auto* types, need<std::vector<std::int64_t>>("token_type"));
    if (tokens->size() != types->size())
      return wrong(fmt::format("it has {} tokens, and types of {}", tokens->size(), types->size()));
    for (std::size_t i = 0; i < tokens->size(); ++i) {
      const std::int64_t type = (*types)[i];
      parts_.bpe.vocabulary.emplace_back((*tokens)[i], static_cast<int>(i));
      if (type == kControlToken || type == kUnknownToken || type == kUserToken)
        parts_.added.push_back(
            {.id = static_cast<int>(i), .content = (*tokens)[i], .special = type != kUserToken});
    }
    return {};
  }

  Status read_merges() {
    ASSAY_TRY(const auto* merges, need<std::vector<std::string>>("merges"));
    for (const std::string& merge : *merges) {
      const std::size_t blank = merge.find(' ', 1);
      if (merge.empty() || blank == std::string::npos)
        return wrong(fmt::format("the merge '{}' is no pair", sanitize(merge, 80)));
      parts_.bpe.merges.emplace_back(merge.substr(0, blank), merge.substr(blank + 1));
    }
    return {};
  }

  Status read_ends() {
    const auto add = [&](std::string_view wanted, std::string_view id, bool otherwise,
                         std::vector<int>& ids) -> Status {
      const bool* asked = find<bool>(wanted);
      if (!(asked != nullptr ? *asked : otherwise)) return {};
      ASSAY_TRY(const auto* found, need<std::int64_t>(id));
      if (*found < 0 || *found > INT32_MAX) return wrong(fmt::format("{} is no token", id));
      ids.push_back(static_cast<int>(*found));
      return {};
    };
    ASSAY_TRY(add("add_bos_token", "bos_token_id", begins_, parts_.before));
    return add("add_eos_token", "eos_token_id", false, parts_.after);
  }

  const Values& values_;
  std::string_view origin_;
  TokenizerParts parts_;
  bool begins_ = false;
};

}  // namespace

Result<Tokenizer> Tokenizer::from_gguf(std::string_view bytes, std::string_view origin) {
  ASSAY_TRY(const Values values, read_gguf(bytes, origin));
  ASSAY_TRY(TokenizerParts parts, TokenizerReader(values, origin).run());
  auto tokenizer = create(std::move(parts));
  if (!tokenizer) return fail(with_context(tokenizer.error(), sanitize(origin, 200)));
  return tokenizer;
}

}  // namespace assay::text
