#pragma once

// Errors on their way out to Python, where each becomes an assay.Error of its kind.

#include <exception>
#include <utility>

#include "assay/base/result.h"

namespace assay::python {

class Failure : public std::exception {
 public:
  explicit Failure(Error error) : error_(std::move(error)) {}
  const Error& error() const { return error_; }
  const char* what() const noexcept override { return error_.message.c_str(); }

 private:
  Error error_;
};

template <class T>
T take(Result<T> result) {
  if (!result) throw Failure(std::move(result).error());
  return std::move(*result);
}

inline void check(const Status& status) {
  if (!status) throw Failure(status.error());
}

template <class... Args>
[[noreturn]] void raise(ErrorCode code, fmt::format_string<Args...> text, Args&&... args) {
  throw Failure({code, fmt::format(text, std::forward<Args>(args)...)});
}

// For this module: Failure becomes what assay.errors.error_of(code, message) returns.
void translate_failures();

}  // namespace assay::python
