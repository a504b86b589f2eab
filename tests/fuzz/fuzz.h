#pragma once

// A fuzz target: what is done with bytes that anybody may have written, and what must hold then.
// A file of targets/ has one, and tests/fuzz/corpus/<name>/ its inputs. clang's libFuzzer looks for
// inputs that break it (`make fuzz`); in every other build the test fuzz_test replays the corpus.

#include <concepts>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/json.h"
#include "assay/base/result.h"

namespace assay::fuzz {

struct Target {
  const char* name;
  void (*run)(std::string_view bytes);
};

std::vector<Target>& targets();

struct Registration {
  explicit Registration(const Target& target) { targets().push_back(target); }
};

// Says that something does not hold that must: libFuzzer keeps the input, a replay fails.
void broken(std::string_view sentence);

// How often something was held against a property: a corpus that nothing is read of shows nothing.
inline long checks = 0;

inline void expect(bool holds, std::string_view sentence) {
  ++checks;
  if (!holds) broken(sentence);
}

// Both are printed where they differ.
void expect_same(std::string_view first, std::string_view second, std::string_view sentence);
template <std::same_as<Json> T>  // And no text, which converts to one.
void expect_same(const T& first, const T& second, std::string_view sentence) {
  if (first != second) expect_same(canonical(first), canonical(second), sentence);
}

// What every reader owes to who wrote the input: a sentence that is safe on a terminal, not
// endless, and never blames us.
void expect_readable(const Error& error);

// The same where there is one. True where there is a value.
template <class T>
bool is_read(const Result<T>& result) {
  if (!result) expect_readable(result.error());
  return result.has_value();
}

// What was just written must be read.
template <class T>
bool is_read_again(const Result<T>& result) {
  ++checks;
  if (!result) broken("what was written is not read: " + result.error().message);
  return result.has_value();
}

}  // namespace assay::fuzz

// ASSAY_FUZZ_TARGET(json) { ... bytes ... }
#define ASSAY_FUZZ_TARGET(name)                                                       \
  static void run_##name(std::string_view bytes);                                     \
  static const ::assay::fuzz::Registration registration_##name({#name, &run_##name}); \
  static void run_##name(std::string_view bytes)
