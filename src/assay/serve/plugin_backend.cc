#include "assay/serve/plugin_backend.h"

#include <algorithm>
#include <sys/eventfd.h>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "assay/base/clock.h"
#include "assay/base/supervise.h"
#include "assay/base/text.h"
#include "assay/serve/assay_backend.h"
#include "assay/serve/plugin_child.h"

namespace assay::serve {
namespace {

constexpr std::int64_t kLookNs = 20 * kNsPerMs;  // At a child that has closed its end.
constexpr std::size_t kMostSentence = 400;

std::int64_t ns_of(double seconds) { return static_cast<std::int64_t>(seconds * kNsPerSecond); }

bool is_sentence(const Json& json) { return json.is_null() || json.is_string(); }

bool is_event(const Json& json) {
  return json.is_array() && json.size() == 5 && json[0].is_number_unsigned() &&
         json[1].is_number_integer() && json[2].is_number_unsigned() && json[3].is_number() &&
         is_sentence(json[4]);
}

Finish finish_of(std::uint64_t told) {
  switch (told) {
    case ASSAY_FINISH_STOP:
      return Finish::stop;
    case ASSAY_FINISH_LENGTH:
      return Finish::length;
    case ASSAY_FINISH_ERROR:
      return Finish::error;
    default:
      return Finish::none;
  }
}

}  // namespace

PluginBackend::PluginBackend(PluginOptions options, std::shared_ptr<const Vocabulary> vocabulary,
                             std::function<void()> gave_up, UniqueFd wake)
    : options_(std::move(options)),
      vocabulary_(std::move(vocabulary)),
      gave_up_(std::move(gave_up)),
      wake_(std::move(wake)) {
  capabilities_.name = "plugin";
}

Result<std::unique_ptr<PluginBackend>> PluginBackend::create(
    PluginOptions options, std::shared_ptr<const Vocabulary> vocabulary,
    std::function<void()> gave_up) {
  UniqueFd wake(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!wake) return fail(ErrorCode::machine, "there is no eventfd: {}", errno_text(errno));
  return std::unique_ptr<PluginBackend>(new PluginBackend(std::move(options), std::move(vocabulary),
                                                          std::move(gave_up), std::move(wake)));
}

PluginBackend::~PluginBackend() {
  link_.reset();
  program_.stop();
}

Status PluginBackend::load() { return start(monotonic_ns()); }

Status PluginBackend::start(std::int64_t now_ns) {
  link_.reset();
  wrong_.clear();
  cancelled_.clear();
  state_ = State::starting;
  started_ns_ = heard_ns_ = now_ns;
  ASSAY_TRY(auto pair, MessageChannel::create_pair());
  SubprocessOptions child;
  child.argv = {options_.program,
                "backend",
                options_.library,
                options_.model,
                options_.folder,
                options_.model_folder,
                std::to_string(vocabulary_->size())};
  child.env = options_.environment;
  child.working_directory = options_.folder;
  child.extra_fds = {{kPluginChannelFd, pair.second.get()}};
  ASSAY_TRY(program_.start(child, options_.program));
  ASSAY_TRY(link_, ChildLink::open(std::move(pair.first), wake_.get()));
  linked_ = true;
  return {};
}

std::optional<std::string> PluginBackend::unavailable() const {
  if (state_ == State::ready) return std::nullopt;
  if (ending_.empty()) return "The model is being loaded.";
  return program_.account("The backend is started again: it", ending_);
}

JobId PluginBackend::submit(Job job, std::int64_t now_ns) {
  const JobId id = ++last_;
  if (jobs_.empty()) heard_ns_ = now_ns;
  jobs_[id].max_tokens = job.max_tokens;
  if (state_ != State::ready) {  // It ended between the look at it and this.
    out_.push_back({.job = id, .finish = Finish::error, .error = *unavailable()});
    jobs_.erase(id);
    return id;
  }
  link_->send({{"submit",
                {id, job.prompt, job.max_tokens, job.min_tokens, job.ignore_eos,
                 job.sampling.seed ? Json(*job.sampling.seed) : Json(), job.sampling.temperature,
                 job.sampling.top_p, job.whole}}});
  return id;
}

void PluginBackend::cancel(JobId job, std::int64_t) {
  const auto found = jobs_.find(job);
  if (found == jobs_.end()) return;
  const bool finished = found->second.finished;
  jobs_.erase(found);
  if (finished || state_ != State::ready) return;
  cancelled_.insert(job);
  link_->send({{"cancel", job}});
}

void PluginBackend::hold(JobId job, bool held) {
  const auto found = jobs_.find(job);
  if (found != jobs_.end()) found->second.held = held;
}

void PluginBackend::wrong(std::string sentence) {
  if (wrong_.empty()) wrong_ = std::move(sentence);
}

void PluginBackend::give(Running& running, Event event) {
  if (running.held || !running.kept.empty())
    running.kept.push_back(std::move(event));
  else
    out_.push_back(std::move(event));
}

std::optional<Event> PluginBackend::read_event(const Json& json, std::int64_t at_ns) {
  if (!is_event(json)) {
    wrong("made an event that is none, or a text that is not UTF-8");
    return std::nullopt;
  }
  Event event;
  event.job = json[0].get<std::uint64_t>();
  if (cancelled_.contains(event.job)) return std::nullopt;
  const auto found = jobs_.find(event.job);
  if (found == jobs_.end() || found->second.finished) {
    wrong(fmt::format("made an event of job {}, which does not run", event.job));
    return std::nullopt;
  }
  const std::int64_t token = json[1].get<std::int64_t>();
  event.due_ns = at_ns;
  event.finish = finish_of(json[2].get<std::uint64_t>());
  if (event.finish == Finish::error)
    event.error = json[4].is_string() ? sanitize(json[4].get<std::string>(), kMostSentence)
                                      : "The backend failed and did not say why.";
  if (token < 0 || event.finish == Finish::error) return event;
  const std::string* bytes =
      token > INT32_MAX ? nullptr : vocabulary_->bytes_of(static_cast<int>(token));
  if (bytes == nullptr || ++found->second.made > found->second.max_tokens) {
    wrong(bytes == nullptr ? fmt::format("made the token {}, which there is not", token)
                           : fmt::format("made more tokens of job {} than it may", event.job));
    return std::nullopt;
  }
  event.token = Candidate{static_cast<int>(token), *bytes, json[3].get<double>()};
  return event;
}

void PluginBackend::take_events(const Json& message) {
  const auto at = message.find("at");
  const auto& events = message["events"];
  if (!events.is_array() || at == message.end() || !at->is_number_integer())
    return wrong("sent events that are none");
  for (const Json& json : events) {
    auto event = read_event(json, at->get<std::int64_t>());
    if (!wrong_.empty()) return;
    if (!event) continue;
    Running& running = jobs_.at(event->job);
    running.finished = event->finish != Finish::none;
    give(running, std::move(*event));
  }
}

void PluginBackend::take(const Json& message, std::int64_t now_ns) {
  heard_ns_ = now_ns;
  if (!message.is_object() || message.empty()) return wrong("sent what is no message");
  if (const auto ready = message.find("ready"); ready != message.end()) {
    if (state_ != State::starting || !ready->is_array() || ready->size() != 3 ||
        !(*ready)[0].is_string() || !(*ready)[1].is_number_unsigned() ||
        !(*ready)[2].is_number_unsigned() || (*ready)[1] < 2 || (*ready)[1] > (1 << 24) ||
        (*ready)[2] < 1 || (*ready)[2] > (1 << 20))
      return wrong("described itself with a name, a context or a number of jobs that cannot be");
    capabilities_ = {sanitize((*ready)[0].get<std::string>(), 80), (*ready)[1].get<int>(),
                     (*ready)[2].get<int>()};
    state_ = State::ready;
    ending_.clear();
    restarts_.ready(now_ns);
  } else if (const auto failed = message.find("failed"); failed != message.end()) {
    wrong(fmt::format("failed: {}", failed->is_string()
                                        ? sanitize(failed->get<std::string>(), kMostSentence)
                                        : "and did not say why"));
  } else if (const auto gone = message.find("gone"); gone != message.end()) {
    if (gone->is_number_unsigned()) cancelled_.erase(gone->get<std::uint64_t>());
  } else if (message.contains("events")) {
    take_events(message);
  } else {
    wrong("sent a message that nobody knows");
  }
}

// Its requests end, and it is started again.
void PluginBackend::end(std::int64_t now_ns, std::string_view why) {
  link_.reset();
  linked_ = false;
  program_.stop();
  ending_ = why;
  const std::string sentence = program_.account("The backend ended: it", why);
  for (auto& [id, running] : jobs_) {
    if (running.finished) continue;
    running.finished = true;
    give(running, {.job = id, .finish = Finish::error, .error = sentence, .due_ns = now_ns});
  }
  if (restarts_.ended(now_ns)) {
    state_ = State::waiting;
    return;
  }
  state_ = State::given_up;
  failure_ =
      program_.account(fmt::format("the backend {} would not stay up: at the start number {} it",
                                   sanitize(options_.library, 200), restarts_.in_a_row()),
                       why);
  gave_up_();
}

void PluginBackend::look(std::int64_t now_ns) {
  if (state_ == State::given_up || state_ == State::waiting) return;
  if (!wrong_.empty()) return end(now_ns, std::exchange(wrong_, {}));
  if (!linked_) {
    if (const auto ended = program_.look()) return end(now_ns, *ended);
    if (!program_.runs()) return end(now_ns, "ended");
  }
  if (state_ == State::starting && now_ns - started_ns_ > ns_of(options_.ready_seconds))
    return end(now_ns, fmt::format("was not ready after {} s", options_.ready_seconds));
  const bool works =
      std::ranges::any_of(jobs_, [](const auto& job) { return !job.second.finished; });
  if (!works) heard_ns_ = now_ns;
  if (state_ == State::ready && now_ns - heard_ns_ > ns_of(options_.step_seconds))
    end(now_ns, fmt::format("made nothing for {} s", options_.step_seconds));
}

void PluginBackend::release() {
  for (auto& [id, running] : jobs_)
    while (!running.held && !running.kept.empty()) {
      out_.push_back(std::move(running.kept.front()));
      running.kept.pop_front();
    }
}

void PluginBackend::poll(std::int64_t now_ns, std::vector<Event>& events) {
  std::uint64_t count = 0;
  static_cast<void>(!::read(wake_.get(), &count, sizeof count));
  std::vector<Json> messages;
  if (link_ && linked_) linked_ = link_->take(messages);
  for (const Json& message : messages) {
    if (!wrong_.empty()) break;
    take(message, now_ns);
  }
  look(now_ns);
  if (state_ == State::waiting && now_ns >= restarts_.retry_ns())
    if (const Status started = start(now_ns); !started) end(now_ns, started.error().message);
  release();
  for (Event& event : out_) {
    if (event.finish != Finish::none) jobs_.erase(event.job);
    events.push_back(std::move(event));
  }
  out_.clear();
}

std::optional<std::int64_t> PluginBackend::next_ns() const {
  if (!out_.empty()) return monotonic_ns();
  switch (state_) {
    case State::given_up:
      return std::nullopt;
    case State::waiting:
      return restarts_.retry_ns();
    case State::starting:
      return linked_ ? started_ns_ + ns_of(options_.ready_seconds) + 1 : monotonic_ns() + kLookNs;
    case State::ready:
      if (!linked_) return monotonic_ns() + kLookNs;
      if (jobs_.empty()) return std::nullopt;
      return heard_ns_ + ns_of(options_.step_seconds) + 1;
  }
  return std::nullopt;
}

}  // namespace assay::serve
