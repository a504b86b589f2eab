#pragma once

// Errors are values: every call that can fail returns Result<T> or Status, and ASSAY_TRY passes an
// error on. Nothing throws across a part's edge.

#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <tl/expected.hpp>

namespace assay {

// What kind of thing went wrong. The command line maps each to an exit code (cli/exit_code.h).
enum class ErrorCode {
  invalid_input,  // A user's file, flag or message is wrong: exit 2.
  not_found,      // Something named does not exist: exit 2 unless the caller knows better.
  unsupported,    // Well-formed, but not something this build or machine can do.
  missing,        // Records that were asked for are absent: exit 3.
  stale,          // Records are there but describe another machine or library: exit 3.
  build_failed,   // A compiler refused a user's source.
  failed,         // A kernel or library call reported failure.
  machine,        // Disk full, no memory, cannot start a process: exit 5.
  device_lost,    // A GPU, or this process's hold on it, is gone: exit 5.
  busy,           // Somebody else holds the device: exit 5.
  interrupted,    // The user asked us to stop: exit 130.
  internal,       // A defect of ours.
};

std::string_view to_string(ErrorCode code);

struct Error {
  ErrorCode code = ErrorCode::internal;
  std::string message;  // A sentence: what is wrong, where, and what would be right.
};

template <class T>
using Result = tl::expected<T, Error>;

using Status = tl::expected<void, Error>;

// fail(ErrorCode::invalid_input, "{}:{}: ...", file, line) converts to any Result<T>.
template <class... Args>
tl::unexpected<Error> fail(ErrorCode code, fmt::format_string<Args...> text, Args&&... args) {
  return tl::unexpected<Error>(Error{code, fmt::format(text, std::forward<Args>(args)...)});
}

// The same error with a prefix that says what was being done.
inline tl::unexpected<Error> fail(Error error) { return tl::unexpected<Error>(std::move(error)); }
inline Error with_context(Error error, std::string_view context) {
  error.message = fmt::format("{}: {}", context, error.message);
  return error;
}

}  // namespace assay

#define ASSAY_CONCAT_INNER(a, b) a##b
#define ASSAY_CONCAT(a, b) ASSAY_CONCAT_INNER(a, b)

#define ASSAY_TRY_STATUS(expression)                                            \
  do {                                                                          \
    if (auto assay_status = (expression); !assay_status)                        \
      return ::tl::unexpected<::assay::Error>(std::move(assay_status).error()); \
  } while (false)

#define ASSAY_TRY_VALUE_NAMED(temporary, declaration, expression)                        \
  auto temporary = (expression);                                                         \
  if (!temporary) return ::tl::unexpected<::assay::Error>(std::move(temporary).error()); \
  declaration = std::move(*temporary)

#define ASSAY_TRY_VALUE(declaration, expression) \
  ASSAY_TRY_VALUE_NAMED(ASSAY_CONCAT(assay_result_, __COUNTER__), declaration, expression)

#define ASSAY_TRY_SELECT(_1, _2, name, ...) name

// ASSAY_TRY(status_expression);  or  ASSAY_TRY(auto value, result_expression);
#define ASSAY_TRY(...) ASSAY_TRY_SELECT(__VA_ARGS__, ASSAY_TRY_VALUE, ASSAY_TRY_STATUS)(__VA_ARGS__)
