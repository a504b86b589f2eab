#pragma once

// What parent, worker and referee say to one another: {"do": NAME, ...} and an answer, which is an
// object with results or {"error": {"code", "message"}}, and repeats the request's "ticket".
// Descriptors carry operands and outputs. A worker's answer may have "notes", sentences for the
// user.
//
// clang-format off
// worker    init      device, providers, users' kernels  -> fingerprint, target, providers, waiting
//                                                            (families whose code runs to be brought)
//           bring     file (of the users' kernels)       -> {}; its waiting families are here. A row
//                                                            of one that is not here yet brings it.
//           conform   check, problem                     -> faults, looked_at, ran, refusals
//           discover  problem, filter, providers         -> rows (metadata, role), refusals
//           compile   problem, row                       -> artifact
//           prebuild  problem, rows                      -> seconds of each; cached
//           load      problem, instances + fds           -> {}
//           prove     row, artifact, instances           -> per instance facts + fds
//           rotate    condition                          -> sets
//           open      row, artifact                      -> handle, bytes
//           round     bursts [[handle, launches]...],    -> bursts [[ns, clean, waited, launches]...]
//                     seed
//           collect   handle, back                       -> variation + fd
//           count     handle, launches, seed             -> launches, clock_hz, events
//           intact                                       -> whether the operand sets are as they were
//           close     handles                            -> {}
//           unload                                       -> {}
// referee   commit                                       -> seed index, commitment of a secret seed
//           kinds     problem                            -> those that say something about it
//           instances problem, kinds, seed index         -> instances, input operands of all + fds
//           derive    instance, seed index               -> likewise, of one
//           check     instance, variation + fd           -> Check
//           reveal    seed index                         -> seed
//           drop      instance (or all)                  -> {}
// clang-format on

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "assay/base/json.h"
#include "assay/base/message_channel.h"
#include "assay/op/operation.h"

namespace assay::sweep {

// Answers requests until the peer closes. `answer` returns the reply and the descriptors to attach.
struct Answer {
  Json json = Json::object();
  std::vector<UniqueFd> fds;
};

// Runs `handle(request)` for each request; its errors become error answers. Returns at end of file.
template <class Handler>
void serve(MessageChannel& channel, Handler&& handle) {
  for (;;) {
    auto message = channel.receive();
    if (!message) return;
    // Taken out of the message, so that what is asked for does not lie about while it is done.
    Json ticket;
    if (message->json.is_object() && message->json.contains("ticket")) {
      ticket = std::move(message->json["ticket"]);
      message->json.erase("ticket");
    }
    Result<Answer> answer = handle(*message);
    Status sent;
    if (answer) {
      std::vector<int> fds;
      for (const UniqueFd& fd : answer->fds) fds.push_back(fd.get());
      answer->json["ticket"] = std::move(ticket);
      sent = channel.send(answer->json, fds);
    } else {
      sent = channel.send(
          {{"error",
            {{"code", static_cast<int>(answer.error().code)}, {"message", answer.error().message}}},
           {"ticket", std::move(ticket)}});
    }
    if (!sent) return;
  }
}

// The handle of a round's burst of links without a kernel (docs/method.md: chain).
inline constexpr int kBareLinks = -1;

// Fields of messages from our own processes, which may have been tampered with: typed access that
// never throws.
Result<const Json*> member(const Json& object, const char* key);
Result<int64_t> integer(const Json& object, const char* key);
Result<std::string> text(const Json& object, const char* key);
double number_or(const Json& object, const char* key, double fallback);

// The notes of an answer, at most a few, made safe to show: a worker may run candidates.
std::vector<std::string> notes_of(const Json& answer);

Result<Problem> problem_from(const Json& message);  // Its field "problem".
Json to_json(const Check& check);
Result<Check> check_from_json(const Json& json);

}  // namespace assay::sweep
