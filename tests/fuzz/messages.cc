#include "tests/fuzz/messages.h"

#include <algorithm>
#include <cstdlib>
#include <fcntl.h>
#include <functional>
#include <map>
#include <set>

#include "assay/process/messages.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/samples.h"

namespace assay::fuzz {
namespace {

using process::Codec;

process::Files some_files(size_t count) {
  process::Files files;
  for (size_t i = 0; i < count; ++i) files.add(UniqueFd(::open("/dev/null", O_RDONLY | O_CLOEXEC)));
  return files;
}

// What holds of an answer besides that it is written as it was read.
template <class M>
void look_at(const M& message) {
  if constexpr (requires { message.problem->operation(); }) expect_made_again(*message.problem);
}

// That times which were told can be added up, and launches are no more than were asked for.
void look_at(const process::Round::Answer& answer) {
  constexpr int64_t kBeyond = int64_t{1} << 53;  // Where sums of doubles begin to lose.
  for (const auto& bursts :
       {std::vector<process::Round::Burst>{{0, 20}}, {{0, 20}, {process::kBareLinks, 3}, {7, 1}}}) {
    const process::Round asked{bursts, 1, 0};
    if (!asked.check(answer)) continue;
    expect(answer.bursts.size() == bursts.size() || answer.ended,
           "another number of bursts than was asked for");
    for (size_t i = 0; i < answer.bursts.size(); ++i) {
      const auto& burst = answer.bursts[i];
      expect(burst.launches >= 1 && burst.launches <= bursts[i].launches,
             "more launches than were asked for, or none");
      expect(burst.ns > 0, "a burst of no time");
      for (const int64_t ns : {burst.ns, burst.waited_ns, burst.taken_ns, burst.others_ahead_ns,
                               burst.others_since_ns})
        expect(std::abs(ns) < kBeyond, "longer than any call");
    }
  }
}

void look_at(const process::Prove::Answer& answer) {
  std::set<uint32_t> used;
  for (const auto& launch : answer.launches)
    for (const auto& output : launch.outputs)
      expect(
          !output.file || (*output.file < answer.files.size() && used.insert(*output.file).second),
          "an output in no file, or two in one");
}

template <class M>
bool read_one(const Json& fields, size_t files) {
  const auto message = Codec<M>::read(fields, some_files(files));
  if (!is_read(message)) return false;
  look_at(*message);
  const Json written = Codec<M>::write(*message);
  const auto again = Codec<M>::read(written, some_files(files));
  if (is_read_again(again)) expect_same(Codec<M>::write(*again), written, "a message changes");
  return true;
}

using Read = bool (*)(const Json& fields, size_t files);
using Table = std::map<std::string, Read, std::less<>>;

template <class... R>
void add(Table& table, process::Requests<R...>) {
  ((table[R::kName] = &read_one<R>,
    table[std::string(R::kName) + " answer"] = &read_one<typename R::Answer>),
   ...);
}

template <class... M>
void add_each(Table& table) {
  ((table[M::kName] = &read_one<M>), ...);
}

const Table& table() {
  static const Table all = [] {
    Table made;
    add(made, process::WorkerRequests());
    add(made, process::ProblemRequests());
    add(made, process::RefereeRequests());
    add_each<process::GuardBegins, process::GuardStands, process::GuardStops, process::GuardTells,
             process::ProfileScript>(made);
    return made;
  }();
  return all;
}

}  // namespace

std::vector<std::string> message_names() {
  std::vector<std::string> names;
  for (const auto& [name, read] : table()) names.push_back(name);
  return names;
}

bool read_message(std::string_view name, const Json& fields, size_t files) {
  const auto found = table().find(name);
  return found != table().end() && found->second(fields, files);
}

}  // namespace assay::fuzz
