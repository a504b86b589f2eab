#include "assay/sweep/stages/confirm.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <utility>

#include "assay/base/hash.h"
#include "assay/sweep/stages/earlier_confirmations.h"
#include "assay/sweep/stages/mean_errors.h"
#include "assay/sweep/stages/prove.h"

namespace assay::sweep {
namespace {

// At timed outputs of each kernel, over all processes, beside that at the end of each.
constexpr double kConfirmationLooks = 28;

// Of the rounds of a process, those that rivals make alone before the candidate comes, and as many
// when it has gone: one of eight, and four at least.
constexpr int kShareAlone = 8, kLeastRoundsAlone = 4;

std::vector<size_t> common(const std::vector<size_t>& some, const std::vector<size_t>& others) {
  std::vector<size_t> both;
  for (const size_t one : some)
    if (std::ranges::count(others, one) > 0) both.push_back(one);
  return both;
}

// Of operands' placement; whatever seeds a race's or a count's.
constexpr uint64_t kConfirmationSeed = 11;

KernelSamples empty_samples(const Candidate& candidate) {
  KernelSamples samples;
  samples.id = candidate.outcome.id;
  samples.launches = candidate.launches;
  return samples;
}

ProcessSamples empty_samples(const Field& field, const std::vector<size_t>& finalists,
                             const Bursts& bursts) {
  ProcessSamples samples;
  samples.placements = 1;
  for (const size_t index : finalists) {
    samples.kernels.push_back(empty_samples(field.candidates[index]));
    samples.kernels.back().process = bursts.process_number(index);
  }
  return samples;
}

// A round's burst of a kernel, or that there was none.
void add_burst(KernelSamples& kernel, const BurstSample* sample) {
  kernel.burst_ns.push_back(sample == nullptr ? 0 : sample->ns);
  kernel.clean.push_back(sample != nullptr && sample->clean ? 1 : 0);
  kernel.outside_ns.push_back(sample == nullptr ? 0 : sample->outside_ns);
  kernel.beside_ns.push_back(sample == nullptr ? 0 : sample->beside_ns);
  const bool spoiled = sample != nullptr && !sample->clean;
  kernel.ran_least_ns.push_back(spoiled ? sample->ran_least_ns : 0);
  kernel.ran_most_ns.push_back(spoiled ? sample->ran_most_ns : 0);
  if (sample != nullptr) kernel.launches = sample->launches;
}

void add_round(ProcessSamples& samples, const std::vector<size_t>& finalists,
               const Bursts::Round& round) {
  // Buffers of every set lie at places of their own (worker/cpu/problem.h), and bursts walk through
  // the sets: all rounds of a process are one block over many placements.
  samples.placement.push_back(0);
  std::vector<int>& order = samples.order.emplace_back();
  for (const BurstSample& sample : round.samples)
    order.push_back(
        static_cast<int>(std::ranges::find(finalists, sample.candidate) - finalists.begin()));
  for (size_t at = 0; at < finalists.size(); ++at) {
    const auto sample = std::ranges::find(round.samples, finalists[at], &BurstSample::candidate);
    add_burst(samples.kernels[at], sample == round.samples.end() ? nullptr : &*sample);
  }
  if (samples.bare_links) add_burst(*samples.bare_links, round.bare ? &*round.bare : nullptr);
}

// On a GPU nobody outside has a clock.
void drop_unknown_clocks(ProcessSamples& samples) {
  const auto drop = [](KernelSamples& kernel) {
    const auto is_unknown = [](const std::vector<int64_t>& clock) {
      return std::ranges::all_of(clock, [](int64_t ns) { return ns == 0; });
    };
    if (is_unknown(kernel.outside_ns)) kernel.outside_ns.clear();
    if (is_unknown(kernel.beside_ns)) kernel.beside_ns.clear();
    if (!is_unknown(kernel.ran_most_ns)) return;
    kernel.ran_least_ns.clear();
    kernel.ran_most_ns.clear();
  };
  std::ranges::for_each(samples.kernels, drop);
  std::ranges::for_each(samples.alone, drop);
  if (samples.bare_links) drop(*samples.bare_links);
}

}  // namespace

Confirming::Confirming(const Station& station, Field& field, const RaceResult& race)
    : station_(station),
      field_(field),
      spread_(race.spread),
      round_ns_(race.round_ns),
      base_(station) {
  plan_.processes = station.request.effort.processes;
  confirmation_.finalists = race.finalists;
  confirmation_.leader = race.leader;
  confirmation_.candidate = race.candidate;
  confirmation_.baseline = race.baseline;
  for (const std::string& id : race.finalists)
    for (size_t i = 0; i < field.candidates.size(); ++i)
      if (field.candidates[i].outcome.id == id) finalists_.push_back(i);
  equalise_launches();
}

// What a burst costs beside its launches is shared by as many of each kernel: on a GPU 0.7 us back
// to back (by A/A races of bursts of three and of four launches), on a processor, where the first
// launch finds caches colder, 0.9 us (of launches of 19 us, bursts of two against bursts of 14).
// There slow kernels in fast company have fewer, as long as that is under half a percent.
void Confirming::equalise_launches() {
  constexpr double kLongBurstNs = 200e3;
  int most = 1;
  for (const size_t index : finalists_) most = std::max(most, field_.candidates[index].launches);
  for (const size_t index : finalists_) {
    Candidate& candidate = field_.candidates[index];
    int wanted = most;
    if (station_.request.venue.is_cpu() && candidate.launch_ns > 0)
      wanted = std::min(wanted, static_cast<int>(std::ceil(kLongBurstNs / candidate.launch_ns)));
    wanted = std::max(wanted, candidate.launches);
    round_ns_ += candidate.launch_ns * (wanted - candidate.launches);
    candidate.launches = wanted;
  }
}

Status Confirming::begin() {
  // Stock kernels do not try again until somebody likes what a race says.
  const std::string& path = station_.request.keep.confirmations;
  for (const size_t index : finalists_) {
    const Candidate& candidate = field_.candidates[index];
    if (path.empty() || candidate.outcome.id != confirmation_.candidate ||
        candidate.outcome.role == KernelRole::stock)
      continue;
    const std::string key = confirmation_key(station_, candidate);
    const auto earlier = count_confirmation(path, key);
    // Those of this run are looks of one claim.
    if (earlier)
      confirmation_.earlier = std::max(0, *earlier - field_.confirmations[key]++);
    else
      uncounted_ = earlier.error().message;
  }
  ASSAY_TRY(base_.commit());
  ASSAY_TRY(base_.make(InputKind::uniform));
  base_.close_files();
  return {};
}

double Confirming::bytes() const {
  std::map<std::string, size_t> kernels;  // By process.
  for (const size_t index : finalists_) ++kernels[station_.home_of(field_.candidates[index])];
  double bytes = 0;
  for (const auto& [process, count] : kernels) bytes += station_.process_bytes(count);
  return bytes;
}

void Confirming::plan(double budget_seconds, double setup_seconds) {
  planned_ = true;
  const Request& request = station_.request;
  plan_ = stats::plan_confirmation(spread_, request.effort.margin,
                                   {.round_ns = round_ns_,
                                    .setup_ns = setup_seconds * 1e9,
                                    .budget_ns = budget_seconds * 1e9,
                                    .fewest = request.effort.processes,
                                    .most = most_processes(request)});
  confirmation_.rounds = plan_.rounds;
  confirmation_.wanted_rounds = plan_.wanted;
}

int Confirming::extend(const stats::SeenWidth& seen, double budget_seconds) {
  if (std::exchange(extended_, true)) return 0;
  const int more = stats::further_processes(seen, station_.request.effort.margin,
                                            most_extended(station_.request));
  if (more * process_seconds() > budget_seconds) return 0;
  plan_.processes += more;
  return more;
}

// Each finalist is proven again in each process, on that process's own inputs.
Status Confirming::prove_again(Bursts& bursts, const Instances& instances,
                               const std::vector<size_t>& who) {
  // In an order of its own: what libraries allocate at their first call lies where it happens to,
  // and whoever is first should not be so in every process.
  std::vector<size_t> order = who;
  std::shuffle(order.begin(), order.end(), std::mt19937_64(fast_hash(instances.commitment())));
  for (const size_t index : order) {
    if (!field_.candidates[index].alive() || !bursts.is_open(index)) continue;
    ASSAY_TRY(prove_where_timed(station_, field_, bursts, instances, index));
  }
  return {};
}

Status Confirming::make_rounds(Bursts& bursts, const Instances& instances,
                               ProcessSamples& samples) {
  const double looks = std::min(1.0, kConfirmationLooks / (plan_.processes * plan_.rounds));
  // One untimed round warms code, clocks and pools.
  for (int round = -1; round < plan_.rounds; ++round) {
    std::vector<size_t> who;
    for (const size_t index : finalists_)
      if (field_.candidates[index].alive()) who.push_back(index);
    if (who.empty()) break;
    ASSAY_TRY(const auto sampled, bursts.round(who, "confirm"));
    if (round >= 0) add_round(samples, finalists_, sampled);
    ASSAY_TRY(bursts.judge_some(instances, who, looks));
  }
  for (const size_t index : finalists_)
    if (field_.candidates[index].alive()) ASSAY_TRY(bursts.judge_timed_output(instances, index));
  judge_mean_errors(station_, field_);
  return {};
}

Result<std::unique_ptr<Confirming::Visit>> Confirming::visit(size_t confirmer) {
  auto visit = std::make_unique<Visit>(
      Visit{Instances(station_), Bursts(station_, field_, Crew::confirming(confirmer))});
  ASSAY_TRY(visit->instances.commit());
  return visit;
}

Status Confirming::set_up(Visit& visit) {
  Bursts& bursts = visit.bursts;
  ASSAY_TRY(bursts.open_stock(visit.instances, finalists_, kConfirmationSeed + set_up_++));
  return prove_again(bursts, visit.instances, of_stock(bursts, true));
}

std::vector<size_t> Confirming::of_stock(const Bursts& bursts, bool are_stocks) const {
  std::vector<size_t> who;
  for (const size_t index : finalists_)
    if ((bursts.process_number(index) == 0) == are_stocks) who.push_back(index);
  return who;
}

std::vector<size_t> Confirming::watched(const Bursts& bursts) const {
  if (!bursts.has_guests()) return {};
  std::vector<size_t> who = of_stock(bursts, true);
  const auto candidate = std::ranges::find_if(finalists_, [&](size_t index) {
    return field_.candidates[index].outcome.id == confirmation_.candidate;
  });
  if (!who.empty() || candidate == finalists_.end()) return who;
  for (const size_t index : finalists_)
    if (bursts.process_number(index) != bursts.process_number(*candidate)) who.push_back(index);
  return who;
}

// Rounds of those that are there without the candidate's process, half of them before it comes and
// half when it has gone: what it did to the machine shows in between.
Status Confirming::make_rounds_alone(Bursts& bursts, const std::vector<size_t>& who,
                                     ProcessSamples& samples) {
  if (who.empty()) return {};
  if (samples.alone.empty())
    for (const size_t index : who) samples.alone.push_back(empty_samples(field_.candidates[index]));
  const int rounds = std::max(kLeastRoundsAlone, plan_.rounds / kShareAlone);
  // One untimed round warms code, clocks and pools.
  for (int round = -1; round < rounds; ++round) {
    ASSAY_TRY(const auto sampled, bursts.round(who, "confirm", Bursts::Ahead::strangers));
    if (round < 0) continue;
    for (size_t at = 0; at < who.size(); ++at) {
      const auto sample = std::ranges::find(sampled.samples, who[at], &BurstSample::candidate);
      add_burst(samples.alone[at], sample == sampled.samples.end() ? nullptr : &*sample);
    }
  }
  return {};
}

Status Confirming::time(Visit& visit) {
  Bursts& bursts = visit.bursts;
  ProcessSamples samples = empty_samples(field_, finalists_, bursts);
  samples.seed_commitment = visit.instances.commitment();
  if (station_.condition.spacing == measure::Spacing::chain) samples.bare_links.emplace();
  const std::vector<size_t> rivals = watched(bursts);
  std::vector<size_t> users = of_stock(bursts, false);
  ASSAY_TRY(bursts.open_guests_of(rivals));
  ASSAY_TRY(prove_again(bursts, visit.instances, common(rivals, users)));
  ASSAY_TRY(make_rounds_alone(bursts, rivals, samples));
  ASSAY_TRY(bursts.open_guests());
  std::erase_if(users, [&](size_t index) { return std::ranges::count(rivals, index) > 0; });
  ASSAY_TRY(prove_again(bursts, visit.instances, users));
  ASSAY_TRY(make_rounds(bursts, visit.instances, samples));
  ASSAY_TRY(bursts.dismiss_guests_but(rivals));
  ASSAY_TRY(make_rounds_alone(bursts, rivals, samples));
  ASSAY_TRY(bursts.unload());
  drop_unknown_clocks(samples);
  ASSAY_TRY(samples.seed, visit.instances.reveal());
  ASSAY_TRY(visit.instances.drop());
  timed_seconds_ += bursts.seconds();
  if (!bursts.cold_doubt().empty()) cold_doubt_ = bursts.cold_doubt();
  confirmation_.processes.push_back(std::move(samples));
  return {};
}

Result<Confirmation> Confirming::end() {
  ASSAY_TRY(base_.drop());
  return std::move(confirmation_);
}

}  // namespace assay::sweep
