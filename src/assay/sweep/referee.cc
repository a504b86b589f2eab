#include "assay/sweep/referee.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <map>
#include <unistd.h>

#include <fmt/format.h>

#include "assay/base/fd.h"
#include "assay/base/hash.h"
#include "assay/base/parallel.h"
#include "assay/base/random.h"
#include "assay/device/cuda/selection.h"
#include "assay/sweep/confine.h"
#include "assay/sweep/protocol.h"
#include "assay/sweep/referee_card.h"

namespace assay::sweep {
namespace {

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

Result<ErrorBound> bound_from(const Json& json) {
  ASSAY_TRY(const std::string word, text(json, "error"));
  return parse_error_bound(word);
}

// Owns what decides: the secret seeds, pristine inputs, references, comparison. It never maps
// candidate code, and hands out inputs in files that nobody can change, this process included.
class Referee {
 public:
  Result<Answer> handle(Message& message) {
    using Method = Result<Answer> (Referee::*)(Message&);
    static const std::map<std::string_view, Method> kMethods = {
        {"card", &Referee::open_card}, {"view", &Referee::view},
        {"commit", &Referee::commit},  {"instances", &Referee::instances},
        {"derive", &Referee::derive},  {"prepare", &Referee::prepare},
        {"check", &Referee::check},    {"reveal", &Referee::reveal},
        {"kinds", &Referee::kinds},    {"drop", &Referee::drop}};
    ASSAY_TRY(const std::string what, text(message.json, "do"));
    const auto method = kMethods.find(what);
    if (method == kMethods.end()) return fail(ErrorCode::internal, "a referee cannot '{}'", what);
    return (this->*method->second)(message);
  }

 private:
  Result<Answer> open_card(Message& message) {
    const std::string path = message.json.value("cuda_driver", std::string());
    ASSAY_TRY(const std::string uuid, text(message.json, "device"));
    ASSAY_TRY(auto device, cuda::open_pinned(path, uuid));
    ASSAY_TRY(card_, RefereeCard::open(std::move(device)));
    return Answer{};
  }

  // Whether memory that a worker shares is what it should be.
  Result<Answer> view(Message& message) {
    if (!card_) return fail(ErrorCode::unsupported, "this referee has no card");
    ASSAY_TRY(const Json* memory, member(message.json, "memory"));
    ASSAY_TRY(const cuda::SharedMemory shared, shared_memory_from(*memory));
    ASSAY_TRY(const Json* word, member(message.json, "word"));
    ASSAY_TRY(const auto copy, card_->fetch(shared));
    uint64_t seen = 0;
    if (shared.bytes == sizeof seen)
      ASSAY_TRY(card_->read(*copy, std::as_writable_bytes(std::span(&seen, 1))));
    if (shared.bytes != sizeof seen || !word->is_number_unsigned())
      return fail(ErrorCode::internal, "a word of another length");
    if (seen != word->get<uint64_t>())
      return fail(ErrorCode::unsupported, "shared memory of the card reads as something else");
    return Answer{};
  }

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
    ASSAY_TRY(const ErrorBound bound, bound_from(message.json));
    Answer answer;
    for (const InputKind kind : operation->useful_kinds(problem, bound))
      answer.json["kinds"].push_back(to_string(kind));
    return answer;
  }

  // An instance, by what the operand sets for timing get their numbers (op/renewal.h), and the
  // sealed files of its inputs that a worker gets.
  struct Kept {
    std::unique_ptr<Instance> instance;
    uint64_t sets_key = 0;
  };
  struct Made {
    std::unique_ptr<Instance> instance;
    std::vector<UniqueFd> files;
  };
  static Result<Made> with_files(Result<std::unique_ptr<Instance>> instance) {
    if (!instance) return fail(std::move(instance).error());
    Made made{std::move(*instance), {}};
    const auto operands = made.instance->problem().operands();
    for (size_t i = 0; i < operands.size(); ++i) {
      if (operands[i].access == Access::write) continue;
      ASSAY_TRY(auto file, made.instance->input_file(i));
      made.files.push_back(std::move(file));
    }
    return made;
  }

  void keep(Made made, const SecretSeed& seed, Answer& answer) {
    std::ranges::move(made.files, std::back_inserter(answer.fds));
    const uint64_t sets_key = seed_from(seed, fmt::format("operand sets {}", next_));
    answer.json["instances"].push_back(next_);
    answer.json["sets_keys"].push_back(sets_key);
    instances_[next_++] = {std::move(made.instance), sets_key};
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
      made[i] = with_files(operation->make_instance(problem, kinds[i], derived));
      // What the card compares needs no reference of ours.
      if (const auto* instance = made[i] ? calculated(*made[i]->instance) : nullptr;
          instance != nullptr && !card_)
        if (Status status = instance->prepare_check(); !status)
          made[i] = fail(std::move(status).error());
    });
    Answer answer;
    for (Result<Made>& each : made) {
      if (!each) return fail(std::move(each).error());
      keep(std::move(*each), *seed, answer);
    }
    return answer;
  }

  Result<const Kept*> find_kept(const Json& json) {
    ASSAY_TRY(const int64_t id, integer(json, "instance"));
    const auto found = instances_.find(id);
    if (found == instances_.end()) return fail(ErrorCode::internal, "no instance {}", id);
    return &found->second;
  }
  Result<const Instance*> find(const Json& json) {
    return find_kept(json).map(
        [](const Kept* kept) -> const Instance* { return kept->instance.get(); });
  }

  // Side by side, too.
  Result<Answer> derive(Message& message) {
    struct Wanted {
      const Instance* base = nullptr;
      const SecretSeed* seed = nullptr;
    };
    std::vector<Wanted> wanted;
    ASSAY_TRY(const Json* list, member(message.json, "wanted"));
    for (const Json& one : *list) {
      ASSAY_TRY(const Instance* base, find(one));
      ASSAY_TRY(const SecretSeed* seed, seed_of(one));
      wanted.push_back({base, seed});
    }
    std::vector<Result<Made>> made(wanted.size());
    for_each_parallel(wanted.size(), [&](size_t i) {
      const Instance& base = *wanted[i].base;
      made[i] = with_files(base.derive(seed_from(*wanted[i].seed, base.problem().signature())));
    });
    Answer answer;
    for (size_t i = 0; i < made.size(); ++i) {
      if (!made[i]) return fail(std::move(made[i]).error());
      answer.json["inputs"].push_back(made[i]->files.size());
      keep(std::move(*made[i]), *wanted[i].seed, answer);
    }
    return answer;
  }

  // What the card needs to compare outputs of these instances. What fails is said by check().
  Result<Answer> prepare(Message& message) {
    ASSAY_TRY(const Json* list, member(message.json, "instances"));
    for (const Json& one : *list) {
      ASSAY_TRY(const Instance* instance, find({{"instance", one}}));
      if (const auto* own = calculated(*instance); own != nullptr && card_)
        (void)own->prepare_check_on(*card_);
    }
    return Answer{};
  }

  Result<Answer> check(Message& message) {
    ASSAY_TRY(const Kept* kept, find_kept(message.json));
    const Instance* const instance = kept->instance.get();
    ASSAY_TRY(const Json* output, member(message.json, "output"));
    ASSAY_TRY(const ErrorBound bound, bound_from(message.json));
    InputSeeds seeds;
    if (const auto timed = message.json.find("timed"); timed != message.json.end()) {
      ASSAY_TRY(const int64_t set, integer(*timed, "set"));
      seeds = {.set = set_seed(kept->sets_key, static_cast<size_t>(set)),
               .launch = timed->value("launch", uint64_t{0})};
      if (!seeds.renewed()) return fail(ErrorCode::internal, "a timed launch has a seed");
    }
    size_t bytes = 0;
    for (const Operand& operand : instance->problem().operands())
      if (operand.access != Access::read) bytes = static_cast<size_t>(operand.span_bytes);
    Result<Check> check = output->is_null()
                              ? check_file(*instance, message.fds, bytes, seeds, bound)
                              : check_card(*instance, *output, bytes, seeds, bound);
    if (!check) return fail(std::move(check).error());
    Answer answer;
    answer.json["check"] = to_json(*check);
    return answer;
  }

  static Status check_size(size_t got, size_t expected) {
    if (got == expected) return {};
    return fail(ErrorCode::failed, "the output has {} bytes, expected {}", got, expected);
  }

  static Result<Check> check_file(const Instance& instance, const std::vector<UniqueFd>& fds,
                                  size_t bytes, const InputSeeds& seeds, ErrorBound bound) {
    if (fds.size() != 1) return fail(ErrorCode::internal, "one output is compared at a time");
    ASSAY_TRY(auto output, MappedFile::map_read_only(fds.front().get(), Seal::fixed_size));
    ASSAY_TRY(check_size(output.size(), bytes));
    // Copied out before it is looked at: whoever made it may still be able to write to it.
    const std::vector<std::byte> copy(output.bytes().begin(), output.bytes().end());
    return check_bytes(instance, copy, seeds, bound);
  }

  static Result<Check> check_bytes(const Instance& instance, std::span<const std::byte> output,
                                   const InputSeeds& seeds, ErrorBound bound) {
    if (const auto* own = calculated(instance); own != nullptr && !seeds.renewed())
      ASSAY_TRY(own->prepare_check());
    return instance.check(output, seeds, bound);
  }

  // A copy likewise.
  Result<Check> check_card(const Instance& instance, const Json& output, size_t bytes,
                           const InputSeeds& seeds, ErrorBound bound) {
    if (!card_) return fail(ErrorCode::internal, "this referee has no card");
    ASSAY_TRY(const cuda::SharedMemory shared, shared_memory_from(output));
    ASSAY_TRY(check_size(shared.bytes, bytes));
    ASSAY_TRY(const auto copy, card_->fetch(shared));
    if (const auto* own = calculated(instance)) {
      auto check = own->check_on(*card_, copy->data(), seeds, bound);
      const bool host_can = !check && (check.error().code == ErrorCode::machine ||
                                       check.error().code == ErrorCode::unsupported);
      if (check && check->compared > 0) check->method += ", on the card";
      if (!host_can) return check;
    }
    std::vector<std::byte> host(bytes);
    ASSAY_TRY(card_->read(*copy, host));
    return check_bytes(instance, host, seeds, bound);
  }

  // Null where it cannot leave its comparisons to a card.
  static const CalculatedInstance* calculated(const Instance& instance) {
    return dynamic_cast<const CalculatedInstance*>(&instance);
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

  std::unique_ptr<RefereeCard> card_;  // Outlives what instances keep there.
  std::vector<SecretSeed> seeds_;
  std::map<int64_t, Kept> instances_;
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
