#pragma once

// A problem: one named instance of an operation, with dtypes, layout and lifetimes, and without
// pointers. It is made by an operation alone (gemm::problem), so having one means it was checked.

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/base/expression.h"
#include "assay/base/hash.h"
#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/tensor/dtype.h"

namespace assay {

enum class Lifetime : uint8_t {
  per_call,  // New values for every launch.
  constant,  // The same values for many launches (weights): may be prepared once.
};

enum class Access : uint8_t { read, write, read_write };

struct Operand {
  std::string role;  // a, b, c, out, scales ...
  DType dtype = DType::f32;
  std::vector<int64_t> sizes;    // Elements, outermost first, e.g. {l, m, k}.
  std::vector<int64_t> strides;  // Elements.
  int64_t alignment = 64;        // Promised alignment of the first element, bytes.
  Lifetime lifetime = Lifetime::per_call;
  Access access = Access::read;
  int64_t span_bytes = 0;  // From the first to one past the last element.

  bool operator==(const Operand&) const = default;
};

// Named scalars: accumulate (string), alpha, beta (double), epilogue (string), layout (string).
using Attributes = std::map<std::string, Value, std::less<>>;

class Problem {
 public:
  // What an operation hands over after checking it. Only src/assay/op makes problems.
  struct Parts {
    std::string operation;
    std::string name;     // For people and files: [A-Za-z0-9_.-]+.
    std::string role;     // prefill, decode, kv_proj, attention ...; free text, may be empty.
    double weight = 1.0;  // How often a model calls it.
    std::vector<std::pair<std::string, int64_t>> dimensions;  // {"l",1},{"m",4},...
    std::vector<Operand> operands;
    Attributes attributes;
    std::string layout;  // e.g. "tn": what operand strides mean, in the operation's notation.
    // What to_json() returns: the operation knows which of its fields say all of the above.
    std::shared_ptr<const Json> fields;
  };
  static Problem from_parts(Parts parts);

  const std::string& operation() const { return parts_->operation; }
  const std::string& name() const { return parts_->name; }
  const std::string& role() const { return parts_->role; }
  double weight() const { return parts_->weight; }
  const std::string& layout() const { return parts_->layout; }
  std::span<const Operand> operands() const { return parts_->operands; }
  const Operand* find_operand(std::string_view role) const;
  const Attributes& attributes() const { return parts_->attributes; }
  std::span<const std::pair<std::string, int64_t>> dimensions() const { return parts_->dimensions; }
  int64_t dimension(std::string_view name) const;  // 0 when there is none of that name.

  // name + dtypes + layout + constant operands: what results are matched by.
  const std::string& key() const { return key_; }

  // Everything but name, role and weight: what caches and compilers see.
  const std::string& signature() const { return signature_; }

  // Of signature(), made once: what a look-up costs next to nothing by.
  const FastDigest& digest() const { return digest_; }

  // The fields by which the operation's problem(fields) makes this problem again, and "operation".
  Json to_json() const;

  // Whether any operand may be prepared ahead.
  bool has_constant() const;

 private:
  std::shared_ptr<const Parts> parts_;  // Shared: problems are copied freely and never change.
  std::string key_;
  std::string signature_;
  FastDigest digest_{};
};

}  // namespace assay
