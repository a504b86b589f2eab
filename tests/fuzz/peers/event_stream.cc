// Streams of events as any server may send them: cut anywhere, they are read the same, and each
// event is either a chunk or refused.

#include <vector>

#include "assay/base/text.h"
#include "assay/load/answer.h"
#include "assay/load/skim_json.h"
#include "assay/net/sse_reader.h"
#include "tests/fuzz/fuzz.h"

namespace assay {
namespace {

constexpr std::size_t kMostBytes = 4096;

struct Read {
  std::string events;
  bool refused = false;
};

Read read(std::string_view bytes, std::size_t step) {
  net::SseReader reader(kMostBytes);
  Read read;
  const auto take = [&](std::string_view data) {
    read.events += fmt::format("{}:", data.size());
    read.events += data;
    fuzz::expect(data.size() <= kMostBytes + 1, "an event is longer than what is taken");
  };
  for (std::size_t at = 0; at < bytes.size(); at += step) reader.take(bytes.substr(at, step), take);
  reader.finish(take);
  read.refused = reader.refused();
  return read;
}

}  // namespace

ASSAY_FUZZ_TARGET(event_stream) {
  const Read cut = read(bytes, 1);
  for (const std::size_t step : {std::size_t{2}, std::size_t{7}, bytes.size() + 1}) {
    const Read other = read(bytes, step);
    // What is held of a line that is not whole counts against the limit, too.
    if (cut.refused || other.refused) continue;
    fuzz::expect_same(other.events, cut.events, "it depends on the cuts what an event is");
  }
  net::SseReader reader(kMostBytes);
  const auto take = [](std::string_view data) {
    load::Chunk chunk;
    if (!load::read_chunk(data, true, chunk)) {
      fuzz::expect(!parse_json(data, "chunk") || !parse_json(data, "chunk")->is_object(),
                   "an object of JSON is refused");
      return;
    }
    fuzz::expect(!chunk.usage || (chunk.usage->prompt >= 0 && chunk.usage->completion >= 0),
                 "a count is negative");
    for (const load::Choice& choice : chunk.choices)
      fuzz::expect(choice.index >= 0 && choice.index <= 4096, "an index is out of its bounds");
  };
  reader.take(bytes, take);
  reader.finish(take);
}

}  // namespace assay
