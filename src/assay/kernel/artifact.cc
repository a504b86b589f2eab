#include "assay/kernel/artifact.h"

#include "assay/base/hash.h"
#include "assay/base/json.h"

namespace assay {

Json Artifact::to_json() const {
  return {{"hash", hash}, {"file", file.string()}, {"facts", facts}};
}

Result<Artifact> Artifact::from_json(const Json& json) {
  JsonDocument document;
  document.root = json;
  document.origin = "artifact";
  const JsonField root(document);
  ASSAY_TRY(root.expect_object());
  Artifact artifact;
  ASSAY_TRY(auto hash, root.at("hash"));
  ASSAY_TRY(artifact.hash, hash.as_string());
  ASSAY_TRY(auto file, root.at("file"));
  ASSAY_TRY(artifact.file, file.as_string());
  ASSAY_TRY(auto facts, root.at("facts"));
  artifact.facts = facts.json();
  return artifact;
}

Artifact Artifact::without_bytes(Json facts) {
  Artifact artifact;
  artifact.hash = sha256_hex(canonical({{"bytes", ""}, {"facts", facts}}));
  artifact.facts = std::move(facts);
  return artifact;
}

}  // namespace assay
