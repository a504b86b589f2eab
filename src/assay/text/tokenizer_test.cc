#include "assay/text/tokenizer.h"

#include <cstring>
#include <fstream>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "assay/base/file.h"
#include "assay/base/json.h"
#include "assay/text/byte_alphabet.h"
#include "assay/text/chat_template.h"

namespace assay::text {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Every byte, then what these merges make, then two special tokens.
const std::vector<std::pair<std::string, std::string>> kMerges = {
    {"t", "h"}, {"th", "e"}, {"\u0120", "the"}, {"\u00c3", "\u00a9"}, {"a", "a"}, {"aa", "aa"}};
constexpr int kTh = 256, kThe = 257, kBlankThe = 258, kE = 259, kAa = 260, kAaaa = 261;
constexpr int kStart = 262, kEnd = 263;

Json small_json() {
  Json vocabulary = Json::object();
  for (int byte = 0; byte < 256; ++byte)
    vocabulary[byte_character(static_cast<unsigned char>(byte))] = byte;
  Json merges = Json::array();
  for (const auto& [left, right] : kMerges) {
    vocabulary[left + right] = 256 + merges.size();
    merges.push_back({left, right});
  }
  const auto special = [](int id, const char* content) {
    return Json{{"id", id},        {"content", content},  {"single_word", false}, {"lstrip", false},
                {"rstrip", false}, {"normalized", false}, {"special", true}};
  };
  return {{"version", "1.0"},
          {"truncation", nullptr},
          {"padding", nullptr},
          {"added_tokens", {special(kStart, "<|im_start|>"), special(kEnd, "<|im_end|>")}},
          {"normalizer", nullptr},
          {"pre_tokenizer",
           {{"type", "ByteLevel"},
            {"add_prefix_space", false},
            {"trim_offsets", true},
            {"use_regex", true}}},
          {"post_processor", nullptr},
          {"decoder", {{"type", "ByteLevel"}}},
          {"model", {{"type", "BPE"}, {"vocab", vocabulary}, {"merges", merges}}}};
}

Result<Tokenizer> from(const Json& json) { return Tokenizer::from_json(json.dump(2), "t.json"); }
Tokenizer small() { return *from(small_json()); }
std::string error_of(const Json& json) {
  const auto tokenizer = from(json);
  EXPECT_FALSE(tokenizer);
  if (tokenizer) return "";
  EXPECT_EQ(tokenizer.error().code, ErrorCode::invalid_input);
  return tokenizer.error().message;
}

TEST(Tokenizer, MergesTheFirstLearnedPairAndFindsSpecialTokens) {
  const Tokenizer tokenizer = small();
  EXPECT_THAT(*tokenizer.encode("the the"), ElementsAre(kThe, kBlankThe));
  EXPECT_THAT(*tokenizer.encode("<|im_start|>th\xc3\xa9<|im_end|>"),
              ElementsAre(kStart, kTh, kE, kEnd));
  EXPECT_THAT(*tokenizer.encode("aaaaaaa"), ElementsAre(kAaaa, kAa, 'a'));
  EXPECT_THAT(*tokenizer.encode(""), ElementsAre());
  EXPECT_TRUE(tokenizer.is_special(kEnd));
  EXPECT_FALSE(tokenizer.is_special(kThe));
}

TEST(Tokenizer, LongWordsAreMergedAsShortOnes) {
  const Tokenizer tokenizer = small();
  const auto ids = *tokenizer.encode(std::string(4001, 'a'));
  ASSERT_EQ(ids.size(), 1001U);
  EXPECT_EQ(ids.front(), kAaaa);
  EXPECT_EQ(ids.back(), 'a');
}

TEST(Tokenizer, GivesTheBytesOfEachTokenAlone) {
  const Tokenizer tokenizer = small();
  EXPECT_EQ(*tokenizer.bytes_of(kBlankThe), " the");
  EXPECT_EQ(*tokenizer.bytes_of(kE), "\xc3\xa9");
  EXPECT_EQ(*tokenizer.bytes_of(0xc3), "\xc3");
  EXPECT_EQ(*tokenizer.bytes_of(kStart), "<|im_start|>");
  EXPECT_EQ(tokenizer.bytes_of(kEnd + 1), nullptr);
  EXPECT_EQ(tokenizer.bytes_of(-1), nullptr);
  const std::vector<int> wrong = {kThe, 9999};
  EXPECT_THAT(tokenizer.decode(wrong).error().message, HasSubstr("no token 9999"));
}

TEST(Tokenizer, RefusesTextThatIsNotUtf8) {
  EXPECT_EQ(small().encode("a\xc3").error().code, ErrorCode::invalid_input);
}

TEST(Tokenizer, RefusesWhatItDoesNotKnowByNameAndLine) {
  const auto with = [](std::string_view pointer, const Json& value) {
    Json json = small_json();
    json[Json::json_pointer(std::string(pointer))] = value;
    return error_of(json);
  };
  const Json named = {{"type", "Strange"}};
  EXPECT_THAT(with("/normalizer", named), HasSubstr("the normalizer 'Strange' is not supported"));
  EXPECT_THAT(with("/pre_tokenizer", named), HasSubstr("the pre-tokenizer 'Strange'"));
  EXPECT_THAT(with("/decoder", named), HasSubstr("the decoder 'Strange'"));
  EXPECT_THAT(with("/post_processor", named), HasSubstr("the post-processor 'Strange'"));
  EXPECT_THAT(with("/model/type", "Unigram"), HasSubstr("the model 'Unigram'"));
  EXPECT_THAT(with("/model/dropout", 0.1), HasSubstr("model.dropout"));
  EXPECT_THAT(with("/model/end_of_word_suffix", "</w>"), HasSubstr("model.end_of_word_suffix"));
  EXPECT_THAT(with("/added_tokens/0/single_word", true), HasSubstr("single_word"));
  EXPECT_THAT(with("/surprise", 1), HasSubstr("surprise"));
  EXPECT_THAT(with("/decoder", nullptr), HasSubstr("decoder"));
  EXPECT_THAT(with("/model/vocab/a", 7), HasSubstr("id 7 is given twice"));
  EXPECT_THAT(with("/model/vocab/a", -7), HasSubstr("the id of 'a'"));
  EXPECT_THAT(with("/model/merges/0", "t"), HasSubstr("merge 1 is no pair"));
  EXPECT_THAT(with("/model/merges/0", {"t", "q"}), HasSubstr("merge 1 is of 't' and 'q'"));
  EXPECT_THAT(with("/model/unk_token", "<unk>"), HasSubstr("'<unk>'"));
  EXPECT_THAT(with("/added_tokens/0/id", 1 << 25), HasSubstr("ids are 0 to"));
  EXPECT_THAT(
      with("/pre_tokenizer", {{"type", "Sequence"},
                              {"pretokenizers", {{{"type", "ByteLevel"}}, {{"type", "Digits"}}}}}),
      HasSubstr("nothing can follow ByteLevel"));
  EXPECT_THAT(
      with("/pre_tokenizer",
           {{"type", "Split"}, {"pattern", {{"Regex", R"(\w+)"}}}, {"behavior", "Isolated"}}),
      testing::AllOf(HasSubstr("t.json:"), HasSubstr(R"('\w')")));
}

// GGUF, as its writers lay it out.
class GgufWriter {
 public:
  void number(auto value) {
    char bytes[sizeof value];
    std::memcpy(bytes, &value, sizeof value);
    body_.append(bytes, sizeof value);
  }
  void text(std::string_view value) {
    number(std::uint64_t{value.size()});
    body_ += value;
  }
  void key(std::string_view name, std::uint32_t kind) {
    ++keys_;
    text(name);
    number(kind);
  }
  void text_key(std::string_view name, std::string_view value) {
    key(name, 8);
    text(value);
  }
  void list_key(std::string_view name, const std::vector<std::string>& values) {
    key(name, 9);
    number(std::uint32_t{8});
    number(std::uint64_t{values.size()});
    for (const std::string& value : values) text(value);
  }
  std::string file() const {
    GgufWriter head;
    head.body_ = "GGUF";
    head.number(std::uint32_t{3});
    head.number(std::uint64_t{0});
    head.number(std::uint64_t{keys_});
    return head.body_ + body_;
  }

 private:
  std::uint64_t keys_ = 0;
  std::string body_;
};

std::string small_gguf(std::string_view pre) {
  GgufWriter writer;
  std::vector<std::string> tokens, merges;
  for (int byte = 0; byte < 256; ++byte)
    tokens.push_back(byte_character(static_cast<unsigned char>(byte)));
  for (const auto& [left, right] : kMerges) {
    tokens.push_back(left + right);
    merges.push_back(left + " " + right);
  }
  tokens.insert(tokens.end(), {"<|im_start|>", "<|im_end|>"});
  writer.text_key("general.name", "small");
  writer.key("general.scale", 6);
  writer.number(1.0F);
  writer.text_key("tokenizer.ggml.model", "gpt2");
  writer.text_key("tokenizer.ggml.pre", pre);
  writer.list_key("tokenizer.ggml.tokens", tokens);
  writer.list_key("tokenizer.ggml.merges", merges);
  writer.key("tokenizer.ggml.token_type", 9);
  writer.number(std::uint32_t{5});
  writer.number(std::uint64_t{tokens.size()});
  for (std::size_t i = 0; i < tokens.size(); ++i)
    writer.number(std::int32_t{i < static_cast<std::size_t>(kStart) ? 1 : 3});
  writer.key("tokenizer.ggml.add_bos_token", 7);
  writer.number(true);
  writer.key("tokenizer.ggml.bos_token_id", 4);
  writer.number(std::uint32_t{kStart});
  return writer.file();
}

TEST(Tokenizer, ReadsTheTokenizerOfAGgufFile) {
  const auto folder = TemporaryDirectory::create();
  const std::string path = folder->file("model.gguf");
  std::ofstream(path, std::ios::binary) << small_gguf("smollm") << std::string(100'000, 'w');
  const auto tokenizer = Tokenizer::load(path);
  ASSERT_TRUE(tokenizer) << tokenizer.error().message;
  EXPECT_THAT(*tokenizer->encode("the the12<|im_end|>"),
              ElementsAre(kThe, kBlankThe, '1', '2', kEnd));
  EXPECT_THAT(*tokenizer->encode("a", SpecialTokens::around), ElementsAre(kStart, 'a'));
}

TEST(Tokenizer, AGgufFileThatIsCutAnywhereIsRefused) {
  const std::string whole = small_gguf("gpt-2");
  ASSERT_TRUE(Tokenizer::from_gguf(whole, "m.gguf"));
  for (std::size_t size = 0; size < whole.size(); size += size < 64 ? 1 : 37)
    EXPECT_EQ(Tokenizer::from_gguf(whole.substr(0, size), "m.gguf").error().code,
              ErrorCode::invalid_input)
        << size;
  EXPECT_THAT(Tokenizer::from_gguf(small_gguf("poro-chat"), "m.gguf").error().message,
              testing::AllOf(HasSubstr("m.gguf"), HasSubstr("'poro-chat' is not supported"),
                             HasSubstr("smollm")));
}

TEST(Tokenizer, AFileThatCannotBeReadIsNamed) {
  EXPECT_THAT(Tokenizer::load("/nowhere/t.json").error().message, HasSubstr("/nowhere/t.json"));
  EXPECT_FALSE(Tokenizer::load("/dev/zero"));
}

TEST(ChatTemplate, IsWhatTheModelsWereTrainedOn) {
  const std::vector<ChatMessage> chat = {{"system", "Be brief."}, {"user", " Hi "}};
  EXPECT_EQ(render_chat(ChatTemplate::chatml, chat),
            "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\n Hi <|im_end|>\n"
            "<|im_start|>assistant\n");
  EXPECT_EQ(render_chat(ChatTemplate::llama3, chat),
            "<|begin_of_text|><|start_header_id|>system<|end_header_id|>\n\nBe brief.<|eot_id|>"
            "<|start_header_id|>user<|end_header_id|>\n\nHi<|eot_id|>"
            "<|start_header_id|>assistant<|end_header_id|>\n\n");
  EXPECT_EQ(render_chat(ChatTemplate::roles, chat), "system: Be brief.\nuser:  Hi \nassistant:");
  EXPECT_FALSE(chat_template_named("alpaca"));
}

}  // namespace
}  // namespace assay::text
