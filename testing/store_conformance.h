#pragma once

// What every store must do, whatever it keeps runs in. A store's test joins with
//
//   #include "testing/store_conformance.h"
//   ASSAY_STORE_CONFORMANCE(sqlite, [](const std::string& folder) { return folder + "/runs.db"; });
//
// where the function says what open_store() takes for a new store in that empty folder.

#include <functional>
#include <optional>
#include <ostream>
#include <string>

#include <gtest/gtest.h>

#include "assay/base/file.h"
#include "assay/store/store.h"

namespace assay::testing {

struct StoreSubject {
  std::string name;
  std::function<std::string(const std::string& folder)> place;
};

inline void PrintTo(const StoreSubject& subject, std::ostream* out) { *out << subject.name; }

class StoreConformance : public ::testing::TestWithParam<StoreSubject> {
 protected:
  void SetUp() override;
  // Opens it again each time.
  std::unique_ptr<store::Store> open();

  std::optional<TemporaryDirectory> folder_;
  std::string place_;
};

// With its name. Called by the macro, so that the suite is linked.
StoreSubject store_subject(std::string name,
                           std::function<std::string(const std::string& folder)> place);

}  // namespace assay::testing

#define ASSAY_STORE_CONFORMANCE(store_name, ...)                                    \
  INSTANTIATE_TEST_SUITE_P(                                                         \
      store_name, AssayStoreConformance,                                            \
      ::testing::Values(::assay::testing::store_subject(#store_name, __VA_ARGS__)), \
      [](const auto& test) { return test.param.name; })

// GoogleTest looks suites up by an unqualified name.
using AssayStoreConformance = ::assay::testing::StoreConformance;
