#include "cli/lab/evaluate_setup.h"

#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include "assay/base/clock.h"
#include "assay/base/text.h"
#include "assay/device/device_lock.h"
#include "cli/files/kernel_files.h"
#include "cli/own_environment.h"
#include "cli/show/lock_wait.h"

namespace assay::cli {
namespace {

constexpr size_t kMostName = 60;

// What finding programs needs, and what `assay` itself reads: nothing else reaches a case.
std::vector<std::string> environment_of(const Context& context) {
  std::vector<std::string> all = context.settings.child_environment;
  all.push_back("ASSAY_CACHE_DIR=" + context.settings.cache.string());
  if (!context.settings.locks.empty())
    all.push_back("ASSAY_LOCK_DIR=" + context.settings.locks.string());
  all.push_back("CXX=" + context.settings.cxx);
  all.push_back("ASSAY_DEVICE=" + device_of(context));
  if (context.venue.is_gpu()) all.push_back("CUDA_VISIBLE_DEVICES=" + context.venue.gpu);
  return all;
}

Result<std::vector<std::vector<std::string>>> families_of(const std::vector<std::string>& files) {
  ASSAY_TRY(const auto read, read_sources(files));
  std::vector<std::vector<std::string>> families;
  for (const input::KernelSource& file : read) families.push_back(file.families());
  return families;
}

// The lock of the command's device.
Result<lab::HeldDevice> hold_device(Context& context) {
  DeviceLockOptions options = context.settings.lock_options();
  options.fallback = context.settings.cache;
  options.cancel_fd = context.cancel_fd;
  ASSAY_TRY(DeviceLock lock,
            DeviceLock::hold(context.venue.lock_name(), options, show_wait(context.console)));
  const auto held = std::make_shared<DeviceLock>(std::move(lock));
  return lab::HeldDevice{held, held->descriptor()};
}

}  // namespace

std::string device_of(const Context& context) { return context.venue.name(); }

Status check_case_hardware(const lab::Case& target, const Context& context) {
  if (!target.hardware_required || target.hardware_device.empty() ||
      target.hardware_device == device_of(context))
    return {};
  return fail(
      ErrorCode::invalid_input,
      "case.yaml: hardware: this case is for {} ({}), and the command would run on {}; give "
      "--device, or set ASSAY_DEVICE",
      sanitize(target.hardware_device, 80), sanitize(target.hardware_name, 80), device_of(context));
}

Result<std::string> short_name(const char* flag, const std::string& text) {
  if (text.empty() || (matches_name_rule(text) && text.size() <= kMostName)) return text;
  return fail(ErrorCode::invalid_input, "{}: letters, digits, _, . and - alone, {} at most", flag,
              kMostName);
}

Result<lab::EvaluateOptions> evaluate_options(Context& context, const std::string& run_tag) {
  lab::EvaluateOptions options;
  ASSAY_TRY(options.run_tag,
            short_name("--run-tag", run_tag.empty() ? context.settings.run_tag : run_tag));
  if (options.run_tag.empty()) options.run_tag = lab::default_run_tag(utc_now_iso8601());
  options.cache = context.settings.cache;
  options.environment = environment_of(context);
  options.device = device_of(context);
  options.cancel_fd = context.cancel_fd;
  options.families_of = families_of;
  options.read_key = key_variable;
  options.hold_device = [&context] { return hold_device(context); };
  return options;
}

lab::EvaluateObserver evaluate_observer(Console& console) {
  lab::EvaluateObserver observer;
  observer.on_stage = [&console](const std::string& stage) {
    console.progress(fmt::format("{:<9} ...", stage));
  };
  observer.on_pair = [&console](int done, int most) {
    if (console.live()) console.redraw(fmt::format("pairs     {} of at most {}", done, most));
  };
  observer.on_note = [&console](const std::string& sentence) { console.note(sentence); };
  return observer;
}

}  // namespace assay::cli
