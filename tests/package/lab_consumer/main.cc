// What a program of one's own takes from assay::lab: a tokenizer, the times of an open loop, and
// the answers of a server, without a socket.

#include <cstdio>
#include <string>

#include <assay/load/arrivals.h>
#include <assay/serve/mock_backend.h>
#include <assay/serve/routes.h>
#include <assay/text/tokenizer.h>

namespace {

assay::Status run() {
  assay::text::TokenizerParts parts;
  parts.bpe.vocabulary = {{"a", 0}, {"b", 1}, {"ab", 2}};
  parts.bpe.merges = {{"a", "b"}};
  ASSAY_TRY(const auto tokenizer, assay::text::Tokenizer::create(parts));
  ASSAY_TRY(const auto ids, tokenizer.encode("abb"));
  std::printf("tokens:");
  for (const int id : ids) std::printf(" %d", id);
  std::printf("\n");

  assay::load::ArrivalPlan plan;
  plan.law = assay::load::Law::constant;
  plan.rate = 4;
  assay::load::Arrivals arrivals(plan, 1);
  std::printf("sent at:");
  for (int i = 0; i < 3; ++i) std::printf(" %.2f", arrivals.next());
  std::printf("\n");

  assay::serve::MockBackend backend({});
  assay::serve::Site site;
  site.model = "mine";
  site.version = "1";
  assay::net::Request request;
  request.method = "GET";
  request.target = "/v1/models";
  const auto match = assay::serve::find_route(request.method, request.target);
  const auto answer = match.route->answer({site, backend, "1", 0}, request, match.rest);
  std::printf("%d %s\n", answer.response.status, answer.response.body.c_str());
  return {};
}

}  // namespace

int main() {
  const assay::Status status = run();
  if (!status) std::fprintf(stderr, "%s\n", status.error().message.c_str());
  return status ? 0 : 1;
}
