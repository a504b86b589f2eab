// Requests as anybody may send them to the server: cut anywhere, they are read the same.

#include "assay/net/request_reader.h"
#include "tests/fuzz/fuzz.h"

namespace assay {
namespace {

struct Read {
  net::RequestReader::State state;
  int status = 0;
  std::size_t used = 0;
  net::Request request;
};

Read read(std::string_view bytes, std::size_t step) {
  net::RequestReader reader{net::HttpLimits{}};
  std::size_t used = 0;
  const auto goes_on = [&] {
    return reader.state() == net::RequestReader::State::head ||
           reader.state() == net::RequestReader::State::body;
  };
  while (used < bytes.size() && goes_on()) used += reader.take(bytes.substr(used, step));
  Read result{reader.state(), reader.refusal().status, used, {}};
  if (result.state == net::RequestReader::State::refused) result.used = 0;
  if (result.state == net::RequestReader::State::done) result.request = reader.release();
  return result;
}

}  // namespace

ASSAY_FUZZ_TARGET(http_request) {
  const Read whole = read(bytes, bytes.size());
  const Read cut = read(bytes, 1);
  fuzz::expect(whole.state == cut.state, "it depends on the cuts whether a request is read");
  fuzz::expect(whole.state != net::RequestReader::State::refused || whole.status == cut.status,
               "it depends on the cuts why a request is refused");
  fuzz::expect(whole.used == cut.used, "it depends on the cuts where a request ends");
  fuzz::expect_same(whole.request.body, cut.request.body, "it depends on the cuts what a body is");
  if (whole.state != net::RequestReader::State::done) return;
  fuzz::expect(!net::refuse_head(whole.request, {}), "a request that breaks a rule is read");
}

}  // namespace assay
