#pragma once

// What is known of a kernel before it is compiled: data, not code. Filters, JSON, plug-ins, rankers
// and the catalog share this one form.

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/base/expression.h"
#include "assay/base/json_fwd.h"
#include "assay/base/result.h"
#include "assay/kernel/design.h"
#include "assay/kernel/problem_rule.h"
#include "assay/tensor/error_bound.h"

namespace assay {

class JsonField;

// What many rows of a family have in common. Made once, shared by the rows, never changed then.
struct KernelTraits {
  std::string provider;  // "openblas". Families leave this and `family` empty: the catalog fills in
  std::string family;    // the name that the family was added under, and the family's own name.
  // For people, never a key. {attribute} stands for the row's value: "tile{tile_m}x{tile_n}".
  std::string name;
  std::shared_ptr<const ProblemRule> rule;
  std::vector<std::string> specialised_on;  // Dimensions that compiling may see; others are masked.
  bool deterministic = true;                // Same inputs, same bits.
  bool prepares = false;                    // Packs constant operands once.
  bool dependent_launch = false;
  ErrorBound error_bound = ErrorBound::elementwise;  // What it promises of its rounding errors.
  // CPU seconds that compiling one row takes, where that is so much that not every row can be built
  // for a race: a ranker then says which are, and only the first of its order are (docs/method.md).
  // 0: rows are built as they come.
  double compile_seconds = 0;
  // Attributes of the design that launching alone knows of: rows of one rule that differ in nothing
  // else share one artifact, which is compiled, and counted where rows are chosen, once.
  std::vector<std::string> launch_attributes;
  // Arguments, launch and preparation as canonical JSON (kernel/entry_archive.h), where a user's
  // file says them: rows that differ in them are different kernels. Empty: the provider knows.
  std::string call;
};

// A row. Cheap to copy: 100,000 of them are found in milliseconds.
struct KernelMetadata {
  std::shared_ptr<const KernelTraits> traits;  // Never null in a row that a catalog hands out.
  Design design;

  KernelMetadata() = default;
  KernelMetadata(std::shared_ptr<const KernelTraits> shared, Design attributes)
      : traits(std::move(shared)), design(std::move(attributes)) {}
  KernelMetadata(KernelTraits own, Design attributes)
      : traits(std::make_shared<const KernelTraits>(std::move(own))),
        design(std::move(attributes)) {}

  const std::string& provider() const { return traits->provider; }
  const std::string& family() const { return traits->family; }
  std::string name() const;  // traits->name with the design's values filled in.
  const ProblemRule& rule() const { return *traits->rule; }
  const std::vector<std::string>& specialised_on() const { return traits->specialised_on; }
  bool deterministic() const { return traits->deterministic; }
  bool prepares() const { return traits->prepares; }
  bool dependent_launch() const { return traits->dependent_launch; }
  ErrorBound error_bound() const { return traits->error_bound; }
  double compile_seconds() const { return traits->compile_seconds; }

  // SHA-256 (hex) of provider, family, rule and design, of its error bound unless that is
  // elementwise, and of its call where it has one: what was asked for. A kernel is found again by
  // it; renaming changes nothing. Ids that cover a call are of version 2 ("id_version").
  std::string id() const;
  // Whether it is found by that id: its own, or that of version 1, which covered no call, out of a
  // record or a table from before.
  bool has_id(const std::string& id) const { return has_any_id({&id, 1}); }
  bool has_any_id(std::span<const std::string> ids) const;

  // The same without launch_attributes: of all rows that share an artifact.
  std::string artifact_id() const;

  // The names a filter or constraint can use: provider, family, name, prepares, deterministic,
  // dependent_launch, error, every design attribute, and the operands' dtypes by role (a, b, out;
  // where several are allowed, joined by '|'). A design attribute hides a dtype of the same name.
  std::optional<Value> lookup(std::string_view attribute) const;
  std::vector<std::string> attribute_names() const;
  // provider to error of the list above: a design attribute of that name is hidden.
  static bool is_shared_attribute(std::string_view attribute);

  // {"id", "provider", "family", "name", "rule", "design", ...}; the same row gives the same JSON:
  // the members of the two below.
  Json to_json() const;
  Json shared_json() const;                    // What all rows with these traits have in common.
  Json own_json(const std::string& id) const;  // id (of this row), name and design.
  // Hostile input is an error that names the field. A stored id that does not fit is an error.
  static Result<KernelMetadata> from_json(const Json& json);
  // Of an object with the members of shared_json(), and a name.
  static Result<std::shared_ptr<const KernelTraits>> read_traits(const JsonField& field);
};

}  // namespace assay
