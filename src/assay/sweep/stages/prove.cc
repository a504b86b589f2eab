#include "assay/sweep/stages/prove.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "assay/base/operation_name.h"
#include "assay/base/text.h"
#include "assay/op/user/places.h"
#include "assay/record/coarse.h"
#include "assay/sweep/nothing_to_race.h"
#include "assay/sweep/stages/mean_errors.h"
#include "assay/sweep/stages/station.h"
#include "assay/timing/bound_advice.h"
#include "assay/timing/bursts.h"
#include "assay/timing/endings.h"
#include "assay/timing/instances.h"
#include "assay/timing/line_errors.h"

namespace assay::sweep {
namespace {

// Of several instances of a kind: the worst of what each was right in. False: they are not alike.
bool add_to(ProofCheck& known, const ProofCheck& more) {
  if (known.input != more.input || known.method != more.method || known.wrong > 0 ||
      more.wrong > 0 || !known.first_wrong.empty() || !more.first_wrong.empty())
    return false;
  known.compared = std::min(known.compared, more.compared);
  known.max_error = std::max(known.max_error, more.max_error);
  known.mean_error = std::max(known.mean_error, more.mean_error);
  known.smallest_visible = std::max(known.smallest_visible, more.smallest_visible);
  return true;
}

// How far it is wrong: the first element alone does not tell a slip at an edge from a wrong
// formula. Where only a part was compared, wrong rows may be counted beside elements.
std::string how_many_wrong(const Check& check) {
  if (check.compared != check.elements || check.wrong < 1 || check.wrong > check.elements ||
      check.elements < 2)
    return {};
  if (check.wrong == check.elements)
    return fmt::format(" (all {} elements are wrong)", check.elements);
  return fmt::format(" ({} of {} elements {} wrong)", check.wrong, check.elements,
                     check.wrong == 1 ? "is" : "are");
}

// What the checks of one kernel add up to. The launches are those of `prove`, the outputs theirs.
void add_check(Candidate& candidate, const Problem& problem, InputKind input_kind,
               const Check& check) {
  const std::string kind(to_string(input_kind));
  ProofSummary& proof = *candidate.outcome.proof;
  const ProofCheck made{kind,
                        check.method,
                        check.elements,
                        check.compared,
                        check.wrong,
                        std::isfinite(check.max_error) ? check.max_error : 1e300,
                        std::isfinite(check.mean_error) ? check.mean_error : 1e300,
                        check.smallest_visible,
                        check.first_wrong};
  if (proof.checks.empty() || !add_to(proof.checks.back(), made)) proof.checks.push_back(made);
  proof.max_error = std::max(proof.max_error, made.max_error);
  add_line_errors(proof, check);
  if (input_kind == InputKind::uniform) {
    const ProofCheck& told = proof.checks.back();  // Of all alike: `compare --recompute` reads it.
    proof.mean_error = told.mean_error;
    proof.method = told.method;
    proof.smallest_visible = told.smallest_visible;
  }
  if (check.right) return;
  proof.right = false;
  if (candidate.alive())
    candidate.outcome.ending = ending::Mismatch{
        fmt::format("{} inputs: {}{}{}", kind, check.first_wrong, how_many_wrong(check),
                    cancelling_advice(problem, check, input_kind))};
}

// The most frequent reason for both: before each launch other garbage stands in the output.
void explain_difference(Candidate& candidate) {
  if (!std::holds_alternative<ending::Mismatch>(candidate.outcome.ending) ||
      !candidate.deterministic)
    return;
  for (Finding& finding : candidate.outcome.findings)
    if (finding.code == "nondeterministic")
      finding.sentence +=
          "; elements that it never writes, or adds to before it writes them, differ so";
}

// A kernel that is wrong elementwise may be all that another promise asks for: then it is told of
// it. wrong: of each comparison that was, whether it is within that other bound.
void advise(Candidate& candidate, const Problem& problem,
            const std::vector<std::optional<bool>>& wrong) {
  auto* mismatch = std::get_if<ending::Mismatch>(&candidate.outcome.ending);
  if (mismatch == nullptr || std::ranges::find(wrong, true) == wrong.end() ||
      std::ranges::find(wrong, false) != wrong.end())
    return;
  ProofSummary promised = *candidate.outcome.proof;
  promised.error_bound = ErrorBound::normwise;
  if (!coarse_arithmetic(promised, {}, false)) mismatch->message += bound_advice(problem);
}

void add_launch(Candidate& candidate, const process::Prove::Answer::Launch& launch) {
  KernelOutcome& outcome = candidate.outcome;
  outcome.proof->launches += launch.launches;
  if (launch.ns > 0)
    candidate.launch_ns =
        candidate.launch_ns > 0 ? std::min(candidate.launch_ns, launch.ns) : launch.ns;
  if (!launch.repeatable && std::exchange(outcome.proof->bitwise_repeatable, false))
    outcome.findings.push_back(
        {"nondeterministic", candidate.deterministic
                                 ? "two launches on the same inputs differ in some bits"
                                 : "two launches on the same inputs differ, as it declares"});
  if (!candidate.alive()) return;
  if (!launch.trespass.empty())
    outcome.ending = ending::Violation{"writes_outside", launch.trespass};
  else if (launch.inputs_changed)
    outcome.ending = ending::Violation{"inputs_changed", "wrote to an input"};
  else if (launch.float_control_changed)
    outcome.ending =
        ending::Violation{"float_control",
                          "left the processor rounding, or treating subnormal numbers, "
                          "in another way than it found it"};
}

// Judges what a worker answered. The numbers of instances are those of `instances`.
Status judge_proof(Candidate& candidate, const Instances& instances, const process::Prove& asked,
                   process::Prove::Answer answer, Child& worker) {
  std::vector<std::optional<bool>> wrong;  // Within the normwise bound?
  for (size_t i = 0; i < answer.launches.size(); ++i) {
    const auto& launch = answer.launches[i];
    const size_t instance = asked.instances[i];
    add_launch(candidate, launch);
    for (size_t o = 0; o < launch.outputs.size(); ++o) {
      ASSAY_TRY(const Check check,
                instances.check(instance, seen_output(launch.outputs[o], answer.files),
                                std::nullopt, candidate.error_bound));
      if (!check.right) wrong.push_back(check.within_normwise);
      // One line for each kind of input, and one more where the second launch alone was wrong.
      if (o == 0 || !check.right)
        add_check(candidate, instances.problem(), instances.kind(instance), check);
    }
  }
  explain_difference(candidate);
  advise(candidate, instances.problem(), wrong);
  candidate.add_facts(answer.object);
  if (candidate.alive() && answer.left_processes) candidate.outcome.ending = left_processes();
  if (candidate.alive() && answer.busy_threads)
    candidate.outcome.ending = ending::Violation{
        "background_work",
        "its threads went on working after its launches, and would slow down every other kernel"};
  if (candidate.alive() && !answer.armed.empty())
    candidate.outcome.ending = ending::Violation{"background_work", answer.armed};
  // No other user's code has run in that process.
  if (candidate.alive() && candidate.outcome.role == KernelRole::user)
    if (const std::string changed = worker.find_changed_code(); !changed.empty())
      candidate.outcome.ending = ending::Violation{"patched_code", "it " + changed};
  // What a wrong kernel left behind (inputs that it changed, threads that write later) is no place
  // to prove another one.
  if (!candidate.alive()) worker.dismiss("a wrong kernel ran there");
  return {};
}

bool is_to_be_proven(const Candidate& candidate) { return candidate.alive() && !candidate.proven; }

// Several workers prove the kernels of one problem side by side: nothing is timed yet.
class ProofRun {
 public:
  // `kinds` of inputs, which instances will hold by the time of run().
  ProofRun(const Station& station, Field& field, const Instances& instances, size_t kinds)
      : station_(station), field_(field), instances_(instances), kinds_(kinds) {}

  // Of the workers that will prove, side by side.
  std::vector<std::function<Status()>> starts() const { return station_.crew.starts(how_many()); }

  Status run() {
    std::vector<Candidate*> stock, guests;
    for (Candidate& candidate : field_.candidates)
      if (is_to_be_proven(candidate))
        (station_.taints_process(candidate) ? guests : stock).push_back(&candidate);
    total_ = stock.size() + guests.size();
    if (total_ == 0) return {};
    std::vector<Prover> provers(how_many());
    std::vector<std::function<Status()>> loads;
    for (size_t i = 0; i < provers.size(); ++i)
      loads.push_back([&, i] { return load(i, provers[i]); });
    // While operands are on their way to the workers.
    if (station_.crew.referee_sees_gpu())
      loads.push_back([&] { return instances_.prepare_checks(); });
    ASSAY_TRY(station_.crew.side_by_side(loads));
    // No stock kernel is proven while a user's process is alive.
    ASSAY_TRY(prove_all(std::move(stock), provers));
    ASSAY_TRY(prove_all(std::move(guests), provers));
    for (Prover& prover : provers) leave_to({}, prover);
    return ask_again(provers);
  }

 private:
  struct Prover {
    Child* worker = nullptr;
    bool loaded = false;
    Candidate* candidate = nullptr;  // Under proof there; null: idle.
    process::Prove asked;            // Of it.
    std::string user_family;         // Whose code tainted the process, if one did.
  };

  // Of the instances that say something about kernels that promise that.
  Result<std::vector<uint64_t>> indices_for(ErrorBound bound) const {
    ASSAY_TRY(const Operation* operation, find_operation(station_.problem.operation()));
    const auto kinds = operation->useful_kinds(station_.problem, bound);
    std::vector<uint64_t> indices;
    for (size_t i = 0; i < instances_.count(); ++i)
      if (std::ranges::find(kinds, instances_.kind(i)) != kinds.end()) indices.push_back(i);
    return indices;
  }

  // Side by side.
  Status prove_all(std::vector<Candidate*> candidates, std::span<Prover> provers) {
    waiting_ = std::move(candidates);
    next_ = 0;
    for (;;) {
      for (size_t i = 0; i < provers.size() && next_ < waiting_.size(); ++i)
        if (provers[i].candidate == nullptr) ASSAY_TRY(begin(i, provers[i]));
      std::vector<Prover*> busy;
      std::vector<Child*> workers;
      for (Prover& prover : provers) {
        if (prover.candidate == nullptr) continue;
        busy.push_back(&prover);
        workers.push_back(prover.worker);
      }
      if (busy.empty()) return {};
      auto [which, reply] = Child::wait_for_any(workers);
      Prover& prover = *busy[which];
      ASSAY_TRY(finish(prover, prover.worker->read(prover.asked, std::move(reply)), provers));
    }
  }

  // What may have failed for want of what others took is proven once more, alone.
  Status ask_again(std::span<Prover> provers) {
    for (Candidate* const candidate : std::exchange(in_company_, {})) {
      candidate->outcome.ending = ending::Timed{};
      ASSAY_TRY(prove_all({candidate}, provers.first(1)));
      leave_to({}, provers.front());
    }
    return {};
  }

  // Only more of the same family find what a user's code left in its process.
  static void leave_to(const std::string& family, Prover& prover) {
    if (prover.user_family.empty() || prover.user_family == family) return;
    if (prover.worker->alive()) prover.worker->dismiss("a user's kernel ran there");
    prover.loaded = false;
    prover.user_family.clear();
  }

  // As many as there are cores for, and a quarter of the memory for operands.
  size_t how_many() const {
    constexpr size_t kMost = 4;
    const auto threads = static_cast<size_t>(std::max(1, station_.crew.facts().threads));
    double bytes = 1;
    for (const Operand& operand : station_.problem.operands())
      if (operand.access != Access::write) bytes += static_cast<double>(operand.span_bytes);
    bytes *= static_cast<double>(kinds_);
    const auto room = static_cast<double>(station_.crew.facts().memory_bytes) / 4 / bytes;
    const size_t by_memory = room < kMost ? static_cast<size_t>(room) : kMost;
    const auto waiting =
        static_cast<size_t>(std::ranges::count_if(field_.candidates, is_to_be_proven));
    return std::max<size_t>(
        1, std::min({kMost, std::thread::hardware_concurrency() / threads, by_memory, waiting}));
  }

  Status load(size_t index, Prover& prover) {
    ASSAY_TRY(prover.worker, station_.crew.prover(index));
    if (prover.loaded) return {};
    Status done = instances_.load_into(*prover.worker, 1);
    if (!done && !prover.worker->alive() && done.error().code != ErrorCode::interrupted) {
      // What ran in it before brought it down after its answers.
      ASSAY_TRY(prover.worker, station_.crew.prover(index));
      done = instances_.load_into(*prover.worker, 1);
    }
    prover.loaded = done.has_value();
    return done;
  }

  Status begin(size_t index, Prover& prover) {
    Candidate& candidate = *waiting_[next_];
    leave_to(candidate.family, prover);
    ASSAY_TRY(load(index, prover));
    if (station_.taints_process(candidate)) prover.user_family = candidate.family;
    ++next_;
    prover.candidate = &candidate;
    station_.observer.on_stage("prove", std::min(++begun_, total_), total_,
                               candidate.outcome.label());
    candidate.outcome.proof.emplace();
    candidate.outcome.proof->right = true;
    candidate.outcome.proof->error_bound = candidate.error_bound;
    ASSAY_TRY(auto which, indices_for(candidate.error_bound));
    prover.asked = {candidate.built_kernel(), std::move(which), station_.crew.referee_sees_gpu()};
    prover.worker->post(prover.asked, station_.request.limits.trial_seconds);
    return {};
  }

  // Whether somebody's else code ran beside it just now, which it may have met at the limits of the
  // machine.
  bool is_in_company(const Candidate& candidate, std::span<const Prover> provers) const {
    return station_.taints_process(candidate) && fails_by_limits(candidate.outcome.ending) &&
           std::ranges::any_of(provers, [&](const Prover& other) {
             return !other.user_family.empty() && other.user_family != candidate.family;
           });
  }

  Status finish(Prover& prover, CallResult<process::Prove::Answer> answer,
                std::span<const Prover> provers) {
    Candidate& candidate = *std::exchange(prover.candidate, nullptr);
    if (!answer) {
      if (is_interruption(answer.error())) return fail(std::get<Error>(answer.error()));
      candidate.outcome.proof.reset();
      candidate.outcome.ending = ending_of(answer.error(), "verify");
      if (is_in_company(candidate, provers)) in_company_.push_back(&candidate);
    } else {
      ASSAY_TRY(
          judge_proof(candidate, instances_, prover.asked, std::move(*answer), *prover.worker));
      candidate.proven = candidate.alive();
    }
    prover.loaded = prover.worker->alive();
    if (!prover.loaded) prover.user_family.clear();
    if (!in_company_.empty() && in_company_.back() == &candidate) return {};  // Not yet.
    return station_.journal.add_proof(station_.problem.name(), candidate.outcome,
                                      candidate.launch_ns);
  }

  const Station& station_;
  Field& field_;
  const Instances& instances_;
  size_t kinds_;
  std::vector<Candidate*> waiting_, in_company_;
  size_t next_ = 0, begun_ = 0, total_ = 0;
};

// Of the kernels that are to be proven: its kinds of inputs hold those of the other.
ErrorBound widest_bound(const Field& field) {
  const bool normwise = std::ranges::any_of(field.candidates, [](const Candidate& candidate) {
    return is_to_be_proven(candidate) && candidate.error_bound == ErrorBound::normwise;
  });
  return normwise ? ErrorBound::normwise : ErrorBound::elementwise;
}

// Of the referee's inputs, their copies and references, and of a worker's, with four operand sets
// for timing: empty where all of it fits this machine's memory.
std::string why_too_large(const Station& station, ErrorBound bound) {
  const auto operation = find_operation(station.problem.operation());
  if (!operation) return operation.error().message;
  const auto kinds = static_cast<double>((*operation)->useful_kinds(station.problem, bound).size());
  double inputs = 0, outputs = 0;
  for (const Operand& operand : station.problem.operands()) {
    const auto bytes = static_cast<double>(operand.span_bytes);
    if (operand.access != Access::write) inputs += bytes;
    if (operand.access != Access::read) outputs += bytes;
  }
  const double needed = inputs * (3 * kinds + 4) + outputs * (kinds + 4);
  const auto memory = static_cast<double>(station.crew.facts().memory_bytes);
  if (memory <= 0 || needed <= memory) return {};
  return fmt::format(
      "too large for this machine: proving and timing it needs about {} of memory, "
      "and there are {}",
      format_bytes(needed), format_bytes(memory));
}

// Ends this problem, not the run: the next one may be smaller.
Status leave_unproven(Field& field, std::string why) {
  for (Candidate& candidate : field.candidates)
    if (candidate.alive()) candidate.outcome.ending = ending::NotReached{why};
  field.unprovable = std::move(why);
  return {};
}

// One instance of each kind that says something.
Status make_all_kinds(const Station& station, Instances& instances, ErrorBound bound) {
  ASSAY_TRY(const auto kinds, instances.choose_kinds(bound));
  station.observer.on_stage("reference", 0, kinds.size(), "all of them at once");
  return instances.make(kinds);
}

}  // namespace

Status prove_where_timed(const Station& station, Field& field, Bursts& bursts,
                         const Instances& instances, size_t index) {
  ASSAY_TRY(Child * worker, bursts.turn_to_worker_of(index));
  Candidate& candidate = field.candidates[index];
  const process::Prove asked{candidate.built_kernel(), {0}, station.crew.referee_sees_gpu()};
  auto answer = worker->call(asked, station.trial_seconds);
  if (!answer) {
    if (is_interruption(answer.error())) return fail(std::get<Error>(answer.error()));
    candidate.outcome.ending = ending_of(answer.error(), "verify");
    return {};
  }
  if (!candidate.outcome.proof) {
    candidate.outcome.proof.emplace().right = true;
    candidate.outcome.proof->error_bound = candidate.error_bound;
  }
  return judge_proof(candidate, instances, asked, std::move(*answer), *worker);
}

Status prove(const Station& station, Field& field, const std::function<Status()>& build) {
  if (std::ranges::none_of(field.candidates, is_to_be_proven)) {
    ASSAY_TRY(build());
    judge_mean_errors(station, field);  // Of what an earlier process of the run proved.
    return {};
  }
  const ErrorBound bound = widest_bound(field);
  if (std::string why = why_too_large(station, bound); !why.empty()) {
    ASSAY_TRY(build());
    return leave_unproven(field, std::move(why));
  }
  Instances instances(station);
  ASSAY_TRY(instances.commit());
  ASSAY_TRY(const Operation* operation, find_operation(station.problem.operation()));
  ProofRun proofs(station, field, instances,
                  operation->useful_kinds(station.problem, bound).size());
  // Workers begin, and the referee makes inputs, while kernels are built.
  std::vector<std::function<Status()>> tasks = {build};
  std::ranges::move(proofs.starts(), std::back_inserter(tasks));
  Status made;
  tasks.push_back([&]() -> Status {
    ASSAY_TRY(station.crew.open_referees_gpu());
    made = make_all_kinds(station, instances, bound);
    return {};
  });
  ASSAY_TRY(station.crew.side_by_side(tasks));
  if (!made) {
    if (made.error().code == ErrorCode::interrupted) return made;
    // A definition that is no measure is a file that is wrong, and would be for the next problem.
    const std::string& operation_name = station.problem.operation();
    if (made.error().code == ErrorCode::invalid_input && is_defined_by_user(operation_name))
      return fail(user::located(operation_name, made.error()));
    return leave_unproven(field, std::move(made).error().message);
  }
  // Where what the race is about was not built, stock kernels need no proof.
  if (std::string why = why_no_race(station.request, field); !why.empty())
    return leave_unproven(field, std::move(why));
  ASSAY_TRY(station.crew.show_gpu_to_referee());
  ASSAY_TRY(proofs.run());
  judge_mean_errors(station, field);
  return instances.drop();
}

}  // namespace assay::sweep
