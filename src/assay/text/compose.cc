#include "assay/text/compose.h"

#include <algorithm>
#include <cstdlib>
#include <memory>

#include <utf8proc.h>

namespace assay::text {
namespace {

struct Freer {
  void operator()(utf8proc_uint8_t* bytes) const { std::free(bytes); }
};

// Below U+0300, whose first byte is 0xcc, every text is composed.
bool is_composed_anyway(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0xcc; });
}

}  // namespace

Result<std::string> composed(std::string_view text) {
  if (is_composed_anyway(text)) return std::string(text);
  utf8proc_uint8_t* bytes = nullptr;
  const utf8proc_ssize_t size =
      utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                   static_cast<utf8proc_ssize_t>(text.size()), &bytes,
                   static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE));
  const std::unique_ptr<utf8proc_uint8_t, Freer> owned(bytes);
  if (size == UTF8PROC_ERROR_NOMEM)
    return fail(ErrorCode::machine, "there is no memory to compose a text");
  if (size < 0)
    return fail(ErrorCode::invalid_input, "a text cannot be composed: {}", utf8proc_errmsg(size));
  return std::string(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size));
}

}  // namespace assay::text
