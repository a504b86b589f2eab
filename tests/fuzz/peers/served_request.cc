// Requests as anybody may send them, to the end: whatever is asked, there is one answer, it is what
// clients can read, and nothing of it is left in the server.

#include <optional>
#include <utility>

#include "assay/net/request_reader.h"
#include "assay/serve/mock_backend.h"
#include "assay/serve/service.h"
#include "tests/fuzz/fuzz.h"

namespace assay {
namespace {

// Keeps the answer to the one exchange there is.
class OneAnswer final : public net::Outlet {
 public:
  void answer(net::ExchangeId, const net::Response& response) override {
    ++endings;
    answered = response;
  }
  void begin(net::ExchangeId, const net::Response& head) override {
    ++begins;
    answered = head;
  }
  bool send(net::ExchangeId, std::string_view bytes) override {
    fuzz::expect(begins == 1 && endings == 0, "bytes are sent outside of a stream");
    stream.append(bytes);
    return true;
  }
  void end(net::ExchangeId) override { ++endings; }
  void abandon(net::ExchangeId) override { ++endings; }
  void wake_at(std::int64_t) override { awaited = true; }

  std::optional<net::Response> answered;
  std::string stream;
  int begins = 0, endings = 0;
  bool awaited = false;
};

std::optional<net::Request> read(std::string_view bytes) {
  net::RequestReader reader{net::HttpLimits{}};
  reader.take(bytes);
  if (reader.state() != net::RequestReader::State::done) return std::nullopt;
  return reader.release();
}

void expect_json(std::string_view text, std::string_view sentence) {
  fuzz::expect(text.find('\n') == std::string_view::npos && parse_json(text, "told").has_value(),
               sentence);
}

void expect_frames(std::string_view stream) {
  constexpr std::string_view kData = "data: ", kDone = "data: [DONE]\n\n";
  fuzz::expect(stream.ends_with(kDone), "a stream does not end with [DONE]");
  stream.remove_suffix(std::min(stream.size(), kDone.size()));
  while (!stream.empty()) {
    const std::size_t end = stream.find("\n\n");
    const bool whole = end != std::string_view::npos && stream.starts_with(kData);
    fuzz::expect(whole, "a frame does not begin with data:, or does not end");
    if (!whole) return;
    expect_json(stream.substr(kData.size(), end - kData.size()), "a frame is no JSON on one line");
    stream.remove_prefix(end + 2);
  }
}

}  // namespace

ASSAY_FUZZ_TARGET(served_request) {
  auto request = read(bytes);
  if (!request) return;
  OneAnswer outlet;
  serve::ServiceOptions options;
  options.desk.site.model = "mock";
  options.desk.access_log = [](std::string_view line) {
    expect_json(line, "a line of the log is no JSON");
  };
  serve::MockOptions mock;
  mock.output_tokens = 8;
  mock.slots = mock.queue = 8;
  mock.context = 512;
  serve::Service service(std::move(options), std::make_unique<serve::MockBackend>(mock));
  service.attach(outlet);
  service.on_request(1, std::move(*request));
  while (std::exchange(outlet.awaited, false)) service.on_time();

  fuzz::expect(outlet.endings == 1 && outlet.answered, "a request does not have one answer");
  fuzz::expect(service.at_rest(), "an answer that has ended is still under way");
  if (!outlet.answered) return;
  const net::Response& answered = *outlet.answered;
  fuzz::expect(net::reason_phrase(answered.status) != "Unknown", "a status has no name");
  const std::string head =
      net::response_head(answered, net::Framing::length, answered.body.size(), true);
  fuzz::expect(head.find("\r\n\r\n") == head.size() - 4, "what was echoed ends the head");
  if (outlet.begins == 1)
    expect_frames(outlet.stream);
  else if (answered.headers.front().value == "application/json")
    expect_json(answered.body, "an answer is no JSON on one line");
}

}  // namespace assay
