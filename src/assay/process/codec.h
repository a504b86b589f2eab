#pragma once

// What Codec does, for the files that describe messages: each of them says ASSAY_MESSAGE once for
// each of its messages.

#include "assay/base/archive.h"
#include "assay/base/text.h"
#include "assay/process/message.h"

namespace assay::process {

// A message that says how its fields must fit together, and its files to them.
template <class M>
concept Checked = requires(const M& message) {
  { message.check() } -> std::same_as<Status>;
};

// How errors call it: a request by its name.
template <class M>
constexpr const char* name_of() {
  if constexpr (requires { M::kName; })
    return M::kName;
  else
    return "an answer";
}

// Of fields that another process wrote: its own words may be in it.
inline Error unread(const Error& error) {
  return {ErrorCode::invalid_input, sanitize(error.message, 400)};
}

template <class M>
Json Codec<M>::write(const M& message) {
  return archive::write_any(message);
}

template <class M>
Result<M> Codec<M>::read(Json fields, Files files) {
  JsonDocument document;
  document.root = std::move(fields);
  document.origin = name_of<M>();
  M message{};
  const Status read =
      archive::read_any(JsonField(document), message, archive::kAny, archive::Fields::exactly);
  if (!read) return fail(unread(read.error()));
  if constexpr (HasFiles<M>) {
    message.files = std::move(files);
  } else if (!files.empty()) {
    return fail(ErrorCode::invalid_input, "{}: descriptors that nobody asked for", name_of<M>());
  }
  if constexpr (Checked<M>) {
    if (const Status fits = message.check(); !fits) return fail(unread(fits.error()));
  }
  return message;
}

}  // namespace assay::process

#define ASSAY_MESSAGE(type) template struct ::assay::process::Codec<type>
