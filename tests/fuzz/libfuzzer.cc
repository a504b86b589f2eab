// assay_fuzz NAME [libFuzzer's flags and folders]: one target, driven by libFuzzer. Without a name
// it lists them.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "tests/fuzz/fuzz.h"

namespace assay::fuzz {
namespace {

const Target* chosen = nullptr;

}  // namespace

void broken(std::string_view sentence) {
  std::fprintf(stderr, "does not hold: %.*s\n", static_cast<int>(sentence.size()), sentence.data());
  std::abort();
}

// Takes the name out of the arguments.
void choose(int& count, char** arguments) {
  const auto found = std::ranges::find_if(targets(), [&](const Target& target) {
    return count > 1 && std::string_view(target.name) == arguments[1];
  });
  if (found == targets().end()) {
    for (const Target& target : targets()) std::puts(target.name);
    std::exit(count > 1 ? 2 : 0);
  }
  chosen = &*found;
  std::copy(arguments + 2, arguments + count + 1, arguments + 1);
  --count;
}

}  // namespace assay::fuzz

#define ASSAY_FUZZ_EXPORT extern "C" __attribute__((visibility("default"), used))

ASSAY_FUZZ_EXPORT int LLVMFuzzerInitialize(int* count, char*** arguments) {
  assay::fuzz::choose(*count, *arguments);
  return 0;
}

ASSAY_FUZZ_EXPORT int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  assay::fuzz::chosen->run({reinterpret_cast<const char*>(bytes), size});
  return 0;
}
