// What objects with TVM-FFI entry points and those who call them need of libtvm_ffi.so: errors of a
// thread, references, streams of a device. fake_tvm_ffi_new is a version that nobody knows yet.
#include <atomic>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>

namespace {

struct Bytes {
  const char* data;
  size_t size;
};

// As the library has them: a counted header, then three texts.
struct Error {
  uint64_t counts = 1;
  int32_t type_index = 67;
  uint32_t padding = 0;
  void (*deleter)(void*, int) = nullptr;
  Bytes kind{}, message{}, backtrace{};
  std::string kind_text, message_text;
};

std::atomic<int64_t> objects{0};
thread_local Error* raised = nullptr;
thread_local std::map<std::pair<int32_t, int32_t>, void*> streams;

Error* make(const Bytes& kind, const Bytes& message) {
  auto* error = new Error;
  error->kind_text.assign(kind.data, kind.size);
  error->message_text.assign(message.data, message.size);
  error->kind = {error->kind_text.data(), error->kind_text.size()};
  error->message = {error->message_text.data(), error->message_text.size()};
  ++objects;
  return error;
}

// As the library does when it is loaded.
const auto taken = std::signal(SIGSEGV, [](int number) {
  std::signal(number, SIG_DFL);
  std::raise(number);
});

}  // namespace

extern "C" {

void TVMFFIGetVersion(uint32_t* version) {
  const uint32_t numbers[] = {FAKE_TVM_FFI_VERSION};
  std::memcpy(version, numbers, sizeof numbers);
}

int TVMFFIErrorCreate(const Bytes* kind, const Bytes* message, const Bytes*, void** out) {
  *out = make(*kind, *message);
  return 0;
}

int TVMFFIObjectDecRef(void* object) {
  auto* error = static_cast<Error*>(object);
  if (--error->counts == 0) {
    --objects;
    delete error;
  }
  return 0;
}

// Another reference, as the library takes it.
void TVMFFIErrorSetRaised(void* error) {
  if (raised != nullptr) TVMFFIObjectDecRef(raised);
  raised = static_cast<Error*>(error);
  ++raised->counts;
}

void TVMFFIErrorSetRaisedFromCStr(const char* kind, const char* message) {
  if (raised != nullptr) TVMFFIObjectDecRef(raised);
  raised = make({kind, std::strlen(kind)}, {message, std::strlen(message)});
}

void TVMFFIErrorMoveFromRaised(void** error) {
  *error = raised;
  raised = nullptr;
}

int TVMFFIEnvSetStream(int32_t device, int32_t id, void* stream, void** before) {
  void*& kept = streams[{device, id}];
  if (before != nullptr) *before = kept;
  kept = stream;
  return 0;
}

void* TVMFFIEnvGetStream(int32_t device, int32_t id) { return streams[{device, id}]; }

// For tests: those that nobody gave back.
int64_t fake_tvm_ffi_objects() { return objects; }
}
