#include "assay/base/hash.h"

#include <new>

#include <openssl/evp.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace assay {
namespace {

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span<const char>(text.data(), text.size()));
}

// OpenSSL's SHA-256 fails only for want of memory, so its failures are treated like those of `new`.
void check(bool done) {
  if (!done) throw std::bad_alloc();
}

struct FreeContext {
  void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
};
using Context = std::unique_ptr<EVP_MD_CTX, FreeContext>;

Context new_context() {
  Context context(EVP_MD_CTX_new());
  check(context != nullptr);
  return context;
}

}  // namespace

struct Sha256::State {
  Context context = new_context();
};

Sha256::Sha256() : state_(std::make_unique<State>()) {
  check(EVP_DigestInit_ex(state_->context.get(), EVP_sha256(), nullptr) == 1);
}
Sha256::~Sha256() = default;
Sha256::Sha256(Sha256&&) noexcept = default;
Sha256& Sha256::operator=(Sha256&&) noexcept = default;

void Sha256::update(std::span<const std::byte> bytes) {
  check(EVP_DigestUpdate(state_->context.get(), bytes.data(), bytes.size()) == 1);
}

void Sha256::update(std::string_view text) { update(bytes_of(text)); }

void Sha256::update_field(std::string_view text) {
  std::array<std::byte, 8> length;
  for (std::size_t i = 0; i < length.size(); ++i) {
    length[i] = static_cast<std::byte>(static_cast<std::uint64_t>(text.size()) >> (8 * i));
  }
  update(length);
  update(text);
}

Sha256Digest Sha256::digest() const {
  // Finishing spoils the context, so a copy is finished.
  Context copy = new_context();
  check(EVP_MD_CTX_copy_ex(copy.get(), state_->context.get()) == 1);
  Sha256Digest digest;
  unsigned int size = 0;
  check(EVP_DigestFinal_ex(copy.get(), digest.data(), &size) == 1 && size == digest.size());
  return digest;
}

std::string Sha256::hex() const { return to_hex(digest()); }

Sha256Digest sha256(std::span<const std::byte> bytes) {
  Sha256Digest digest;
  unsigned int size = 0;
  // What EVP_sha256() gives is looked up by name at each use, which takes longer than a short text.
  static EVP_MD* const method = EVP_MD_fetch(nullptr, "SHA256", nullptr);
  check(EVP_Digest(bytes.data(), bytes.size(), digest.data(), &size, method, nullptr) == 1 &&
        size == digest.size());
  return digest;
}

std::string sha256_hex(std::span<const std::byte> bytes) { return to_hex(sha256(bytes)); }
std::string sha256_hex(std::string_view text) { return sha256_hex(bytes_of(text)); }

std::string to_hex(std::span<const std::uint8_t> bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  text.reserve(2 * bytes.size());
  for (std::uint8_t byte : bytes) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

std::uint64_t fast_hash(std::span<const std::byte> bytes, std::uint64_t seed) {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
}

std::uint64_t fast_hash(std::string_view text, std::uint64_t seed) {
  return fast_hash(bytes_of(text), seed);
}

FastDigest fast_digest(std::span<const std::byte> bytes, std::uint64_t seed) {
  const XXH128_hash_t hash = XXH3_128bits_withSeed(bytes.data(), bytes.size(), seed);
  return {hash.low64, hash.high64};
}

FastDigest fast_digest(std::string_view text, std::uint64_t seed) {
  return fast_digest(bytes_of(text), seed);
}

}  // namespace assay
