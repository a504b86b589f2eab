#include "assay/timing/bursts.h"

#include <algorithm>
#include <random>

#include "assay/base/clock.h"
#include "assay/stats/robust.h"
#include "assay/timing/stand_in.h"

namespace assay::sweep {
namespace {

// Of users' processes in a company, at most. What does not fit shares processes.
constexpr size_t kMostGuests = 32;

}  // namespace

void Bursts::assign(const std::vector<size_t>& candidates) {
  home_.clear();
  const size_t most = std::min(kMostGuests, site_.guests_at_once());
  std::map<std::string, size_t> guests;
  for (const size_t index : candidates) {
    const std::string home = site_.home_of(field_.candidates[index]);
    home_[index] = 0;
    if (home.empty()) continue;
    const auto [guest, is_new] = guests.emplace(home, guests.size());
    home_[index] = 1 + guest->second % most;
  }
  processes_.clear();
  begun_.clear();
  const auto around = std::make_shared<AroundClock>();
  for (size_t member = 0; member <= std::min(guests.size(), most); ++member)
    processes_.push_back(std::make_unique<TimingProcess>(site_, field_, company_, member, around));
}

Status Bursts::open_stock(const Instances& instances, const std::vector<size_t>& candidates,
                          uint64_t seed) {
  instances_ = &instances;
  seed_ = seed;
  assign(candidates);
  site_.processes.freeze_guest();
  return open_process(0);
}

Status Bursts::open_guests() {
  for (size_t process = 1; process < processes_.size(); ++process)
    if (begun_.insert(process).second) ASSAY_TRY(open_process(process));
  return {};
}

std::set<size_t> Bursts::processes_of(const std::vector<size_t>& candidates) const {
  std::set<size_t> processes;
  for (const size_t candidate : candidates) processes.insert(home_.at(candidate));
  return processes;
}

Status Bursts::open_guests_of(const std::vector<size_t>& candidates) {
  for (const size_t process : processes_of(candidates))
    if (process > 0 && begun_.insert(process).second) ASSAY_TRY(open_process(process));
  return {};
}

Status Bursts::open_process(size_t process) {
  std::vector<size_t> own;
  for (const auto& [candidate, home] : home_)
    if (home == process) own.push_back(candidate);
  ASSAY_TRY(TimingProcess * opens, turn_to(process));
  return opens->open(*instances_, own, seed_);
}

Status Bursts::dismiss_guests() { return dismiss_guests_but({}); }

Status Bursts::dismiss_guests_but(const std::vector<size_t>& candidates) {
  const std::set<size_t> stay = processes_of(candidates);
  for (size_t process = 1; process < processes_.size(); ++process)
    if (!stay.contains(process)) ASSAY_TRY(processes_[process]->unload());
  return {};
}

Result<TimingProcess*> Bursts::turn_to(size_t process) {
  const int64_t start = monotonic_ns();
  for (size_t other = 0; other < processes_.size(); ++other)
    if (other != process) ASSAY_TRY(processes_[other]->park());
  switching_ns_ += static_cast<double>(monotonic_ns() - start);
  ASSAY_TRY(processes_[process]->revive());
  return processes_[process].get();
}

Result<Child*> Bursts::turn_to_worker_of(size_t candidate) {
  ASSAY_TRY(TimingProcess * process, turn_to(home_.at(candidate)));
  return process->worker();
}

bool Bursts::is_open(size_t candidate) const {
  const auto home = home_.find(candidate);
  return home != home_.end() && processes_[home->second]->is_open(candidate);
}

double Bursts::launch_ns(const Sample& sample) const {
  constexpr double kLeastShare = 0.01;  // A link that hides its kernel leaves nothing to compare.
  const double link = static_cast<double>(sample.ns) / sample.launches;
  const auto& bare = processes_.front()->bare_ns();
  return bare.empty() ? link : std::max(link - stats::median(bare), kLeastShare * link);
}

Result<Bursts::Round> Bursts::round(const std::vector<size_t>& who, const std::string& stage,
                                    Ahead ahead) {
  // Whom another kernel brought down with the process is open again, or has fallen, before its
  // handle is asked for.
  const bool all_at_once = processes_.size() == 1 && !processes_.front()->one_by_one();
  if (all_at_once) ASSAY_TRY(turn_to(0).map([](TimingProcess*) {}));
  std::vector<size_t> order;
  for (const size_t candidate : who)
    if (is_open(candidate)) order.push_back(candidate);
  std::shuffle(order.begin(), order.end(), random_);
  const uint64_t seed = random_() >> 1;
  Round round;
  round.complete = true;
  if (all_at_once) {
    ASSAY_TRY(processes_.front()->call_bursts(order, seed, stage, round));
    return round;
  }
  for (const size_t candidate : order) {
    if (!round.complete) break;
    ASSAY_TRY(TimingProcess * process, turn_to(home_.at(candidate)));
    if (ahead == Ahead::strangers) {
      ASSAY_TRY(process->park());
      ASSAY_TRY(const Child* worker, process->worker());
      stand_in_for_others(worker->pid());
    }
    if (process->is_open(candidate))
      ASSAY_TRY(process->call_bursts({candidate}, seed, stage, round));
    else
      round.complete = false;  // It fell when its process was to stand still.
  }
  return round;
}

Result<std::optional<Bursts::Sample>> Bursts::block(size_t candidate, double seconds) {
  if (!is_open(candidate)) return std::optional<Sample>();
  ASSAY_TRY(TimingProcess * process, turn_to(home_.at(candidate)));
  return process->block(candidate, seconds);
}

Result<std::optional<EventCounts>> Bursts::count(size_t candidate, int launches) {
  if (!is_open(candidate)) return std::optional<EventCounts>();
  ASSAY_TRY(TimingProcess * process, turn_to(home_.at(candidate)));
  return process->count(candidate, launches);
}

Status Bursts::judge_timed_output(const Instances& instances, size_t candidate) {
  if (!is_open(candidate)) return {};
  ASSAY_TRY(TimingProcess * process, turn_to(home_.at(candidate)));
  return process->judge(instances, candidate);
}

Status Bursts::judge_some(const Instances& instances, const std::vector<size_t>& who,
                          double chance) {
  for (const size_t index : who)
    if (field_.candidates[index].alive() && std::bernoulli_distribution(chance)(random_))
      ASSAY_TRY(judge_timed_output(instances, index));
  return {};
}

Status Bursts::close(const std::vector<size_t>& who) {
  for (size_t process = 0; process < processes_.size(); ++process) {
    std::vector<size_t> own;
    for (const size_t candidate : who)
      if (is_open(candidate) && home_.at(candidate) == process) own.push_back(candidate);
    if (own.empty()) continue;
    ASSAY_TRY(TimingProcess * closes, turn_to(process));
    ASSAY_TRY(closes->close(own));
  }
  return {};
}

Status Bursts::unload() {
  ASSAY_TRY(dismiss_guests());
  return processes_.empty() ? Status() : processes_.front()->unload();
}

double Bursts::seconds() const {
  double ns = switching_ns_;
  for (const auto& process : processes_) ns += process->wall_ns();
  return ns * 1e-9;
}

double Bursts::overhead_ns() const {
  double timed = 0, wall = switching_ns_;
  int bursts = 0;
  for (const auto& process : processes_) {
    timed += process->timed_ns();
    wall += process->wall_ns();
    bursts += process->bursts();
  }
  return bursts > 0 ? (wall - timed) / bursts : 0;
}

const std::string& Bursts::cold_doubt() const {
  for (const auto& process : processes_)
    if (!process->cold_doubt().empty()) return process->cold_doubt();
  return processes_.front()->cold_doubt();
}

}  // namespace assay::sweep
