#include "assay/record/outcome.h"

#include <array>
#include <cmath>
#include <csignal>

#include "assay/base/text.h"

namespace assay {
namespace {

constexpr std::array<std::string_view, 10> kEndingNames = {
    "timed",   "refusal",       "build_failure", "mismatch",  "crash",
    "timeout", "out_of_memory", "device_lost",   "violation", "not_reached"};

std::string signal_name(int signal) {
  switch (signal) {
    case SIGSEGV:
      return "SIGSEGV";
    case SIGABRT:
      return "SIGABRT";
    case SIGBUS:
      return "SIGBUS";
    case SIGFPE:
      return "SIGFPE";
    case SIGILL:
      return "SIGILL";
    case SIGKILL:
      return "SIGKILL";
    case SIGTERM:
      return "SIGTERM";
    case SIGTRAP:
      return "SIGTRAP";
    case SIGSYS:
      return "SIGSYS";
    default:
      return fmt::format("signal {}", signal);
  }
}

// What the kernel most probably did; empty if that says no more than the signal's name.
std::string_view usual_cause(int signal) {
  switch (signal) {
    case SIGSEGV:
    case SIGBUS:
      return "it read or wrote memory that is not there, such as far outside its buffers";
    case SIGILL:
      return "it ran an instruction that this CPU does not have, or __builtin_trap()";
    case SIGFPE:
      return "it divided an integer by zero, or trapped a floating-point exception";
    case SIGABRT:
      return "it called abort(), failed an assertion, or let an exception escape";
    default:
      return {};
  }
}

std::string in_stage(std::string_view stage) {
  if (stage == "verify") return " while it was proven";
  return stage.empty() ? std::string() : fmt::format(" in {}", sanitize(stage, 40));
}

std::string with_message(std::string_view what, std::string_view message) {
  return message.empty() ? std::string(what) : fmt::format("{}: {}", what, sanitize(message, 400));
}

// The compiler's own lines, which follow, are for logs.
std::string_view first_line(std::string_view message) {
  std::string_view line = trim(message.substr(0, message.find('\n')));
  while (line.ends_with(':')) line.remove_suffix(1);
  return line;
}

struct Sentence {
  std::string operator()(const ending::Timed&) const { return "timed"; }
  std::string operator()(const ending::Refusal& refusal) const {
    return with_message("was refused",
                        refusal.reasons.empty() ? "" : refusal.reasons.front().sentence);
  }
  std::string operator()(const ending::BuildFailure& failure) const {
    return with_message("did not compile", first_line(failure.message));
  }
  std::string operator()(const ending::Mismatch& mismatch) const {
    return with_message("gave wrong results", mismatch.message);
  }
  std::string operator()(const ending::Crash& crash) const {
    const std::string how = crash.signal != 0 ? signal_name(crash.signal)
                                              : fmt::format("exit code {}", crash.exit_code);
    return with_message(fmt::format("crashed{} ({})", in_stage(crash.stage), how),
                        usual_cause(crash.signal));
  }
  std::string operator()(const ending::Timeout& timeout) const {
    return fmt::format("ran past {}{}; {} allows more", format_duration(timeout.limit_seconds),
                       in_stage(timeout.stage),
                       timeout.stage == "build" ? "--compile-timeout" : "--timeout");
  }
  std::string operator()(const ending::OutOfMemory& memory) const {
    return memory.limit_bytes > 0
               ? fmt::format("ran out of memory{} (limit {})", in_stage(memory.stage),
                             format_bytes(static_cast<double>(memory.limit_bytes)))
               : fmt::format("ran out of memory{}", in_stage(memory.stage));
  }
  std::string operator()(const ending::DeviceLost& lost) const {
    return with_message("lost the device", lost.message);
  }
  std::string operator()(const ending::Violation& violation) const {
    return with_message(fmt::format("broke a rule ({})", sanitize(violation.code, 60)),
                        violation.message);
  }
  std::string operator()(const ending::NotReached& reached) const {
    return with_message("was not reached", reached.message);
  }
};

constexpr std::array<std::pair<KernelRole, std::string_view>, 4> kRoles = {{
    {KernelRole::stock, "stock"},
    {KernelRole::ours, "ours"},
    {KernelRole::user, "user"},
    {KernelRole::reference, "reference"},
}};

}  // namespace

std::string_view ending_name(const Ending& ending) { return kEndingNames[ending.index()]; }

std::string ending_sentence(const Ending& ending) { return std::visit(Sentence{}, ending); }

std::string_view to_string(KernelRole role) {
  for (const auto& [value, name] : kRoles)
    if (value == role) return name;
  return {};
}

Result<KernelRole> parse_kernel_role(std::string_view text) {
  for (const auto& [role, name] : kRoles) {
    if (name == text) return role;
  }
  return fail(ErrorCode::invalid_input, "'{}' is no role; it is stock, ours, user or reference",
              sanitize(text, 80));
}

std::string ProofSummary::word() const {
  const std::string_view said = right ? "right" : "wrong";
  return error_bound == ErrorBound::elementwise
             ? std::string(said)
             : fmt::format("{}, {}", said, to_string(error_bound));
}

void RmsError::add(std::int64_t more, double sum_of_squares) {
  const auto before = static_cast<double>(elements);
  elements += more;
  if (elements > 0)
    rms = std::sqrt((rms * rms * before + sum_of_squares) / static_cast<double>(elements));
}

double GpuLaunchFacts::waves() const {
  const double wave = static_cast<double>(resident_blocks) * static_cast<double>(multiprocessors);
  return wave > 0 ? static_cast<double>(blocks) / wave : 0;
}

double GpuLaunchFacts::occupancy() const {
  if (most_threads <= 0) return 0;
  return static_cast<double>(resident_blocks * threads) / static_cast<double>(most_threads);
}

}  // namespace assay
