#include "assay/load/exchange.h"

#include "assay/base/text.h"

namespace assay::load {
namespace {

constexpr std::size_t kMostEventBytes = 16 << 20;
constexpr std::size_t kMostBodyBytes = 64 << 20;  // And of texts that are kept.
constexpr std::size_t kMostEvents = 1 << 20;      // Of an answer.
constexpr std::string_view kRedacted = "***";

}  // namespace

std::string without_key(std::string text, std::string_view key) {
  if (key.empty()) return text;
  for (std::size_t at = text.find(key); at != std::string::npos; at = text.find(key, at))
    text.replace(at, key.size(), kRedacted);
  return text;
}

Exchange::Exchange(Trace trace, const RequestShape& shape, int choices, Keeps keeps)
    : trace_(std::move(trace)),
      stream_(shape.stream),
      keeps_(keeps),
      choices_(choices),
      events_(kMostEventBytes),
      key_(shape.api_key) {
  if (stream_ && trace_.asked_output > 0)
    trace_.events.reserve(
        static_cast<std::size_t>(std::min<std::int64_t>(trace_.asked_output + 4, 4096)));
}

std::string Exchange::quoted(std::string text, std::size_t most) const {
  return sanitize(without_key(std::move(text), key_), most);
}

void Exchange::blame(std::string sentence) {
  if (blame_.empty()) blame_ = std::move(sentence);
}

void Exchange::take_head(const net::ResponseHead& head, const net::Arrival& arrival) {
  has_head_ = true;
  trace_.first_byte_ns = arrival.at_ns;
  trace_.status = head.status;
  if (const std::string* after = head.find("retry-after")) retry_after_ = *after;
  if (const std::string* server = head.find("server")) software_ = quoted(*server, 200);
  const std::string* type = head.find("content-type");
  const std::string kind = type ? net::lower_case(*type) : std::string();
  is_events_ = kind.starts_with("text/event-stream");
  if (const std::string* coding = head.find("content-encoding");
      coding != nullptr && net::lower_case(*coding) != "identity")
    blame(fmt::format("the body is compressed ({}), though identity was asked for",
                      quoted(*coding, 40)));
  if (head.status >= 300 && head.status < 400) {
    const std::string* place = head.find("location");
    blame(fmt::format("a redirect ({}) to {} is not followed", head.status,
                      place ? quoted(*place, 200) : std::string("nowhere")));
  }
  if (head.status == 200 && stream_ && !is_events_)
    blame(fmt::format("a stream was asked for, and the answer is of type '{}'", quoted(kind, 80)));
}

void Exchange::take(const net::ResponseHead& head, std::string_view body,
                    const net::Arrival& arrival) {
  if (!has_head_) take_head(head, arrival);
  if (stream_ && is_events_ && head.status == 200 && blame_.empty())
    return events_.take(body, [&](std::string_view data) { take_event(data, arrival.at_ns); });
  too_long_ = too_long_ || body_.size() + body.size() > kMostBodyBytes;
  if (too_long_) return blame("the answer is longer than what is taken");
  body_.append(body);
}

void Exchange::take_event(std::string_view data, std::int64_t at_ns) {
  if (data == "[DONE]") {
    done_ = true;
    return;
  }
  if (done_) return blame("a chunk came behind the end of the stream");
  if (!read_chunk(data, keeps_.answer || keeps_.texts, chunk_)) {
    // Servers name an event of theirs "error", and say why in words of their own.
    if (events_.name() == "error")
      return blame(fmt::format("the server says: {}", quoted(std::string(data), 300)));
    return blame("a chunk of the stream is no JSON object");
  }
  if (chunk_.is_error) return blame(fmt::format("the server says: {}", quoted(chunk_.error, 300)));
  note_chunk(at_ns);
}

void Exchange::note_chunk(std::int64_t at_ns) {
  if (chunk_.usage) trace_.usage = chunk_.usage;
  if (fingerprint_.empty() && !chunk_.fingerprint.empty())
    fingerprint_ = quoted(chunk_.fingerprint, 200);
  too_long_ = too_long_ || trace_.events.size() + chunk_.choices.size() > kMostEvents;
  if (too_long_) return blame("the answer is longer than what is taken");
  for (const Choice& choice : chunk_.choices) {
    keep_texts(choice);
    const EventKind kind = choice.content     ? EventKind::content
                           : choice.reasoning ? EventKind::reasoning
                                              : EventKind::other;
    trace_.events.push_back({at_ns, static_cast<std::int16_t>(choice.index), kind});
    trace_.chunks += kind != EventKind::other;
    if (choice.finished) finished_choices_.insert(choice.index);
  }
}

void Exchange::keep_texts(const Choice& choice) {
  kept_bytes_ += choice.text.size() + choice.thought.size();
  if (kept_bytes_ > kMostBodyBytes) {
    too_long_ = true;
    return blame("the answer is longer than what is taken");
  }
  if (keeps_.answer && choice.index == 0) text_ += choice.text;
  if (!keeps_.texts || choice.index < 0) return;
  const auto index = static_cast<std::size_t>(choice.index);
  if (trace_.texts.size() <= index) trace_.texts.resize(index + 1);
  trace_.texts[index] += choice.thought;
  trace_.texts[index] += choice.text;
}

void Exchange::take_whole(std::int64_t at_ns) {
  if (!read_chunk(body_, keeps_.answer || keeps_.texts, chunk_))
    return blame("the answer is no JSON object");
  if (chunk_.is_error) return blame(fmt::format("the server says: {}", quoted(chunk_.error, 300)));
  if (chunk_.choices.empty()) return blame("the answer has no choices");
  note_chunk(at_ns);
  // They all came at once: no time of a token is known.
  trace_.events.clear();
  trace_.chunks = 0;
}

std::string Exchange::body_error() const {
  Chunk chunk;
  if (read_chunk(body_, false, chunk) && !chunk.error.empty())
    return ": " + quoted(chunk.error, 300);
  return body_.empty() ? std::string() : ": " + quoted(body_, 100);
}

void Exchange::finish(const net::ResponseHead& head, const net::Arrival& arrival) {
  if (!has_head_) take_head(head, arrival);
  trace_.end_ns = arrival.at_ns;
  if (head.status != 200) {
    blame(fmt::format("{} {}{}", head.status, net::reason_phrase(head.status), body_error()));
  } else if (blame_.empty() && stream_) {
    events_.finish([&](std::string_view data) { take_event(data, arrival.at_ns); });
    if (events_.refused()) blame("an event of the stream is longer than what is taken");
    if (!done_ && std::ssize(finished_choices_) < choices_)
      blame("the stream ended before its answer did");
    if (trace_.events.empty()) blame("the stream has no choices");
  } else if (blame_.empty()) {
    take_whole(arrival.at_ns);
  }
  trace_.ending = blame_.empty() ? Ending::successful : Ending::errored;
  // Where the server counts, or where nothing is counted, nobody needs them.
  if (trace_.usage || !trace_.is_success()) trace_.texts = {};
  trace_.error = blame_;
}

void Exchange::fail(Ending ending, std::string sentence, std::int64_t at_ns) {
  trace_.end_ns = at_ns;
  trace_.ending = ending;
  trace_.texts = {};
  // What the server said first explains what the connection did then.
  trace_.error = blame_.empty() ? std::move(sentence) : blame_;
}

}  // namespace assay::load
