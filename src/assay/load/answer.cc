#include "assay/load/answer.h"

#include <algorithm>

#include "assay/load/skim_json.h"

namespace assay::load {
namespace {

constexpr std::int64_t kMostChoices = 4096;
// Of one answer. Whoever counts more says no number of tokens, and sums of such must not overflow.
constexpr std::int64_t kMostTokens = 1'000'000'000;

class ChunkReader {
 public:
  ChunkReader(std::string_view json, bool wants_text, Chunk& chunk)
      : json_(json), wants_text_(wants_text), chunk_(chunk) {}

  bool read() {
    return json_.object([&](std::string_view key) { return take(key); }) && json_.ended();
  }

 private:
  bool take(std::string_view key) {
    if (key == "choices" && json_.peek() == '[') return json_.array([&] { return choice(); });
    if (key == "usage" && json_.peek() == '{') return usage();
    if (key == "error" && json_.peek() != 'n') return error();
    if (key == "system_fingerprint" && json_.peek() == '"') {
      const auto text = json_.string();
      if (text) chunk_.fingerprint = *text;
      return text.has_value();
    }
    return json_.skip();
  }

  bool choice() {
    Choice choice;
    if (json_.peek() != '{') return json_.skip();
    const bool read = json_.object([&](std::string_view key) {
      if (key == "index") {
        choice.index = static_cast<int>(std::min(json_.integer().value_or(0), kMostChoices));
        return true;
      }
      if (key == "finish_reason") {
        choice.finished = json_.peek() == '"';
        return json_.skip();
      }
      if (key == "text") return text(choice.content, choice.text);
      if ((key == "delta" || key == "message") && json_.peek() == '{')
        return json_.object([&](std::string_view part) { return delta(part, choice); });
      return json_.skip();
    });
    chunk_.choices.push_back(std::move(choice));
    return read;
  }

  bool delta(std::string_view key, Choice& choice) {
    if (key == "content") return text(choice.content, choice.text);
    if (key == "reasoning_content" || key == "reasoning")
      return text(choice.reasoning, choice.thought);
    if (key == "tool_calls" && json_.peek() == '[')
      return json_.array([&] {
        choice.content = true;
        return json_.skip();
      });
    return json_.skip();
  }

  bool text(bool& some, std::string& kept) {
    if (json_.peek() != '"') return json_.skip();
    const auto written = json_.string();
    if (!written) return false;
    some = some || !written->empty();
    if (wants_text_) append_unescaped(*written, kept);
    return true;
  }

  std::optional<std::int64_t> tokens() {
    const auto told = json_.integer();
    return told ? std::optional(std::min(*told, kMostTokens)) : std::nullopt;
  }

  bool usage() {
    Usage usage;
    bool counts = false;
    const auto details = [&](std::string_view wanted, std::int64_t& value) {
      if (json_.peek() != '{') return json_.skip();
      return json_.object([&](std::string_view key) {
        if (key != wanted) return json_.skip();
        value = tokens().value_or(0);
        return true;
      });
    };
    const bool read = json_.object([&](std::string_view key) {
      if (key == "prompt_tokens") {
        usage.prompt = tokens().value_or(0);
      } else if (key == "completion_tokens") {
        const auto told = tokens();
        counts = told.has_value();
        usage.completion = told.value_or(0);
      } else if (key == "prompt_tokens_details") {
        return details("cached_tokens", usage.cached);
      } else if (key == "completion_tokens_details") {
        return details("reasoning_tokens", usage.reasoning);
      } else {
        return json_.skip();
      }
      return true;
    });
    // What tells no number of tokens is no usage: they are counted otherwise then.
    if (counts) chunk_.usage = usage;
    return read;
  }

  bool error() {
    chunk_.is_error = true;
    if (json_.peek() == '"') {
      const auto written = json_.string();
      if (written) append_unescaped(*written, chunk_.error);
      return written.has_value();
    }
    if (json_.peek() != '{') return json_.skip();
    return json_.object([&](std::string_view key) {
      if (key != "message" || json_.peek() != '"') return json_.skip();
      const auto written = json_.string();
      if (written) append_unescaped(*written, chunk_.error);
      return written.has_value();
    });
  }

  JsonSkimmer json_;
  bool wants_text_;
  Chunk& chunk_;
};

}  // namespace

void Chunk::clear() {
  choices.clear();
  usage.reset();
  is_error = false;
  error.clear();
  fingerprint.clear();
}

bool read_chunk(std::string_view json, bool wants_text, Chunk& chunk) {
  chunk.clear();
  return ChunkReader(json, wants_text, chunk).read();
}

}  // namespace assay::load
