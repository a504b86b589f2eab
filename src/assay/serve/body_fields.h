#pragma once

// Reads an object that a client sent, field by field. The first field that is wrong is the error;
// null stands for a field that is absent, as clients send it.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/json.h"
#include "assay/serve/api_error.h"

namespace assay::serve {

// The object that a body is. Errors: no JSON, or no object.
Outcome<Json> parse_body(std::string_view body);

class BodyFields {
 public:
  // `path` goes before the names of fields in errors: "stream_options.".
  explicit BodyFields(const Json& object, std::string path = {})
      : object_(object), path_(std::move(path)) {
    known_.reserve(64);
  }

  const Json* find(std::string_view name);  // Null if it is absent, or null.
  // What is absent leaves `value` as it was. Bounds are inclusive.
  void read(std::string_view name, bool& value);
  void read(std::string_view name, std::string& value);
  void read(std::string_view name, double least, double most, double& value);
  void read(std::string_view name, std::int64_t least, std::int64_t most, int& value);
  void read(std::string_view name, std::int64_t least, std::int64_t most,
            std::optional<std::int64_t>& value);
  const Json* find_object(std::string_view name);
  void tolerate(std::initializer_list<std::string_view> names);  // Known, and without effect.

  void wrong(std::string_view name, std::string_view must);  // "must be a number"
  // The first field that nothing asked for.
  void refuse_unknown();
  const std::optional<ApiError>& error() const { return error_; }

 private:
  const Json& object_;
  std::string path_;
  std::vector<std::string_view> known_;  // Names in code: they outlive this.
  std::optional<ApiError> error_;
};

}  // namespace assay::serve
