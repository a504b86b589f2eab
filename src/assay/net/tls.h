#pragma once

// TLS of a client over bytes that somebody else carries: certificates are verified, and names.

#include <memory>
#include <string>
#include <string_view>

#include "assay/base/result.h"

namespace assay::net {

class TlsSession;

// What all connections of a client share.
class TlsContext {
 public:
  // ca_file: whom to trust, in PEM; empty: whom the system trusts.
  static Result<std::unique_ptr<TlsContext>> create(const std::string& ca_file);
  ~TlsContext();
  // `host` is what the server's certificate must name.
  std::unique_ptr<TlsSession> open(const std::string& host);

 private:
  friend class TlsSession;
  struct State;
  explicit TlsContext(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

class TlsSession {
 public:
  ~TlsSession();

  // Goes on with the handshake. True once it is done.
  Result<bool> shake_hands();
  Status encrypt(std::string_view plain);
  // What the network brought: appends what it says to `plain`. False: the peer has said all.
  Result<bool> decrypt(std::string_view cipher, std::string& plain);
  std::string take_outgoing();  // To be sent.

 private:
  friend class TlsContext;
  struct State;
  explicit TlsSession(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace assay::net
