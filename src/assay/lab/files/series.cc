#include "assay/lab/files/series.h"

#include <algorithm>
#include <fstream>

#include <nlohmann/json.hpp>

#include "assay/base/file.h"
#include "assay/base/hash.h"
#include "assay/base/json.h"
#include "assay/base/text.h"
#include "assay/lab/files/path_pattern.h"

namespace assay::lab {
namespace {

namespace fs = std::filesystem;

constexpr int kProtocol = 1;  // Of how attempts are measured and decided.
constexpr size_t kEnd = size_t{1} << 20;

// The first and the last of a file's bytes; all of a small one's.
Result<std::string> ends_of(const fs::path& path, uintmax_t size) {
  if (size <= 2 * kEnd) return read_file(path.string());
  std::ifstream file(path, std::ios::binary);
  std::string bytes(2 * kEnd, '\0');
  file.read(bytes.data(), kEnd);
  file.seekg(-static_cast<std::streamoff>(kEnd), std::ios::end);
  file.read(bytes.data() + kEnd, kEnd);
  if (!file) return fail(ErrorCode::machine, "{}: cannot be read", path.string());
  return bytes;
}

Json json_of(const Case& target) {
  Json guardrails = Json::array();
  for (const Guardrail& guardrail : target.guardrails)
    guardrails.push_back({guardrail.metric, to_string(guardrail.direction), guardrail.tolerance});
  return {{"objective",
           {target.objective.metric, to_string(target.objective.direction),
            target.objective.min_effect}},
          {"guardrails", std::move(guardrails)},
          {"looks", target.looks},
          {"tests", target.tests},
          {"parity", target.parity ? Json{target.parity->command, target.parity->prompts,
                                          target.parity->reference, target.parity->before}
                                   : Json(nullptr)},
          {"protocol", kProtocol}};
}

// A copy of a link leads to the one original, which a change would be written to; and what is
// hashed of a link is its target's name.
Status check_links(const Case& target, const Tree& tree) {
  for (const TreeFile& file : tree.files) {
    if (file.kind != "link") continue;
    if (file.path == "workspace")
      return fail(ErrorCode::invalid_input,
                  "workspace is a link: it must be a folder of the case, which attempts copy");
    if (is_fixed(target, file.path) || is_fixed(target, file.path + "/x"))
      return fail(
          ErrorCode::invalid_input,
          "{} is a link: what judges must lie in the case itself, where its bytes are known",
          sanitize(file.path, 200));
  }
  return {};
}

}  // namespace

fs::path model_folder(const Lab& lab, const Case& target) { return lab.root / target.model_path; }

Result<std::string> model_fingerprint(const fs::path& path) {
  std::error_code failed;
  if (!fs::exists(path, failed)) return std::string();
  std::vector<fs::path> files;
  if (fs::is_regular_file(path, failed)) {
    files.push_back(path);
  } else {
    for (fs::recursive_directory_iterator entries(path, failed), end; !failed && entries != end;
         entries.increment(failed))
      if (entries->is_regular_file(failed)) files.push_back(entries->path());
  }
  std::ranges::sort(files);
  Sha256 hash;
  for (const fs::path& file : files) {
    const uintmax_t size = fs::file_size(file, failed);
    if (failed) return fail(ErrorCode::machine, "{}: {}", file.string(), failed.message());
    ASSAY_TRY(const std::string ends, ends_of(file, size));
    hash.update_field(file.lexically_relative(path).generic_string());
    hash.update_field(std::to_string(size));
    hash.update_field(ends);
  }
  return hash.hex();
}

bool is_fixed(const Case& target, std::string_view path) {
  return path == "case.yaml" ||
         std::ranges::any_of(target.fixed, [&](const auto& rule) { return matches(path, rule); });
}

Tree fixed_part(const Case& target, const Tree& tree) {
  return tree.only([&](std::string_view path) { return is_fixed(target, path); });
}

Tree workspace_part(const Tree& tree) {
  return tree.only([](std::string_view path) { return path.starts_with("workspace/"); });
}

Result<Series> series_of(const Lab& lab, const Case& target, const Tree& tree,
                         std::string_view device) {
  ASSAY_TRY(check_links(target, tree));
  Series series;
  const Tree scored =
      fixed_part(target, tree).only([](std::string_view path) { return path != "case.yaml"; });
  series.fixed_hash = scored.hash();
  ASSAY_TRY(series.model_fingerprint, model_fingerprint(model_folder(lab, target)));
  Json all = json_of(target);
  all["fixed"] = series.fixed_hash;
  all["model"] = series.model_fingerprint;
  all["device"] = device;
  constexpr size_t kDigits = 16;
  series.id = sha256_hex(canonical(all)).substr(0, kDigits);
  return series;
}

}  // namespace assay::lab
