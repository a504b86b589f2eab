// Answers as any server may send them to a client: cut anywhere, they are read the same.

#include "assay/net/response_reader.h"
#include "tests/fuzz/fuzz.h"

namespace assay {
namespace {

struct ReadAnswer {
  net::ResponseReader reader;
  std::string body;
  std::size_t used = 0;
};

ReadAnswer read_answer(std::string_view bytes, std::size_t step) {
  ReadAnswer read;
  const auto goes_on = [&] {
    return read.reader.state() == net::ResponseReader::State::head ||
           read.reader.state() == net::ResponseReader::State::body;
  };
  while (read.used < bytes.size() && goes_on())
    read.used += read.reader.take(bytes.substr(read.used, step), read.body);
  if (goes_on()) read.reader.finish();
  return read;
}

}  // namespace

ASSAY_FUZZ_TARGET(http_response) {
  using State = net::ResponseReader::State;
  const ReadAnswer whole = read_answer(bytes, bytes.size());
  for (const std::size_t step : {std::size_t{1}, std::size_t{7}}) {
    const ReadAnswer cut = read_answer(bytes, step);
    fuzz::expect(whole.reader.state() == cut.reader.state(),
                 "it depends on the cuts whether an answer is read");
    fuzz::expect_same(whole.reader.refusal(), cut.reader.refusal(),
                      "it depends on the cuts why an answer is refused");
    fuzz::expect(whole.reader.head().status == cut.reader.head().status,
                 "it depends on the cuts what a status is");
    fuzz::expect_same(whole.body, cut.body, "it depends on the cuts what a body is");
    if (whole.reader.state() == State::done)
      fuzz::expect(whole.used == cut.used, "it depends on the cuts where an answer ends");
  }
  fuzz::expect(whole.reader.state() == State::done || whole.reader.state() == State::refused,
               "an answer neither ends nor is refused");
  fuzz::expect((whole.reader.state() == State::refused) == !whole.reader.refusal().empty(),
               "an answer is refused without a reason");
}

}  // namespace assay
