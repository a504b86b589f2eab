// A shared object, read as data.

#include "providers/tvm_ffi/object_file.h"

#include <algorithm>

#include "tests/fuzz/fuzz.h"

namespace assay {

ASSAY_FUZZ_TARGET(object_file) {
  const auto object = tvm_ffi::parse_object(bytes);
  if (!fuzz::is_read(object)) return;
  fuzz::expect(std::is_sorted(object->entries.begin(), object->entries.end()),
               "entries are not sorted");
  for (const auto* names : {&object->entries, &object->needed})
    for (const std::string& name : *names)
      fuzz::expect(!name.empty() && bytes.find(name) != std::string_view::npos,
                   "a name that the file has not");
}

}  // namespace assay
