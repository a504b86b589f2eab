#pragma once

// A Python with Triton, as assay finds one, that is a few lines of shell: it reads a request as the
// helper would (providers/triton/compile.py) and answers what the test wants, with code that the
// fake GPU runs (testing/fake_cuda).

#include <string>
#include <string_view>

#include "assay/base/file.h"
#include "assay/base/json.h"

namespace assay::testing {

class FakeTriton {
 public:
  // Below `folder`, which must be there: bin/python3 and a package of that version beside it.
  FakeTriton(const std::string& folder, const std::string& version);

  const std::string& python() const { return python_; }

  // From now on. script: what it does once it has read its request (which it keeps, where it may
  // write); answer: what it prints.
  void run(std::string_view script) const;
  void answer(const Json& answer) const;
  // The last request; null where there was none.
  Json request() const;
  bool was_asked() const;

  // {"kernel": ...} of a function of the fake GPU.
  static Json kernel(std::string_view symbol);

 private:
  std::string folder_, python_;
};

// A cubin as far as anybody looks: its one function.
std::string fake_cubin(std::string_view symbol);

}  // namespace assay::testing
