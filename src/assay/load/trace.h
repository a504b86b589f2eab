#pragma once

// What happened to one request: times of monotonic_ns(), nothing judged.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "assay/load/answer.h"

namespace assay::load {

enum class Ending { successful, incomplete, errored, cancelled };
std::string_view to_string(Ending ending);
std::optional<Ending> parse_ending(std::string_view word);

// What an event of a stream brought.
enum class EventKind : std::uint8_t { other, reasoning, content };

struct StreamEvent {
  std::int64_t at_ns = 0;
  std::int16_t choice = 0;
  EventKind kind = EventKind::other;

  bool operator==(const StreamEvent&) const = default;
};

struct Trace {
  std::int64_t number = 0;         // In the order of intended times; of its line in inputs.jsonl.
  std::string request_id;          // As the server was told.
  std::int64_t intended_ns = 0;    // When it was to be sent.
  std::int64_t handled_ns = 0;     // When the client came to it: late is what lies between.
  std::int64_t sent_ns = 0;        // Before its first byte left; 0: it never did.
  std::int64_t connect_ns = 0;     // How long it waited for a connection that was still made.
  std::int64_t first_byte_ns = 0;  // Of its answer; 0: none came.
  std::int64_t end_ns = 0;         // The answer's last byte, or when it was given up.
  std::vector<StreamEvent> events;
  Ending ending = Ending::incomplete;
  std::string error;  // A sentence; empty where it was successful.
  int status = 0;     // Of HTTP; 0: no answer.
  std::optional<Usage> usage;
  // Tokens, of all choices; 0: none in particular.
  std::int64_t asked_input = 0, asked_output = 0;
  std::int64_t most_output = 0;  // Asked for as the limit.
  std::int64_t chunks = 0;       // With content or reasoning.
  int turn = 0;                  // Of its conversation.
  bool queued = false;           // It waited for a slot below the cap.
  // By a tokenizer of the client's, where the server counts nothing.
  std::optional<std::int64_t> tokenized;
  std::vector<std::string> texts;  // Of each choice, until they are counted.
  int retries = 0;  // How often it was sent again; sent_ns stays that of the first time.

  bool operator==(const Trace&) const = default;

  bool is_success() const { return ending == Ending::successful; }
  bool was_sent() const { return sent_ns != 0; }
  // It was refused for now: nothing of that answer stays.
  void begin_again();
  // The first and the last event with tokens; null where there is none.
  const StreamEvent* first_token() const;
  const StreamEvent* last_token() const;
  // What a server's usage says, else what was counted, else the number of chunks.
  std::int64_t output_tokens() const {
    return usage ? usage->completion : tokenized.value_or(chunks);
  }
};

}  // namespace assay::load
