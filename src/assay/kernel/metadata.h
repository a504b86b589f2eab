#pragma once

// What is known of a kernel before it is compiled: data, not code. Filters, JSON, plug-ins, rankers
// and the catalog share this one form.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/base/expression.h"
#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/device/target.h"
#include "assay/kernel/refusals.h"
#include "assay/op/problem.h"

namespace assay {

// Which of an operand's last two dimensions is contiguous.
enum class Major : uint8_t { any, row, column };

// What a kernel asks of one operand.
struct OperandRule {
  std::string role;
  std::vector<DType> dtypes;   // Any of these.
  Major major = Major::any;
  int64_t divisibility = 1;    // Size of the contiguous dimension is a multiple of this.
  int64_t alignment = 1;       // Bytes promised for the first element and every leading stride.
  bool prepared = false;       // The kernel packs it once: the problem must declare it constant.
};

// What a kernel asks of a problem. Shared by all rows of a family that ask the same, so that a
// problem is matched against it once and not once per row.
struct ProblemRule {
  std::string operation = "gemm";
  std::vector<OperandRule> operands;      // Operands of the problem without a rule are refused.
  std::vector<DType> accumulate;          // Empty: any.
  std::vector<std::string> epilogues;     // Besides none.
  bool batch = true;                      // L > 1.
  bool scalars = false;                   // alpha other than 1, beta other than 0.
  std::vector<Target> targets;            // Any of these; empty: anywhere.

  // Every reason why the problem, or the target, does not fit; either may be null.
  Refusals match(const Problem* problem, const Target* target) const;
  Json to_json() const;
  static Result<ProblemRule> from_json(const Json& json);
};

// Named attributes of a row: tile_m, stages, threads ... in a fixed order, for names, ids, filters.
class Design {
 public:
  Design() = default;
  Design(std::initializer_list<std::pair<std::string_view, Value>> entries);
  void set(std::string_view name, Value value);
  const Value* find(std::string_view name) const;
  // For predicates: design["tile_m"] == 32 is false when there is no tile_m.
  struct Entry {
    const Value* value;
    bool operator==(int64_t other) const;
    bool operator==(int other) const { return *this == static_cast<int64_t>(other); }
    bool operator==(std::string_view other) const;
    bool operator==(const char* other) const { return *this == std::string_view(other); }
    bool operator==(bool other) const;
  };
  Entry operator[](std::string_view name) const { return {find(name)}; }
  int64_t integer(std::string_view name, int64_t fallback) const;
  std::string_view text(std::string_view name, std::string_view fallback) const;
  auto begin() const { return entries_.begin(); }
  auto end() const { return entries_.end(); }
  size_t size() const { return entries_.size(); }

 private:
  std::vector<std::pair<std::string, Value>> entries_;
};

struct KernelMetadata {
  std::string provider;                       // "openblas"
  std::string family;                         // "gemm": unique within the provider.
  std::string name;                           // For people, never a key.
  std::shared_ptr<const ProblemRule> rule;
  Design design;
  std::vector<std::string> specialised_on;    // Dimensions that compiling may see; the rest are masked.
  bool deterministic = true;                  // Same inputs, same bits.
  bool prepares = false;                      // Packs constant operands once.
  bool dependent_launch = false;

  // SHA-256 (hex) of provider, family, rule and design: what was asked for. A kernel is found again
  // by it; renaming changes nothing.
  std::string id() const;

  // The names a filter or constraint can use: provider, family, name, prepares, deterministic,
  // every design attribute, and dtypes as a, b, out.
  const Value* lookup(std::string_view name, Value& scratch) const;

  Json to_json() const;
  static Result<KernelMetadata> from_json(const Json& json);
};

}  // namespace assay
