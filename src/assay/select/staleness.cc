#include "assay/base/text.h"
#include "assay/base/version.h"
#include "assay/select/table_state.h"

namespace assay {
namespace {

// Builds without a revision of their own say so in these words.
bool is_revision(std::string_view text) {
  return !text.empty() && text != "unstamped" && text != "unknown";
}

std::string text_of(const Json& facts, const char* name) {
  const auto found = facts.is_object() ? facts.find(name) : facts.end();
  return facts.is_object() && found != facts.end() && found->is_string() ? found->get<std::string>()
                                                                         : std::string();
}

std::string code_of(const Json& facts) {
  const std::string version = text_of(facts, "version");
  return version.empty() ? text_of(facts, "path") : "version " + version;
}

}  // namespace

std::vector<std::string> differences(const TableOrigin& origin, const Device& device) {
  std::vector<std::string> sentences;
  const Fingerprint& here = device.fingerprint();
  if (!origin.device_id.empty() && origin.device_id != here.id)
    sentences.push_back(fmt::format("tuned on another machine: {} ({}); this is {} ({})",
                                    sanitize(origin.device_name, 200),
                                    sanitize(origin.device_id, 60), here.name, here.id));
  if (origin.threads != 0 && origin.threads != device.threads())
    sentences.push_back(fmt::format("tuned with {} thread{}; the device has {} here",
                                    origin.threads, origin.threads == 1 ? "" : "s",
                                    device.threads()));
  const BuildInfo& build = build_info();
  const bool other_version = !origin.assay_version.empty() && origin.assay_version != build.version;
  const bool other_revision = is_revision(origin.assay_revision) && is_revision(build.revision) &&
                              origin.assay_revision != build.revision;
  if (other_version || other_revision)
    sentences.push_back(
        fmt::format("tuned by assay {} ({}); this is {} ({})", sanitize(origin.assay_version, 60),
                    sanitize(origin.assay_revision, 60), build.version, build.revision));
  return sentences;
}

std::string code_difference(const TableKernel& tuned, const Artifact& here) {
  if (tuned.artifact_hash == here.hash) return {};
  // The same library elsewhere is the same library.
  const std::string was = text_of(tuned.artifact_facts, "sha256");
  if (!was.empty() && was == text_of(here.facts, "sha256")) return {};
  const std::string before = code_of(tuned.artifact_facts), now = code_of(here.facts);
  if (before.empty() || now.empty() || before == now)
    return "its code is not what was tuned, though it has the same name";
  return fmt::format("tuned with {}; here it has {}", before, now);
}

}  // namespace assay
