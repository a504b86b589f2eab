#pragma once

// What parent, worker and referee say to one another: {"do": NAME, ...} and an answer, which is an
// object with results or {"error": {"code", "message"}}, and repeats the request's "ticket".
// Descriptors carry operands and outputs. A worker's answer may have "notes", sentences for the
// user.
//
// clang-format off
// worker    init      device, providers, users' kernels  -> fingerprint, target, threads, memory,
//                                                            confinement, providers, waiting
//                                                            (families whose code runs to be brought)
//           bring     file (of the users' kernels)       -> {}; its waiting families are here. A row
//                                                            of one that is not here yet brings it.
//           conform   check, problem                     -> faults, looked_at, ran, refusals
//           manners   -                                  -> faults of what was loaded
//           discover  problem, filter, providers, target -> kernels (blocks of rows, with their
//                                                            role), refusals, missing
//           compile   problem, row                       -> artifact
//           rank      problem, kernels (blocks),         -> of each: name, reason why it cannot, or
//                     rankers, target (else: the device)     version, path, costs (null: none) and
//                                                            unscored {sentence: rows}
//           rankers   rankers                            -> of each: name, reason why it is missing, or
//                                                            version, path
//           cached    problem, rows                      -> of each, whether its artifact is cached
//           prebuild  problem, rows                      -> of each: the artifact where the cache had
//                                                            it (else null, cached now), seconds,
//                                                            whether compiling failed
//           guest     argv, input, timeout, memory,      -> code, signal, timed_out, truncated, out,
//                     most_output                            err: of a program that ran without
//                                                            rights. No init goes ahead of it.
//           export    problem, row                       -> source and a call, as it leaves
//           timer     -                                  -> tick_ns, read_ns, empty_burst_ns
//           ceilings  -                                  -> what this device reaches
//           card      -                                  -> how the card was since the last call
//           load      problem, instances + fds, seed     -> {}
//           share     -                                  -> memory of the card, the word in it
//           prove     row, artifact, instances, share    -> per instance facts and outputs; whether
//                                                            threads are busy afterwards; what its
//                                                            object did when it was loaded, memory
//                                                            that it holds
//           rotate    condition                          -> sets, cold_doubt
//           open      row, artifact                      -> handle, bytes, where outputs lie, the
//                                                            same of its object
//           constants -                                  -> memory that nothing of ours changes
//                                                            while these kernels are open
//           round     bursts [[handle, launches]...],    -> bursts [[ns, clean, waited, launches,
//                     seed                                   processor time taken, what other threads
//                                                            took ahead of it, and behind the one
//                                                            before]...], or whose launch failed
//           block     handle, seconds                    -> ns, launches
//           collect   handle, choice, share              -> variation, output
//           trespasses  handle                           -> what was written outside its buffers,
//                                                            and beside the inputs
//           count     handle, launches, seed             -> launches, clock_hz, events
//           intact    -                                  -> whether the operand sets are as they
//                                                            were, trespass beside them
//           close     handles                            -> {}
//           unload    -                                  -> {}
// referee   card      device                             -> {}: it compares on this card now
//           view      memory of a card, a word           -> whether it sees the word there
//           commit                                       -> seed index, commitment of a secret seed
//           kinds     problem                            -> those that say something about it
//           instances problem, kinds, seed index         -> instances, input operands of all + fds
//           derive    instance, seed index               -> likewise, of one
//           check     instance, variation, output        -> Check
//           reveal    seed index                         -> seed
//           drop      instance (or all)                  -> {}
// clang-format on

#include <csignal>
#include <limits>
#include <optional>
#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "assay/base/json.h"
#include "assay/base/message_channel.h"
#include "assay/device/cuda/shared_memory.h"
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
  const pid_t self = ::getpid();
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
    // A candidate forked, and went on in both: one of them answers.
    if (::getpid() != self) ::kill(::getpid(), SIGKILL);
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

// By that descriptor a child and its parent speak.
inline constexpr int kChannelFd = 3;
// At that descriptor a worker tells of the moments of each burst (base/pulses.h): when it has seen
// its threads at rest and begins to make the inputs, and around its clock (measure/burst.h).
inline constexpr int kPulseFd = 5;
// At that descriptor, which no other file comes to be by itself, a worker has the system's table of
// its pages (own_pages.h).
inline constexpr int kPagesFd = 60;

// The handle of a round's burst of links without a kernel (docs/method.md: chain).
inline constexpr int kBareLinks = -1;

// Fields of messages from our own processes, which may have been tampered with: typed access that
// never throws.
Result<const Json*> member(const Json& object, const char* key);
Result<int64_t> integer(const Json& object, const char* key);
Result<std::string> text(const Json& object, const char* key);
double number_or(const Json& object, const char* key, double fallback);
// The whole number that a T can hold which is nearest to it.
template <class T>
T whole_or(const Json& object, const char* key, T fallback) {
  const auto value = member(object, key);
  if (value && (*value)->is_number_integer()) {
    const Json& number = **value;
    if (number.is_number_unsigned() && std::in_range<T>(number.get<uint64_t>()))
      return static_cast<T>(number.get<uint64_t>());
    if (!number.is_number_unsigned() && std::in_range<T>(number.get<int64_t>()))
      return static_cast<T>(number.get<int64_t>());
  }
  const double number = number_or(object, key, static_cast<double>(fallback));
  if (number <= static_cast<double>(std::numeric_limits<T>::min()))
    return std::numeric_limits<T>::min();
  // As a double it may be one more than a T can hold.
  if (number >= static_cast<double>(std::numeric_limits<T>::max()))
    return std::numeric_limits<T>::max();
  return static_cast<T>(number);
}

// The notes of an answer, at most a few, made safe to show: a worker may run candidates.
std::vector<std::string> notes_of(const Json& answer);

Result<Problem> problem_from(const Json& message);  // Its field "problem".

// An output as it goes from a worker to the referee: a memory file, which in a message is null and
// a descriptor beside it; or, asked for with "share", memory of the card.
struct HandedOut {
  UniqueFd file;
  std::optional<cuda::SharedMemory> card;
};
Json to_json(HandedOut output, std::vector<UniqueFd>& fds);
// Of some messages' outputs, in the order of their descriptors.
struct SeenOutput {
  Json json;  // As it was sent.
  int fd = -1;
};
// fds: from `next` on, which goes on.
Result<SeenOutput> output_from(const Json& json, const std::vector<UniqueFd>& fds, size_t& next);

Json to_json(const cuda::SharedMemory& memory);
Result<cuda::SharedMemory> shared_memory_from(const Json& json);

Json to_json(const Check& check);
Result<Check> check_from_json(const Json& json);

}  // namespace assay::sweep
