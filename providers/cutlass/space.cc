#include "space.h"

#include <filesystem>
#include <map>

#include <fmt/format.h>

#include "assay/base/file.h"
#include "assay/base/hash.h"
#include "assay/base/subprocess.h"
#include "assay/base/text.h"
#include "providers/cutlass/info.h"
#include "toolchain.h"

namespace assay::cutlass {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kGeneratorNs = 900'000'000'000;
constexpr size_t kMostListBytes = 64 << 20;

std::string_view embedded(std::string_view name) { return find_embedded(embedded_files(), name); }

Table embedded_table(std::string_view name) {
  auto parsed = Table::parse(embedded(name), name);
  return parsed ? std::move(*parsed) : Table{};
}

// By what made it: another version of the package, or of the script, makes another table.
fs::path file_of(const Settings& settings, const std::string& version) {
  const std::string script = sha256_hex(embedded("list_configurations.py")).substr(0, 12);
  return settings.cache / "cutlass" / fmt::format("configurations-max-{}-{}.txt", version, script);
}

Result<std::string> generate(const Headers& headers) {
  ASSAY_TRY(const std::string python, find_program("python3"));
  SubprocessOptions options;
  options.argv = {python, "-", headers.package, "--level", "max"};
  options.env = {"PATH=/usr/local/bin:/usr/bin:/bin", "LC_ALL=C", "PYTHONDONTWRITEBYTECODE=1"};
  ASSAY_TRY(const CommandOutput output,
            run_command(options, {.timeout_ns = kGeneratorNs,
                                  .max_output = kMostListBytes,
                                  .input = embedded("list_configurations.py")}));
  if (output.status.success()) return output.out;
  const auto lines = split(trim(output.err), '\n');
  return fail(ErrorCode::unsupported, "CUTLASS's generator in '{}' {}: {}",
              sanitize(headers.package, 300),
              output.timed_out ? "took too long" : output.status.describe(),
              sanitize(lines.empty() ? "" : lines.back(), 300));
}

Result<Table> load_table(const std::string& file) {
  ASSAY_TRY(const std::string text, read_file(file, kMostListBytes));
  return Table::parse(text, file);
}

// One that is there, of whatever version: a machine without the package lists what was brought. Of
// several the first that can be read; of none, what is wrong with one.
Result<Table> any_there(const Settings& settings) {
  Error why{ErrorCode::not_found, "no table is there"};
  for (const fs::path& root : {settings.cache, settings.pool}) {
    std::error_code error;
    for (fs::directory_iterator at(root / "cutlass", error), end; !error && at != end;
         at.increment(error))
      if (at->path().filename().string().starts_with("configurations-max-")) {
        auto table = load_table(at->path().string());
        if (table) return table;
        if (why.code == ErrorCode::not_found) why = std::move(table).error();
      }
  }
  return fail(std::move(why));
}

}  // namespace

const Table& table_of(const Generation& generation) {
  static const std::map<const Generation*, Table> tables = [] {
    std::map<const Generation*, Table> all;
    for (const Generation* one : generations()) all.emplace(one, embedded_table(one->table));
    return all;
  }();
  return tables.at(&generation);
}

Result<Table> whole_table(const Settings& settings) {
  if (settings.cache.empty())
    return fail(ErrorCode::unsupported, "cutlass.space=max needs a cache to keep its table in");
  const auto headers = Headers::find(settings);
  if (!headers || headers->package.empty()) {
    auto there = any_there(settings);
    if (there) return there;
    return fail(ErrorCode::unsupported, "cutlass.space=max: {}",
                there.error().code != ErrorCode::not_found
                    ? there.error().message + "; remove that file, or copy it again"
                : headers ? "there is no cutlass_library beside the headers of CUTLASS"
                          : headers.error().message);
  }
  const std::string file = file_of(settings, headers->version).string();
  // Absent or damaged, it is made again.
  if (auto table = load_table(file)) return table;
  ASSAY_TRY(const std::string made, generate(*headers));
  ASSAY_TRY(Table table, Table::parse(made, file));
  ASSAY_TRY(make_directories(fs::path(file).parent_path().string()));
  ASSAY_TRY(write_file_atomic(file, made));
  return table;
}

}  // namespace assay::cutlass
