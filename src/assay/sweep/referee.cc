#include "assay/sweep/referee.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <unistd.h>

#include <fmt/format.h>

#include "assay/base/fd.h"
#include "assay/base/hash.h"
#include "assay/base/parallel.h"
#include "assay/base/random.h"
#include "assay/sweep/confine.h"
#include "assay/sweep/protocol.h"

namespace assay::sweep {
namespace {

constexpr int kChannelFd = 3;

Result<std::vector<InputKind>> parse_kinds(const Json& json) {
  ASSAY_TRY(const Json* list, member(json, "kinds"));
  std::vector<InputKind> kinds;
  for (const Json& name : *list) {
    const auto kind = name.is_string() ? find_input_kind(name.get<std::string>()) : std::nullopt;
    if (!kind) return fail(ErrorCode::internal, "no kind of input is called {}", name.dump());
    kinds.push_back(*kind);
  }
  return kinds;
}

// Owns what decides: the secret seeds, pristine inputs, references, comparison. It never maps
// candidate code, and hands out sealed copies alone.
class Referee {
 public:
  Result<Answer> handle(Message& message) {
    using Method = Result<Answer> (Referee::*)(Message&);
    static const std::map<std::string_view, Method> kMethods = {
        {"commit", &Referee::commit}, {"instances", &Referee::instances},
        {"derive", &Referee::derive}, {"check", &Referee::check},
        {"reveal", &Referee::reveal}, {"kinds", &Referee::kinds},
        {"drop", &Referee::drop}};
    ASSAY_TRY(const std::string what, text(message.json, "do"));
    const auto method = kMethods.find(what);
    if (method == kMethods.end()) return fail(ErrorCode::internal, "a referee cannot '{}'", what);
    return (this->*method->second)(message);
  }

 private:
  Result<Answer> commit(Message&) {
    ASSAY_TRY(const SecretSeed seed, secret_seed());
    seeds_.push_back(seed);
    Answer answer;
    answer.json["seed"] = seeds_.size() - 1;
    answer.json["commitment"] = sha256_hex(std::as_bytes(std::span(seed)));
    return answer;
  }

  Result<const SecretSeed*> seed_of(const Json& json) {
    ASSAY_TRY(const int64_t index, integer(json, "seed"));
    if (index < 0 || static_cast<size_t>(index) >= seeds_.size())
      return fail(ErrorCode::internal, "no seed {}", index);
    return &seeds_[static_cast<size_t>(index)];
  }

  Result<Answer> reveal(Message& message) {
    ASSAY_TRY(const SecretSeed* seed, seed_of(message.json));
    Answer answer;
    answer.json["seed"] = to_hex(*seed);
    return answer;
  }

  Result<Answer> kinds(Message& message) {
    ASSAY_TRY(const Problem problem, problem_from(message.json));
    ASSAY_TRY(const Operation* operation, find_operation(problem.operation()));
    Answer answer;
    for (const InputKind kind : operation->useful_kinds(problem))
      answer.json["kinds"].push_back(to_string(kind));
    return answer;
  }

  // An instance and the sealed copies of its inputs that a worker gets.
  struct Made {
    std::unique_ptr<Instance> instance;
    std::vector<UniqueFd> copies;
  };
  static Result<Made> with_copies(Result<std::unique_ptr<Instance>> instance) {
    if (!instance) return fail(std::move(instance).error());
    Made made{std::move(*instance), {}};
    const auto operands = made.instance->problem().operands();
    for (size_t i = 0; i < operands.size(); ++i) {
      if (operands[i].access == Access::write) continue;
      ASSAY_TRY(auto copy, create_sealed_memfd("assay-input", made.instance->input(i)));
      made.copies.push_back(std::move(copy));
    }
    return made;
  }

  void keep(Made made, Answer& answer) {
    std::ranges::move(made.copies, std::back_inserter(answer.fds));
    answer.json["instances"].push_back(next_);
    instances_[next_++] = std::move(made.instance);
  }

  // Side by side: nothing is timed meanwhile.
  Result<Answer> instances(Message& message) {
    ASSAY_TRY(const Problem problem, problem_from(message.json));
    ASSAY_TRY(const auto kinds, parse_kinds(message.json));
    ASSAY_TRY(const SecretSeed* seed, seed_of(message.json));
    ASSAY_TRY(const Operation* operation, find_operation(problem.operation()));
    std::vector<Result<Made>> made(kinds.size());
    for_each_parallel(kinds.size(), [&](size_t i) {
      const auto derived =
          seed_from(*seed, fmt::format("{} {}", problem.signature(), to_string(kinds[i])));
      made[i] = with_copies(operation->make_instance(problem, kinds[i], derived));
    });
    Answer answer;
    for (Result<Made>& each : made) {
      if (!each) return fail(std::move(each).error());
      keep(std::move(*each), answer);
    }
    return answer;
  }

  Result<const Instance*> find(const Json& json) {
    ASSAY_TRY(const int64_t id, integer(json, "instance"));
    const auto found = instances_.find(id);
    if (found == instances_.end()) return fail(ErrorCode::internal, "no instance {}", id);
    return found->second.get();
  }

  Result<Answer> derive(Message& message) {
    ASSAY_TRY(const Instance* base, find(message.json));
    ASSAY_TRY(const SecretSeed* seed, seed_of(message.json));
    auto derived = base->derive(seed_from(*seed, base->problem().signature()));
    ASSAY_TRY(Made made, with_copies(std::move(derived)));
    Answer answer;
    keep(std::move(made), answer);
    return answer;
  }

  Result<Answer> check(Message& message) {
    ASSAY_TRY(const Instance* instance, find(message.json));
    if (message.fds.size() != 1)
      return fail(ErrorCode::internal, "one output is compared at a time");
    ASSAY_TRY(auto output, MappedFile::map_read_only(message.fds.front().get(), Seal::fixed_size));
    size_t expected = 0;
    for (const Operand& operand : instance->problem().operands())
      if (operand.access != Access::read) expected = static_cast<size_t>(operand.span_bytes);
    if (output.size() != expected)
      return fail(ErrorCode::failed, "the output has {} bytes, expected {}", output.size(),
                  expected);
    // Copied out before it is looked at: whoever made it may still be able to write to it.
    const std::vector<std::byte> copy(output.bytes().begin(), output.bytes().end());
    const Json variation = message.json.value("variation", Json(0));
    Answer answer;
    answer.json["check"] =
        to_json(instance->check(copy, variation.is_number() ? variation.get<uint64_t>() : 0));
    return answer;
  }

  Result<Answer> drop(Message& message) {
    if (message.json.contains("instance")) {
      ASSAY_TRY(const int64_t id, integer(message.json, "instance"));
      instances_.erase(id);
    } else {
      instances_.clear();
    }
    return Answer{};
  }

  std::vector<SecretSeed> seeds_;
  std::map<int64_t, std::unique_ptr<Instance>> instances_;
  int64_t next_ = 0;
};

}  // namespace

Status referee_main() {
  hide_memory();
  MessageChannel channel{UniqueFd(kChannelFd)};
  Referee referee;
  serve(channel, [&](Message& message) { return referee.handle(message); });
  return {};
}

}  // namespace assay::sweep
