#include "assay/net/tls.h"

#include <array>

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include "assay/base/text.h"

namespace assay::net {
namespace {

// Where distributions keep whom they trust: the library that is linked in statically knows only the
// place of the machine that built it.
constexpr std::array<const char*, 3> kSystemTrust = {
    "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem"};

std::string last_error() {
  const unsigned long code = ERR_get_error();
  ERR_clear_error();
  const char* reason = code == 0 ? nullptr : ERR_reason_error_string(code);
  return reason ? reason : "no reason given";
}

}  // namespace

struct TlsContext::State {
  SSL_CTX* context = nullptr;
  ~State() { SSL_CTX_free(context); }
};

struct TlsSession::State {
  SSL* session = nullptr;
  BIO* in = nullptr;   // What came; the session owns both.
  BIO* out = nullptr;  // What goes.
  ~State() { SSL_free(session); }

  Error failure() const {
    const long verified = SSL_get_verify_result(session);
    if (verified != X509_V_OK)
      return {ErrorCode::failed, fmt::format("the server's certificate is not trusted: {}",
                                             X509_verify_cert_error_string(verified))};
    return {ErrorCode::failed, fmt::format("TLS: {}", last_error())};
  }
};

TlsContext::TlsContext(std::unique_ptr<State> state) : state_(std::move(state)) {}
TlsContext::~TlsContext() = default;
TlsSession::TlsSession(std::unique_ptr<State> state) : state_(std::move(state)) {}
TlsSession::~TlsSession() = default;

Result<std::unique_ptr<TlsContext>> TlsContext::create(const std::string& ca_file) {
  auto state = std::make_unique<State>();
  state->context = SSL_CTX_new(TLS_client_method());
  if (state->context == nullptr) return fail(ErrorCode::machine, "TLS: {}", last_error());
  SSL_CTX_set_min_proto_version(state->context, TLS1_2_VERSION);
  SSL_CTX_set_verify(state->context, SSL_VERIFY_PEER, nullptr);
  SSL_CTX_set_mode(state->context, SSL_MODE_AUTO_RETRY);
  if (!ca_file.empty()) {
    if (SSL_CTX_load_verify_locations(state->context, ca_file.c_str(), nullptr) != 1)
      return fail(ErrorCode::invalid_input, "{}: no certificates in PEM: {}",
                  sanitize(ca_file, 200), last_error());
  } else {
    bool found = false;
    for (const char* place : kSystemTrust)
      found = found || SSL_CTX_load_verify_locations(state->context, place, nullptr) == 1;
    if (!found) SSL_CTX_set_default_verify_paths(state->context);
    ERR_clear_error();
  }
  return std::unique_ptr<TlsContext>(new TlsContext(std::move(state)));
}

std::unique_ptr<TlsSession> TlsContext::open(const std::string& host) {
  auto state = std::make_unique<TlsSession::State>();
  state->session = SSL_new(state_->context);
  state->in = BIO_new(BIO_s_mem());
  state->out = BIO_new(BIO_s_mem());
  if (state->session == nullptr || state->in == nullptr || state->out == nullptr) return nullptr;
  SSL_set_bio(state->session, state->in, state->out);
  SSL_set_connect_state(state->session);
  X509_VERIFY_PARAM* rules = SSL_get0_param(state->session);
  if (X509_VERIFY_PARAM_set1_ip_asc(rules, host.c_str()) != 1) {
    SSL_set1_host(state->session, host.c_str());
    SSL_set_tlsext_host_name(state->session, host.c_str());
  }
  ERR_clear_error();
  return std::unique_ptr<TlsSession>(new TlsSession(std::move(state)));
}

Result<bool> TlsSession::shake_hands() {
  const int done = SSL_do_handshake(state_->session);
  if (done == 1) return true;
  const int why = SSL_get_error(state_->session, done);
  if (why == SSL_ERROR_WANT_READ || why == SSL_ERROR_WANT_WRITE) return false;
  return tl::unexpected<Error>(state_->failure());
}

Status TlsSession::encrypt(std::string_view plain) {
  if (SSL_write(state_->session, plain.data(), static_cast<int>(plain.size())) <= 0)
    return tl::unexpected<Error>(state_->failure());
  return {};
}

Result<bool> TlsSession::decrypt(std::string_view cipher, std::string& plain) {
  BIO_write(state_->in, cipher.data(), static_cast<int>(cipher.size()));
  if (!SSL_is_init_finished(state_->session)) return true;
  std::array<char, 16384> buffer;
  while (true) {
    const int size = SSL_read(state_->session, buffer.data(), static_cast<int>(buffer.size()));
    if (size > 0) {
      plain.append(buffer.data(), static_cast<std::size_t>(size));
      continue;
    }
    const int why = SSL_get_error(state_->session, size);
    if (why == SSL_ERROR_WANT_READ || why == SSL_ERROR_WANT_WRITE) return true;
    if (why == SSL_ERROR_ZERO_RETURN) return false;
    return tl::unexpected<Error>(state_->failure());
  }
}

std::string TlsSession::take_outgoing() {
  std::string bytes(static_cast<std::size_t>(BIO_ctrl_pending(state_->out)), '\0');
  if (!bytes.empty()) BIO_read(state_->out, bytes.data(), static_cast<int>(bytes.size()));
  return bytes;
}

}  // namespace assay::net
