#include "assay/store/store.h"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>

#include "assay/base/text.h"
#include "assay/store/backend.h"

namespace assay::store {
namespace {

// "2025-01-31", or with "T23:59:59Z".
bool is_time(std::string_view text) {
  constexpr std::string_view kShape = "0000-00-00T00:00:00Z";
  if (text.size() != 10 && text.size() != kShape.size()) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool digit = text[i] >= '0' && text[i] <= '9';
    if (kShape[i] == '0' ? !digit : text[i] != kShape[i]) return false;
  }
  const auto number = [&](std::size_t at, std::size_t digits) {
    int value = 0;
    for (const char c : text.substr(at, digits)) value = 10 * value + (c - '0');
    return value;
  };
  const std::chrono::year_month_day day{std::chrono::year(number(0, 4)),
                                        std::chrono::month(static_cast<unsigned>(number(5, 2))),
                                        std::chrono::day(static_cast<unsigned>(number(8, 2)))};
  return day.ok() &&
         (text.size() == 10 || (number(11, 2) < 24 && number(14, 2) < 60 && number(17, 2) < 60));
}

Status check(const Query& query) {
  for (const auto& [name, time] :
       {std::pair("since", &query.since), std::pair("until", &query.until)})
    if (!time->empty() && !is_time(*time))
      return fail(ErrorCode::invalid_input,
                  "--{}: '{}' is no time; write 2025-01-31 or 2025-01-31T23:59:59Z", name,
                  sanitize(*time, 80));
  if (query.limit < 0)
    return fail(ErrorCode::invalid_input, "a limit of {}: it counts from 0, which is none",
                query.limit);
  return {};
}

}  // namespace

Result<Put> Store::put(const RunRecord& record, const std::string& record_path) {
  if (record.id.empty())
    return fail(ErrorCode::invalid_input, "{}: a record without an id cannot be kept in a store",
                record_path.empty() ? "the run" : sanitize(record_path, 300));
  Item item{run_entry(record, record_path), evidence_hash(record), {}, result_entries(record)};
  ASSAY_TRY(item.record, compressed_record(record));
  ASSAY_TRY(const auto held, do_put(item));
  if (!held) return Put::added;
  if (*held == item.hash) return Put::present;
  return fail(ErrorCode::invalid_input,
              "run {} is in the store already, with other samples: a record is never edited",
              sanitize(record.id, 200));
}

Result<std::vector<RunEntry>> Store::runs(const Query& query) {
  ASSAY_TRY(check(query));
  return do_runs(query);
}

Result<std::vector<ResultEntry>> Store::history(const Query& query) {
  ASSAY_TRY(check(query));
  return do_history(query);
}

Result<RunRecord> Store::get(const std::string& id) {
  ASSAY_TRY(const auto item, do_get(id));
  if (!item) return fail(ErrorCode::not_found, "the store holds no run '{}'", sanitize(id, 200));
  ASSAY_TRY(RunRecord record,
            read_compressed_record(item->record, "run " + sanitize(id, 200) + " in the store"));
  if (evidence_hash(record) != item->hash)
    return fail(ErrorCode::invalid_input,
                "run {}: what the store holds is not what was put there: it was edited since",
                sanitize(id, 200));
  return record;
}

Result<std::unique_ptr<Store>> open_store(const std::string& where, Access access) {
  std::vector<std::string> names;
  const std::string name = where.substr(0, where.find(':'));
  for (const Backend* backend : built_in_backends()) {
    names.emplace_back(backend->name());
    if (name.size() < where.size() && name == backend->name())
      return backend->open(where.substr(name.size() + 1), access);
  }
  if (where.find("://") != std::string::npos)
    return fail(ErrorCode::invalid_input,
                "--store: this build has no store '{}'; it has: {} (and a file's path will do)",
                sanitize(name, 80), join(names, ", "));
  for (const Backend* backend : built_in_backends())
    if (backend->takes_paths()) return backend->open(where, access);
  return fail(ErrorCode::unsupported, "--store: this build has no store that is a file");
}

}  // namespace assay::store
