#include "assay/kernel/build_inputs.h"

#include <algorithm>
#include <filesystem>
#include <sys/stat.h>

#include "assay/base/file.h"
#include "assay/base/hash.h"
#include "assay/base/json.h"
#include "assay/base/text.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

// A file system's clock ticks every few milliseconds, behind the system's.
constexpr std::int64_t kTickNs = 20'000'000;
// A name in an #include has few folders in front.
constexpr int kMostParts = 4;

std::int64_t ns_of(const timespec& time) {
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

bool exists(const std::string& path) {
  struct stat facts {};
  return ::stat(path.c_str(), &facts) == 0;
}

// Size, times and number: unlike a file's own time, its change time cannot be set.
Json state_of(const struct stat& facts) {
  return Json::array(
      {facts.st_dev, facts.st_ino, facts.st_size, ns_of(facts.st_mtim), ns_of(facts.st_ctim)});
}

// "a/b/c.h" of "/x/a/b/c.h": what an include may have called it.
std::vector<std::string> spellings(const std::string& file) {
  std::vector<std::string> list;
  std::size_t at = file.size();
  for (int part = 0; part < kMostParts && at != std::string::npos && at > 0; ++part) {
    at = file.rfind('/', at - 1);
    if (at != std::string::npos) list.push_back(file.substr(at + 1));
  }
  return list;
}

// The other form of a library is read in its place, and a precompiled header in that of a header.
std::vector<std::string> twins(const std::string& name) {
  std::vector<std::string> list = {name, name + ".gch"};
  if (name.ends_with(".a")) list.push_back(name.substr(0, name.size() - 2) + ".so");
  if (name.ends_with(".so")) list.push_back(name.substr(0, name.size() - 3) + ".a");
  return list;
}

// All that would be read in the place of a file, if it were there.
std::set<std::string> rivals(const std::set<std::string>& files,
                             const std::set<std::string>& folders) {
  std::set<std::string> names, found;
  for (const std::string& file : files)
    for (const std::string& spelling : spellings(file))
      for (std::string& name : twins(spelling)) names.insert(std::move(name));
  for (const std::string& folder : folders) {
    for (const std::string& name : names) {
      std::string path = folder + "/" + name;
      if (!files.contains(path) && exists(path)) found.insert(std::move(path));
    }
  }
  return found;
}

std::set<std::string> set_of(const Json& list) {
  std::set<std::string> texts;
  for (const Json& item : list)
    if (item.is_string()) texts.insert(item.get<std::string>());
  return texts;
}

// What was read from a file of the cache may be anything.
bool is_whole(const Json& taken) {
  if (!taken.is_object()) return false;
  for (const char* name : {"files", "folders", "rivals", "preprocessed"})
    if (!taken.contains(name)) return false;
  const Json& files = taken.at("files");
  if (!files.is_object() || files.empty()) return false;
  return std::ranges::all_of(
      files, [](const Json& file) { return file.is_object() && file.contains("sha256"); });
}

bool is_current(const std::string& path, const Json& file) {
  struct stat facts {};
  if (::stat(path.c_str(), &facts) != 0) return false;
  if (file.contains("state") && file.at("state") == state_of(facts)) return true;
  const auto hash = sha256_of_file(path);
  return hash && file.contains("sha256") && file.at("sha256") == *hash;
}

}  // namespace

std::vector<std::string> files_of_rules(std::string_view text) {
  std::vector<std::string> files;
  std::string word;
  bool behind_colon = false;
  const auto end_word = [&] {
    if (behind_colon && !word.empty()) files.push_back(word);
    if (!behind_colon && word.ends_with(':')) behind_colon = true;
    word.clear();
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char next = i + 1 < text.size() ? text[i + 1] : '\0';
    if (text[i] == '\\' && next == '\n') {
      end_word();
      ++i;
    } else if (text[i] == '\\' && (next == ' ' || next == '#' || next == '\\' || next == ':')) {
      word += next;
      ++i;
    } else if (text[i] == '$' && next == '$') {
      word += '$';
      ++i;
    } else if (text[i] == ' ' || text[i] == '\t' || text[i] == '\n') {
      end_word();
      if (text[i] == '\n') behind_colon = false;
    } else {
      word += text[i];
    }
  }
  end_word();
  return files;
}

std::vector<std::string> files_of_trace(std::string_view text) {
  std::vector<std::string> files;
  for (std::string_view line : split(text, '\n')) {
    line = trim(line);
    if (line.empty()) continue;
    // "libx.a(y.o)" of some linkers, "(libx.a)y.o" of others.
    if (!exists(std::string(line))) {
      if (line.starts_with('('))
        line = line.substr(1, line.find(')') - 1);
      else
        line = line.substr(0, line.rfind('('));
    }
    if (exists(std::string(line))) files.emplace_back(line);
  }
  return files;
}

Result<Json> take_inputs(const BuildInputs& inputs, std::int64_t start_ns) {
  Json files = Json::object();
  for (const std::string& path : inputs.files) {
    struct stat facts {};
    if (::stat(path.c_str(), &facts) != 0 || ns_of(facts.st_ctim) >= start_ns - kTickNs)
      return fail(ErrorCode::busy, "'{}' changes while it is compiled; try again when it rests",
                  sanitize(path, 300));
    ASSAY_TRY(const std::string hash, sha256_of_file(path));
    files[path] = {{"sha256", hash}, {"state", state_of(facts)}};
  }
  return Json{{"files", std::move(files)},
              {"folders", inputs.folders},
              {"rivals", rivals(inputs.files, inputs.folders)},
              {"preprocessed", inputs.preprocessed}};
}

std::string digest_of_inputs(const Json& taken) {
  if (!is_whole(taken)) return {};
  Json hashes = Json::object();
  for (const auto& [path, file] : taken.at("files").items()) hashes[path] = file.at("sha256");
  return sha256_hex(canonical({{"files", hashes}, {"preprocessed", taken.at("preprocessed")}}));
}

bool wants_text(const Json& taken) { return is_whole(taken) && taken.at("preprocessed") != ""; }

bool are_current(const Json& taken, const std::string& text_hash) {
  if (!is_whole(taken)) return false;
  std::set<std::string> files;
  for (const auto& [path, file] : taken.at("files").items()) {
    if (!is_current(path, file)) return false;
    files.insert(path);
  }
  if (wants_text(taken) && taken.at("preprocessed") != text_hash) return false;
  return rivals(files, set_of(taken.at("folders"))) == set_of(taken.at("rivals"));
}

}  // namespace assay
