#pragma once

// The fields of values that several messages have. Private to messages/.

#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include "assay/base/archive.h"
#include "assay/process/codec.h"
#include "assay/process/messages/values.h"
#include "assay/record/describe_outcome.h"

namespace assay {

// Values that say themselves.
template <class T>
concept SaysItself = requires(const T& value, const Json& json) {
  { value.to_json() } -> std::same_as<Json>;
  { T::from_json(json) } -> std::same_as<Result<T>>;
};

template <SaysItself T>
Json write_value(const T& value, RecordTag) {
  return value.to_json();
}

template <SaysItself T>
Status read_value(const JsonField& field, T& value) {
  auto read = T::from_json(field.json());
  if (!read) return fail(in_field(field, read.error()));
  value = std::move(*read);
  return {};
}

}  // namespace assay

namespace assay::process {

// What sentences, names and lists of an answer may have: far more than honest ones have, and less
// than would weigh on who reads them.
inline constexpr archive::Range kSentence = archive::at_most(size_t{1} << 16);
inline constexpr archive::Range kName = archive::at_most(4096);
inline constexpr archive::Range kList = archive::at_most(size_t{1} << 20);
inline constexpr archive::Range kHandle{0, std::numeric_limits<int>::max()};

// An error in the mean of which is beyond any number, which JSON cannot carry.
template <class A, class T>
void describe_or_infinite(A& archive, const char* key, T& number) {
  if constexpr (std::is_const_v<T>) {
    archive(key, std::isfinite(number) ? std::optional<double>(number) : std::nullopt);
  } else {
    std::optional<double> told;
    archive(key, told, archive::kNotNegative);
    number = told.value_or(HUGE_VAL);
  }
}

template <class A, archive::Is<Done> T>
void describe(A&, T&) {}

Json write_value(const SentProblem& problem, RecordTag);
Status read_value(const JsonField& field, SentProblem& problem);

template <class A, archive::Is<BuiltKernel> T>
void describe(A& archive, T& kernel) {
  archive("row", kernel.row);
  archive("artifact", kernel.artifact);
}

template <class A, archive::Is<SentOutput> T>
void describe(A& archive, T& output) {
  archive("file", output.file, archive::Range{0, double{kMaxMessageFds}});
  archive("gpu", output.gpu);
}

template <class A, archive::Is<ObjectFacts> T>
void describe(A& archive, T& facts) {
  archive("own_memory_bytes", facts.own_memory_bytes, archive::Range{0, 0x1p50});
  archive("loaded", facts.loaded, archive::at_most(4096));
}

}  // namespace assay::process

namespace assay::cuda {

// The driver's own bytes, as whole numbers.
Json write_value(const SharedMemory& memory, RecordTag);
Status read_value(const JsonField& field, SharedMemory& memory);

}  // namespace assay::cuda
