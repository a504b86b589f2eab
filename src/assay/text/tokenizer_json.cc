// Reads tokenizer.json, the format of Hugging Face's tokenizers.

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "assay/base/json.h"
#include "assay/base/text.h"
#include "assay/text/gpt2_pattern.h"
#include "assay/text/tokenizer.h"

namespace assay::text {
namespace {

Error unknown(const JsonField& field, std::string_view what, std::string_view name,
              std::string_view known) {
  return field.error(ErrorCode::invalid_input,
                     fmt::format("the {} '{}' is not supported: {} can be had here", what,
                                 sanitize(name, 80), known));
}

Result<std::string> type_of(const JsonField& field) {
  ASSAY_TRY(field.expect_object());
  ASSAY_TRY(const JsonField type, field.at("type"));
  return type.as_string();
}

std::optional<JsonField> present(const JsonField& field, std::string_view key) {
  const auto found = field.find(key);
  return found && !found->is_null() ? found : std::nullopt;
}

Result<bool> flag(const JsonField& field, std::string_view key, bool otherwise) {
  const auto found = present(field, key);
  return found ? found->as_bool() : Result<bool>(otherwise);
}

// `what` that stands alone, or the parts of a Sequence of them, in order.
Result<std::vector<JsonField>> sequence_of(const JsonField& field, std::string_view parts) {
  ASSAY_TRY(const std::string type, type_of(field));
  if (type != "Sequence") return std::vector<JsonField>{field};
  ASSAY_TRY(const JsonField list, field.at(parts));
  ASSAY_TRY(const std::vector<JsonField> items, list.items());
  std::vector<JsonField> all;
  for (const JsonField& item : items) {
    ASSAY_TRY(std::vector<JsonField> inner, sequence_of(item, parts));
    all.insert(all.end(), inner.begin(), inner.end());
  }
  return all;
}

Status read_normalizer(const JsonField& field, TokenizerParts& parts) {
  ASSAY_TRY(const std::vector<JsonField> steps, sequence_of(field, "normalizers"));
  for (const JsonField& step : steps) {
    ASSAY_TRY(const std::string type, type_of(step));
    if (type != "NFC") return fail(unknown(step, "normalizer", type, "NFC, and a Sequence of it,"));
    parts.compose = true;
  }
  return {};
}

Result<SplitBehavior> behavior_of(const JsonField& field) {
  constexpr std::array<std::pair<std::string_view, SplitBehavior>, 5> kBehaviors = {
      {{"Removed", SplitBehavior::removed},
       {"Isolated", SplitBehavior::isolated},
       {"MergedWithPrevious", SplitBehavior::merged_with_previous},
       {"MergedWithNext", SplitBehavior::merged_with_next},
       {"Contiguous", SplitBehavior::contiguous}}};
  ASSAY_TRY(const std::string name, field.as_string());
  for (const auto& [known, behavior] : kBehaviors)
    if (name == known) return behavior;
  return fail(unknown(field, "behavior", name,
                      "Removed, Isolated, MergedWithPrevious, MergedWithNext and Contiguous"));
}

Result<Splitter> read_split(const JsonField& field) {
  ASSAY_TRY(field.only_keys({"type", "pattern", "behavior", "invert"}));
  ASSAY_TRY(const JsonField pattern, field.at("pattern"));
  ASSAY_TRY(pattern.only_keys({"Regex", "String"}));
  const auto literal = pattern.find("String");
  ASSAY_TRY(const JsonField written, literal ? Result<JsonField>(*literal) : pattern.at("Regex"));
  ASSAY_TRY(const std::string text, written.as_string());
  auto compiled = literal ? Pattern::literal(text) : Pattern::compile(text);
  if (!compiled) return fail(written.error(ErrorCode::invalid_input, compiled.error().message));
  Splitter splitter{.pattern = std::move(*compiled)};
  ASSAY_TRY(const JsonField behavior, field.at("behavior"));
  ASSAY_TRY(splitter.behavior, behavior_of(behavior));
  ASSAY_TRY(splitter.invert, flag(field, "invert", false));
  return splitter;
}

Result<Splitter> read_digits(const JsonField& field) {
  ASSAY_TRY(field.only_keys({"type", "individual_digits"}));
  ASSAY_TRY(const bool each, flag(field, "individual_digits", false));
  ASSAY_TRY(Pattern pattern, Pattern::compile(each ? R"(\p{N})" : R"(\p{N}+)"));
  return Splitter{.pattern = std::move(pattern)};
}

Result<Splitter> read_byte_level(const JsonField& field) {
  ASSAY_TRY(field.only_keys({"type", "add_prefix_space", "trim_offsets", "use_regex"}));
  ASSAY_TRY(Pattern pattern, Pattern::compile(kGpt2Pattern));
  Splitter splitter{.pattern = std::move(pattern)};
  ASSAY_TRY(splitter.prefix_blank, flag(field, "add_prefix_space", true));
  ASSAY_TRY(splitter.split, flag(field, "use_regex", true));
  return splitter;
}

Status read_pre_tokenizer(const JsonField& field, TokenizerParts& parts) {
  ASSAY_TRY(const std::vector<JsonField> steps, sequence_of(field, "pretokenizers"));
  for (const JsonField& step : steps) {
    ASSAY_TRY(const std::string type, type_of(step));
    if (parts.bpe.bytes)
      return fail(step.error(ErrorCode::invalid_input,
                             "nothing can follow ByteLevel here: what "
                             "follows would split characters that stand for bytes"));
    const bool known = type == "Split" || type == "Digits" || type == "ByteLevel";
    if (!known)
      return fail(unknown(step, "pre-tokenizer", type, "Split, ByteLevel, Digits and Sequence"));
    ASSAY_TRY(Splitter splitter, type == "Split"    ? read_split(step)
                                 : type == "Digits" ? read_digits(step)
                                                    : read_byte_level(step));
    parts.splitters.push_back(std::move(splitter));
    parts.bpe.bytes = type == "ByteLevel";
  }
  return {};
}

Status read_decoder(const JsonField& field, TokenizerParts& parts) {
  ASSAY_TRY(const std::vector<JsonField> steps, sequence_of(field, "decoders"));
  for (const JsonField& step : steps) {
    ASSAY_TRY(const std::string type, type_of(step));
    if (type == "ByteLevel" && steps.size() == 1) {
      parts.decoding = Decoding::bytes;
      return {};
    }
    if (type != "ByteFallback" && type != "Fuse")
      return fail(unknown(step, "decoder", type, "ByteLevel, and ByteFallback with Fuse,"));
    parts.decoding = Decoding::byte_fallback;
  }
  return {};
}

Result<int> id_of(const JsonField& field) {
  ASSAY_TRY(const std::int64_t id, field.as_int64(0, INT32_MAX));
  return static_cast<int>(id);
}

Status read_template(const JsonField& field, TokenizerParts& parts) {
  ASSAY_TRY(const JsonField single, field.at("single"));
  ASSAY_TRY(const std::vector<JsonField> steps, single.items());
  bool after = false;
  for (const JsonField& step : steps) {
    if (step.find("Sequence")) {
      if (std::exchange(after, true))
        return fail(step.error(ErrorCode::invalid_input, "the text stands in a template once"));
      continue;
    }
    ASSAY_TRY(const JsonField token, step.at("SpecialToken"));
    ASSAY_TRY(const JsonField name_field, token.at("id"));
    ASSAY_TRY(const std::string name, name_field.as_string());
    ASSAY_TRY(const JsonField tokens, field.at("special_tokens"));
    ASSAY_TRY(const JsonField special, tokens.at(name));
    ASSAY_TRY(const JsonField ids, special.at("ids"));
    ASSAY_TRY(const std::vector<JsonField> items, ids.items());
    for (const JsonField& item : items) {
      ASSAY_TRY(const int id, id_of(item));
      (after ? parts.after : parts.before).push_back(id);
    }
  }
  return {};
}

Status read_post_processor(const JsonField& field, TokenizerParts& parts) {
  ASSAY_TRY(const std::vector<JsonField> steps, sequence_of(field, "processors"));
  for (const JsonField& step : steps) {
    ASSAY_TRY(const std::string type, type_of(step));
    if (type == "ByteLevel") continue;  // Of offsets, which nobody asks for here.
    if (type != "TemplateProcessing")
      return fail(unknown(step, "post-processor", type, "ByteLevel and TemplateProcessing"));
    ASSAY_TRY(read_template(step, parts));
  }
  return {};
}

Status read_merges(const JsonField& model, BpeParts& bpe) {
  ASSAY_TRY(const JsonField merges, model.at("merges"));
  if (!merges.json().is_array())
    return fail(merges.error(ErrorCode::invalid_input, "must be a list of pairs"));
  for (const Json& merge : merges.json()) {
    if (merge.is_string()) {
      const auto& text = merge.get_ref<const std::string&>();
      const std::size_t blank = text.find(' ');
      if (blank != std::string::npos && text.find(' ', blank + 1) == std::string::npos) {
        bpe.merges.emplace_back(text.substr(0, blank), text.substr(blank + 1));
        continue;
      }
    } else if (merge.is_array() && merge.size() == 2 && merge[0].is_string() &&
               merge[1].is_string()) {
      bpe.merges.emplace_back(merge[0].get<std::string>(), merge[1].get<std::string>());
      continue;
    }
    return fail(merges.error(ErrorCode::invalid_input,
                             fmt::format("merge {} is no pair: write \"a b\" or [\"a\", \"b\"]",
                                         bpe.merges.size() + 1)));
  }
  return {};
}

// Those that change what a word becomes, and that nobody asks for in models of bytes.
Status refuse_model_options(const JsonField& model) {
  for (const char* name : {"continuing_subword_prefix", "end_of_word_suffix"}) {
    const auto found = present(model, name);
    if (found && found->json() != "")
      return fail(found->error(ErrorCode::invalid_input, "is not supported"));
  }
  const auto dropout = present(model, "dropout");
  if (dropout && dropout->json() != 0.0)
    return fail(dropout->error(ErrorCode::invalid_input, "is for training, and not supported"));
  return {};
}

Status read_model(const JsonField& model, TokenizerParts& parts) {
  ASSAY_TRY(model.expect_object());
  if (const auto type = present(model, "type"); type && type->json() != "BPE")
    return fail(unknown(*type, "model",
                        type->json().is_string() ? type->json().get<std::string>() : "?", "BPE"));
  ASSAY_TRY(model.only_keys({"type", "dropout", "unk_token", "continuing_subword_prefix",
                             "end_of_word_suffix", "fuse_unk", "byte_fallback", "ignore_merges",
                             "vocab", "merges"}));
  ASSAY_TRY(refuse_model_options(model));
  BpeParts& bpe = parts.bpe;
  ASSAY_TRY(bpe.byte_fallback, flag(model, "byte_fallback", false));
  ASSAY_TRY(bpe.ignore_merges, flag(model, "ignore_merges", false));
  ASSAY_TRY(bpe.fuse_unknown, flag(model, "fuse_unk", false));
  if (const auto name = present(model, "unk_token")) {
    ASSAY_TRY(bpe.unknown, name->as_string());
  }
  ASSAY_TRY(const JsonField vocab, model.at("vocab"));
  ASSAY_TRY(vocab.expect_object());
  for (const auto& [text, id] : vocab.json().items()) {
    if (!id.is_number_unsigned() || id.get<std::uint64_t>() > INT32_MAX)
      return fail(
          vocab.error(ErrorCode::invalid_input,
                      fmt::format("the id of '{}' must be a number from 0", sanitize(text, 80))));
    bpe.vocabulary.emplace_back(text, id.get<int>());
  }
  return read_merges(model, bpe);
}

Status read_added(const JsonField& list, TokenizerParts& parts) {
  ASSAY_TRY(const std::vector<JsonField> items, list.items());
  for (const JsonField& item : items) {
    ASSAY_TRY(item.only_keys(
        {"id", "content", "single_word", "lstrip", "rstrip", "normalized", "special"}));
    AddedToken token;
    ASSAY_TRY(const JsonField id, item.at("id"));
    ASSAY_TRY(token.id, id_of(id));
    ASSAY_TRY(const JsonField content, item.at("content"));
    ASSAY_TRY(token.content, content.as_string());
    ASSAY_TRY(const bool single_word, flag(item, "single_word", false));
    if (single_word)
      return fail(item.error(ErrorCode::invalid_input, "single_word is not supported"));
    ASSAY_TRY(token.takes_left, flag(item, "lstrip", false));
    ASSAY_TRY(token.takes_right, flag(item, "rstrip", false));
    ASSAY_TRY(token.special, flag(item, "special", false));
    ASSAY_TRY(token.normalized, flag(item, "normalized", !token.special));
    parts.added.push_back(std::move(token));
  }
  return {};
}

Result<TokenizerParts> read_parts(const JsonField& root) {
  TokenizerParts parts;
  parts.bpe.bytes = false;
  ASSAY_TRY(root.expect_object());
  // Truncation and padding are of batches, and no part of what a text's tokens are.
  ASSAY_TRY(root.only_keys({"version", "truncation", "padding", "added_tokens", "normalizer",
                            "pre_tokenizer", "post_processor", "decoder", "model"}));
  ASSAY_TRY(const JsonField model, root.at("model"));
  if (const auto field = present(root, "normalizer")) ASSAY_TRY(read_normalizer(*field, parts));
  if (const auto field = present(root, "pre_tokenizer"))
    ASSAY_TRY(read_pre_tokenizer(*field, parts));
  ASSAY_TRY(read_model(model, parts));
  if (const auto field = present(root, "post_processor"))
    ASSAY_TRY(read_post_processor(*field, parts));
  ASSAY_TRY(const JsonField decoder, root.at("decoder"));
  ASSAY_TRY(read_decoder(decoder, parts));
  if (const auto field = present(root, "added_tokens")) ASSAY_TRY(read_added(*field, parts));
  return parts;
}

}  // namespace

Result<Tokenizer> Tokenizer::from_json(std::string_view text, std::string_view origin) {
  ASSAY_TRY(const JsonDocument document, parse_json_document(text, origin));
  ASSAY_TRY(TokenizerParts parts, read_parts(JsonField(document)));
  auto tokenizer = create(std::move(parts));
  if (!tokenizer) return fail(with_context(tokenizer.error(), sanitize(origin, 200)));
  return tokenizer;
}

}  // namespace assay::text
