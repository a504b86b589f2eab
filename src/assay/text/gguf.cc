#include "assay/text/gguf.h"

#include <cstring>
#include <optional>

#include <fmt/format.h>

#include "assay/base/text.h"

namespace assay::text {
namespace {

constexpr std::uint64_t kMostPairs = 1 << 16, kMostItems = 1 << 24;
constexpr int kMostDepth = 4;  // Of arrays in arrays.

enum Kind : std::uint32_t {
  u8,
  i8,
  u16,
  i16,
  u32,
  i32,
  f32,
  boolean,
  string,
  array,
  u64,
  i64,
  f64,  // As GGUF numbers them.
};

std::size_t size_of(std::uint32_t kind) {
  switch (kind) {
    case u8:
    case i8:
    case boolean:
      return 1;
    case u16:
    case i16:
      return 2;
    case u32:
    case i32:
    case f32:
      return 4;
    case u64:
    case i64:
    case f64:
      return 8;
    default:
      return 0;
  }
}

class Reader {
 public:
  Reader(std::string_view bytes, std::string_view origin)
      : whole_(bytes), rest_(bytes), origin_(origin) {}

  Result<std::map<std::string, GgufValue>> run() {
    if (!rest_.starts_with("GGUF")) return wrong("this is no GGUF file");
    rest_.remove_prefix(4);
    ASSAY_TRY(const auto version, number<std::uint32_t>());
    if (version != 2 && version != 3)
      return wrong(fmt::format("GGUF of version {} is not supported: 2 and 3 are", version));
    ASSAY_TRY(number<std::uint64_t>());  // Tensors.
    ASSAY_TRY(const auto pairs, number<std::uint64_t>());
    if (pairs > kMostPairs) return wrong(fmt::format("it has {} keys", pairs));
    std::map<std::string, GgufValue> values;
    for (std::uint64_t i = 0; i < pairs; ++i) {
      ASSAY_TRY(const std::string_view key, text());
      ASSAY_TRY(const auto kind, number<std::uint32_t>());
      ASSAY_TRY(std::optional<GgufValue> found, value(kind, 0));
      if (key.starts_with("tokenizer.") && found) values.emplace(key, std::move(*found));
    }
    return values;
  }

 private:
  tl::unexpected<Error> wrong(std::string_view what) const {
    return fail(ErrorCode::invalid_input, "{}: byte {}: {}", sanitize(origin_, 200),
                whole_.size() - rest_.size(), what);
  }
  tl::unexpected<Error> cut() const { return wrong("the file ends inside its metadata"); }

  template <class T>
  Result<T> number() {
    T value;
    if (rest_.size() < sizeof value) return cut();
    std::memcpy(&value, rest_.data(), sizeof value);  // Little endian, as the hosts of assay.
    rest_.remove_prefix(sizeof value);
    return value;
  }

  Result<std::string_view> text() {
    ASSAY_TRY(const auto size, number<std::uint64_t>());
    if (size > rest_.size()) return cut();
    const std::string_view found = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return found;
  }

  Result<std::int64_t> integer(std::uint32_t kind) {
    const std::size_t size = size_of(kind);
    if (rest_.size() < size) return cut();
    std::uint64_t bits = 0;
    std::memcpy(&bits, rest_.data(), size);
    rest_.remove_prefix(size);
    const bool is_signed = kind == i8 || kind == i16 || kind == i32;
    const int shift = 64 - 8 * static_cast<int>(size);
    return is_signed ? static_cast<std::int64_t>(bits << shift) >> shift
                     : static_cast<std::int64_t>(bits);
  }

  Result<std::optional<GgufValue>> value(std::uint32_t kind, int depth) {
    if (kind == string) {
      ASSAY_TRY(const std::string_view found, text());
      return GgufValue(std::string(found));
    }
    if (kind == array) return list(depth);
    if (size_of(kind) == 0) return wrong(fmt::format("a value has the kind {}", kind));
    ASSAY_TRY(const std::int64_t found, integer(kind));
    if (kind == f32 || kind == f64) return std::nullopt;
    return kind == boolean ? GgufValue(found != 0) : GgufValue(found);
  }

  Result<std::optional<GgufValue>> list(int depth) {
    ASSAY_TRY(const auto kind, number<std::uint32_t>());
    ASSAY_TRY(const auto count, number<std::uint64_t>());
    if (count > kMostItems || depth >= kMostDepth) return wrong("a list is too long or too deep");
    std::vector<std::string> texts;
    std::vector<std::int64_t> numbers;
    for (std::uint64_t i = 0; i < count; ++i) {
      if (kind == string) {
        ASSAY_TRY(const std::string_view found, text());
        texts.emplace_back(found);
      } else if (kind == array) {
        ASSAY_TRY(list(depth + 1));
      } else if (size_of(kind) == 0) {
        return wrong(fmt::format("a list is of the kind {}", kind));
      } else {
        ASSAY_TRY(const std::int64_t found, integer(kind));
        numbers.push_back(found);
      }
    }
    if (kind == string) return GgufValue(std::move(texts));
    if (kind == array || kind == f32 || kind == f64) return std::nullopt;
    return GgufValue(std::move(numbers));
  }

  std::string_view whole_, rest_, origin_;
};

}  // namespace

Result<std::map<std::string, GgufValue>> read_gguf(std::string_view bytes,
                                                   std::string_view origin) {
  return Reader(bytes, origin).run();
}

}  // namespace assay::text
