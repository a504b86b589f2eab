// Data sets that users bring as files.

#include <cmath>
#include <map>

#include "assay/base/file.h"
#include "assay/base/text.h"
#include "assay/load/dataset.h"
#include "assay/load/json_lines.h"

namespace assay::load {
namespace {

constexpr std::int64_t kMostRowTokens = 1 << 24;
constexpr std::int64_t kBlockTokens = 512;  // Of a trace's hash id, as Mooncake's traces have it.

Json message(const char* role, const std::string& text) {
  return {{"role", role}, {"content", text}};
}

Result<std::int64_t> output_tokens(const JsonField& line, std::int64_t otherwise) {
  for (const char* key : {"output_tokens", "max_tokens"})
    if (const auto field = line.find(key); field && !field->is_null())
      return field->as_int64(1, kMostRowTokens);
  return otherwise;
}

Result<Turn> read_turn(const JsonField& field) {
  Turn turn;
  if (field.json().is_string()) {
    turn.messages.push_back(message("user", field.json().get<std::string>()));
    return turn;
  }
  ASSAY_TRY(field.only_keys({"content", "role", "think_s", "output_tokens"}));
  ASSAY_TRY(const JsonField content, field.at("content"));
  ASSAY_TRY(const std::string text, content.as_string());
  turn.messages.push_back(message("user", text));
  // Answers are the server's: one that stood here would have been sent as the user's.
  if (const auto role = field.find("role"); role && role->json() != "user")
    return tl::unexpected(
        role->error(ErrorCode::invalid_input, "a turn is the user's: its answer is the server's"));
  if (const auto think = field.find("think_s")) {
    ASSAY_TRY(turn.think_s, think->as_double(0, 86400));
  }
  ASSAY_TRY(turn.output_tokens, output_tokens(field, 0));
  return turn;
}

Result<Conversation> read_conversation(const JsonField& line, std::int64_t otherwise) {
  ASSAY_TRY(line.expect_object());
  ASSAY_TRY(const std::int64_t output, output_tokens(line, otherwise));
  Conversation turns;
  if (const auto list = line.find("turns")) {
    ASSAY_TRY(const std::vector<JsonField> items, list->items());
    if (items.empty()) return tl::unexpected(list->error(ErrorCode::invalid_input, "no turn"));
    for (const JsonField& item : items) {
      ASSAY_TRY(Turn turn, read_turn(item));
      if (turn.output_tokens == 0) turn.output_tokens = output;
      turns.push_back(std::move(turn));
    }
    return turns;
  }
  Turn turn;
  turn.output_tokens = output;
  if (const auto messages = line.find("messages")) {
    ASSAY_TRY(const std::vector<JsonField> items, messages->items());
    for (const JsonField& item : items) ASSAY_TRY(item.expect_object());
    turn.messages = messages->json();
  } else {
    ASSAY_TRY(const JsonField prompt, line.at("prompt"));
    ASSAY_TRY(const std::string text, prompt.as_string());
    turn.messages.push_back(message("user", text));
  }
  turns.push_back(std::move(turn));
  return turns;
}

class JsonlDataset final : public Dataset {
 public:
  JsonlDataset(std::string path, std::vector<Conversation> all)
      : path_(std::move(path)), all_(std::move(all)) {}

  Conversation at(std::int64_t number) const override {
    return all_[static_cast<std::size_t>(number) % all_.size()];
  }
  std::int64_t size() const override { return static_cast<std::int64_t>(all_.size()); }
  Json description() const override {
    return {{"kind", "jsonl"}, {"path", path_}, {"lines", all_.size()}};
  }

 private:
  std::string path_;
  std::vector<Conversation> all_;
};

struct TraceLine {
  double at_s = 0;
  std::int64_t input = 0, output = 0;
  std::vector<std::int64_t> blocks;
};

Result<TraceLine> read_trace_line(const JsonField& line) {
  TraceLine read;
  ASSAY_TRY(const JsonField timestamp, line.at("timestamp"));
  ASSAY_TRY(const double at_ms, timestamp.as_double(0, 1e12));
  read.at_s = at_ms / 1000;
  ASSAY_TRY(const JsonField input, line.at("input_length"));
  ASSAY_TRY(read.input, input.as_int64(1, kMostRowTokens));
  ASSAY_TRY(const JsonField output, line.at("output_length"));
  ASSAY_TRY(read.output, output.as_int64(1, kMostRowTokens));
  if (const auto ids = line.find("hash_ids"); ids && !ids->is_null()) {
    ASSAY_TRY(const std::vector<JsonField> items, ids->items());
    for (const JsonField& item : items) {
      ASSAY_TRY(const std::int64_t id, item.as_int64(0));
      read.blocks.push_back(id);
    }
  }
  return read;
}

class TraceDataset final : public Dataset {
 public:
  TraceDataset(std::string path, std::vector<TraceLine> lines, double speed, WordText text,
               std::uint64_t seed)
      : path_(std::move(path)),
        lines_(std::move(lines)),
        speed_(speed),
        text_(std::move(text)),
        seed_(seed) {}

  Conversation at(std::int64_t number) const override {
    const auto index = static_cast<std::size_t>(number) % lines_.size();
    const TraceLine& line = lines_[index];
    std::string prompt;
    std::int64_t left = line.input;
    for (const std::int64_t block : line.blocks) {
      const std::int64_t part = std::min(left, kBlockTokens);
      // A block's text is a function of its id: prompts share what their ids share.
      prompt += text_.make({seed_, (1ull << 48) + static_cast<std::uint64_t>(block)}, part);
      left -= part;
    }
    prompt += text_.make({seed_, (1ull << 32) + index}, left);
    Turn turn;
    turn.messages.push_back(message("user", prompt));
    turn.input_tokens = line.input;
    turn.output_tokens = line.output;
    return {std::move(turn)};
  }
  std::optional<double> arrival_s(std::int64_t number) const override {
    const auto index = static_cast<std::size_t>(number);
    if (index >= lines_.size()) return std::nullopt;
    return (lines_[index].at_s - lines_.front().at_s) / speed_;
  }
  std::int64_t size() const override { return static_cast<std::int64_t>(lines_.size()); }
  Json description() const override {
    return {{"kind", "trace"},
            {"path", path_},
            {"lines", lines_.size()},
            {"speed", speed_},
            {"counted_by", text_.counter()}};
  }

 private:
  std::string path_;
  std::vector<TraceLine> lines_;
  double speed_;
  WordText text_;
  std::uint64_t seed_;
};

}  // namespace

Result<std::unique_ptr<Dataset>> jsonl_dataset(const std::string& path,
                                               std::int64_t output_tokens) {
  std::vector<Conversation> all;
  ASSAY_TRY(for_each_line(path, [&](const JsonField& line) -> Status {
    ASSAY_TRY(Conversation turns, read_conversation(line, output_tokens));
    all.push_back(std::move(turns));
    return {};
  }));
  return std::make_unique<JsonlDataset>(path, std::move(all));
}

Result<std::unique_ptr<Dataset>> trace_dataset(const std::string& path, double speed, WordText text,
                                               std::uint64_t seed) {
  std::vector<TraceLine> lines;
  ASSAY_TRY(for_each_line(path, [&](const JsonField& field) -> Status {
    ASSAY_TRY(TraceLine line, read_trace_line(field));
    if (!lines.empty() && line.at_s < lines.back().at_s)
      return tl::unexpected(
          field.error(ErrorCode::invalid_input, "its timestamp lies before the line above"));
    lines.push_back(std::move(line));
    return {};
  }));
  return std::make_unique<TraceDataset>(path, std::move(lines), speed, std::move(text), seed);
}

}  // namespace assay::load
