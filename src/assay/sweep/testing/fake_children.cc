#include "assay/sweep/testing/fake_children.h"

#include <algorithm>
#include <span>

#include "assay/base/clock.h"
#include "assay/base/fd.h"
#include "assay/kernel/metadata.h"
#include "assay/op/operation.h"

namespace assay::sweep::testing {
namespace {

std::string name_of(const Json& row) {
  const auto read = KernelMetadata::from_json(row);
  return read ? read->name() : std::string();
}

UniqueFd file_with(std::string_view text) {
  auto file = create_sealed_memfd("fake", std::as_bytes(std::span(text)));
  return file ? std::move(*file) : UniqueFd();
}

std::string content_of(int file) {
  const auto mapped = MappedFile::map_read_only(file, Seal::fixed_size);
  if (!mapped) return {};
  return {reinterpret_cast<const char*>(mapped->bytes().data()), mapped->size()};
}

// As it comes out of the channel.
Json sent(const Json& fields) {
  auto read = parse_json_bytes(canonical_bytes(fields), "message");
  return read ? std::move(*read) : Json();
}

}  // namespace

// Answers at once, so nobody waits for it.
class FakeChild final : public Child {
 public:
  explicit FakeChild(FakeChildren& children) : children_(children) {}

  void begin_to_end() override {}
  Death dismiss(std::string detail) override {
    if (!death_) death_ = Death{.kind = Death::Kind::broke_protocol, .detail = std::move(detail)};
    return *death_;
  }
  bool park() override { return parked_ = true; }
  void go_on() override { parked_ = false; }
  bool parked() const override { return parked_; }
  int64_t cpu_while_parked_ns() const override { return 0; }
  int64_t resident_bytes() const override { return children_.resident_bytes; }
  ClockReading read_clocks() const override { return {}; }
  std::vector<Moment> take_moments() override { return {}; }
  void wake_for_moments(bool, uint8_t) override {}
  void when_told(uint8_t, std::function<void()>) override {}
  bool alive() const override { return !death_; }
  pid_t pid() const override { return -1; }
  bool shows_memory() const override { return false; }
  Result<std::vector<std::byte>> read_memory(uint64_t, size_t) const override {
    return fail(ErrorCode::machine, "it has none");
  }
  bool remember_code() override { return false; }
  std::string find_changed_code() override { return {}; }

 private:
  void post_message(std::string_view what, Json fields, std::span<const int> files,
                    double) override {
    parked_ = false;
    if (death_) {
      reply_ = tl::unexpected<CallFailure>(*death_);
      return;
    }
    process::ReadRequest request{std::string(what), 0, sent(fields), {}};
    for (const int file : files) request.files.lend(file);
    reply_ = children_.answer(std::move(request));
    if (*reply_)
      (*reply_)->fields = sent((*reply_)->fields);
    else if (const auto* death = std::get_if<Death>(&reply_->error()))
      death_ = *death;
  }
  std::optional<CallResult<process::Reply>> take_reply() override {
    return std::exchange(reply_, std::nullopt);
  }
  void watch(Watched& watched) override { watched.has_ended = true; }

  FakeChildren& children_;
  std::optional<CallResult<process::Reply>> reply_;
  std::optional<Death> death_;
  bool parked_ = false;
};

FakeChildren::FakeChildren() {
  answer_as_worker();
  answer_as_referee();
}

StartChild FakeChildren::starter() {
  return [this](const ChildOptions&) -> Result<std::unique_ptr<Child>> {
    return std::make_unique<FakeChild>(*this);
  };
}

size_t FakeChildren::count_asked(std::string_view what) const {
  return static_cast<size_t>(std::ranges::count(history, what));
}

CallResult<process::Reply> FakeChildren::answer(process::ReadRequest request) {
  history.push_back(request.what);
  const auto method = methods_.find(request.what);
  if (method == methods_.end())
    return tl::unexpected<CallFailure>(
        Error{ErrorCode::internal, "no fake answers to " + request.what});
  return method->second(std::move(request));
}

void FakeChildren::answer_as_worker() {
  on<process::Init>([](const process::Init& init) {
    process::Init::Answer answer;
    answer.fingerprint = {init.venue.is_cpu() ? "cpu" : "gpu", "a fake", "fake", Json::object()};
    answer.target = "sm_90a";
    answer.threads = 1;
    answer.last_level_cache_bytes = 1 << 20;
    answer.memory_bytes = int64_t{1} << 36;
    answer.confinement.native_guests = false;
    return answer;
  });
  on<process::Discover>([this](const process::Discover&) {
    return process::Discover::Answer{offered, {}, {}};
  });
  on<process::Compile>([](const process::Compile& asked) {
    return process::Compile::Answer{Artifact::without_bytes({{"of", name_of(asked.row)}})};
  });
  on<process::Prebuild>([](const process::Prebuild& asked) {
    process::Prebuild::Answer answer;
    answer.kernels.resize(asked.rows.size());
    return answer;
  });
  on<process::FindCached>([](const process::FindCached& asked) {
    return process::FindCached::Answer{std::vector<bool>(asked.rows.size(), false)};
  });
  on<process::MeasureTimer>([](const process::MeasureTimer&) {
    return process::MeasureTimer::Answer{{1, 30, 60}};
  });
  on<process::Load>([](const process::Load&) { return process::Done{}; });
  on<process::Prove>([this](const process::Prove& asked) {
    const std::string name = name_of(asked.kernel.row);
    process::Prove::Answer answer;
    for (size_t i = 0; i < asked.instances.size(); ++i) {
      auto& launch = answer.launches.emplace_back(kernels[name].facts);
      launch.ns = kernels[name].launch_ns;
      launch.outputs = {{.file = static_cast<uint32_t>(i)}};
      answer.files.add(file_with(name));
    }
    return answer;
  });
  on<process::Rotate>([](const process::Rotate&) { return process::Rotate::Answer{8, ""}; });
  on<process::Open>([this](const process::Open& asked) {
    open_[next_handle_] = name_of(asked.kernel.row);
    return process::Open::Answer{.handle = next_handle_++};
  });
  on<process::Round>([this](const process::Round& asked) {
    const int64_t start = monotonic_ns();
    int64_t total = 0;
    process::Round::Answer answer;
    for (const auto& burst : asked.bursts) {
      const double ns = kernel_at(burst.handle).launch_ns * burst.launches;
      // No two alike.
      const auto jitter = static_cast<double>(next_jitter_++ * 7 % 11) * 1e-3;
      answer.bursts.push_back({.ns = static_cast<int64_t>(ns * (1 + jitter)),
                               .clean = true,
                               .launches = burst.launches});
      total += answer.bursts.back().ns;
    }
    // By the parent's clock it takes as long.
    while (monotonic_ns() < start + total) {
    }
    return answer;
  });
  on<process::Collect>([this](const process::Collect& asked) {
    process::Collect::Answer answer{.launch = next_launch_++, .output = {.file = 0}};
    answer.files.add(file_with(open_.at(asked.handle)));
    return answer;
  });
  on<process::FindTrespasses>(
      [](const process::FindTrespasses&) { return process::FindTrespasses::Answer{}; });
  on<process::LookAtInputs>([](const process::LookAtInputs&) {
    return process::LookAtInputs::Answer{true, ""};
  });
  on<process::Close>([](const process::Close&) { return process::Done{}; });
  on<process::Unload>([](const process::Unload&) { return process::Unload::Answer{}; });
}

void FakeChildren::answer_as_referee() {
  on<process::OpenGpu>([](const process::OpenGpu&) -> CallResult<process::Done> {
    return tl::unexpected<CallFailure>(Error{ErrorCode::unsupported, "no GPU"});
  });
  on<process::Commit>([](const process::Commit&) { return process::Commit::Answer{0, "c0ffee"}; });
  on<process::ChooseKinds>([](const process::ChooseKinds&) {
    return process::ChooseKinds::Answer{{InputKind::exact, InputKind::uniform}};
  });
  const auto make = [this](size_t count, size_t inputs) {
    process::MadeInstances made;
    for (size_t i = 0; i < count; ++i) {
      made.instances.push_back({next_instance_++, 1, inputs});
      for (size_t input = 0; input < inputs; ++input) made.files.add(file_with("input"));
    }
    return made;
  };
  on<process::MakeInstances>([make](const process::MakeInstances& asked) {
    const auto operands = asked.problem->operands();
    return make(asked.kinds.size(),
                static_cast<size_t>(std::ranges::count_if(operands, [](const Operand& operand) {
                  return operand.access != Access::write;
                })));
  });
  on<process::Derive>(
      [make](const process::Derive& asked) { return make(asked.wanted.size(), 2); });
  on<process::PrepareChecks>([](const process::PrepareChecks&) { return process::Done{}; });
  on<process::CheckOutput>([this](const process::CheckOutput& asked) {
    const FakeKernel& kernel = kernels[content_of(asked.files[0])];
    process::CheckOutput::Answer answer;
    answer.check = {.right = kernel.right,
                    .method = "every element",
                    .elements = 4,
                    .compared = 4,
                    .wrong = kernel.right ? 0 : 1,
                    .max_error = kernel.right ? 0.1 : 7.0,
                    .first_wrong = kernel.right ? "" : "out[0] is wrong"};
    return answer;
  });
  on<process::Reveal>([](const process::Reveal&) { return process::Reveal::Answer{"00"}; });
  on<process::Drop>([](const process::Drop&) { return process::Done{}; });
}

}  // namespace assay::sweep::testing
