#pragma once

// JSON of which a run keeps very many and looks at few: a tree takes ten times its text.

#include <memory>
#include <string>
#include <unordered_map>

#include "assay/base/json.h"

namespace assay {

// An immutable JSON value, kept as text. Copies share it.
class CompactJson {
 public:
  CompactJson() = default;  // {}
  explicit CompactJson(const Json& value);

  Json json() const;
  bool operator==(const CompactJson& other) const;

 private:
  friend class JsonPool;
  std::shared_ptr<const std::string> text_;  // canonical(); null for {}.
};

// Equal values that were made by one pool share one text.
class JsonPool {
 public:
  CompactJson share(const Json& value);

 private:
  std::unordered_map<std::string, CompactJson> known_;
};

// What a kernel's provider says of it, an object: what the rows of a family have in common is held
// once.
class MetadataJson {
 public:
  MetadataJson() = default;  // {}
  explicit MetadataJson(const Json& whole) : own_(whole) {}
  MetadataJson(CompactJson shared, CompactJson own)
      : shared_(std::move(shared)), own_(std::move(own)) {}

  Json json() const;  // Members of both.
  // One member; null where there is none.
  Json member(const char* key) const;
  bool operator==(const MetadataJson& other) const;

 private:
  CompactJson shared_, own_;
};

}  // namespace assay
