#include "assay/store/sqlite/schema.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <thread>

#include <fmt/format.h>

#include "assay/base/clock.h"
#include "assay/base/text.h"

namespace assay::store::sqlite {
namespace {

// Step i leads from version i to i + 1. Steps that were released are never edited: a change is a
// new step.
constexpr std::array<const char*, 2> kSteps = {
    // Runs in the order in which they were put (rowid), each with its whole record.
    R"(
CREATE TABLE runs (
  number INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  kind TEXT NOT NULL, created TEXT NOT NULL, suite TEXT NOT NULL,
  assay_version TEXT NOT NULL, device TEXT NOT NULL, device_id TEXT NOT NULL, trust TEXT NOT NULL,
  record_path TEXT NOT NULL, threads INTEGER NOT NULL,
  problems INTEGER NOT NULL, kernels INTEGER NOT NULL,
  hash TEXT NOT NULL, record BLOB NOT NULL
);
CREATE TABLE results (
  number INTEGER PRIMARY KEY,
  run INTEGER NOT NULL REFERENCES runs (number),
  problem TEXT NOT NULL, key TEXT NOT NULL, condition TEXT NOT NULL, race_class TEXT NOT NULL,
  kernel_id TEXT NOT NULL, provider TEXT NOT NULL, kernel TEXT NOT NULL, role TEXT NOT NULL,
  artifact_hash TEXT NOT NULL, ending TEXT NOT NULL,
  us REAL NOT NULL, confirmed INTEGER NOT NULL, winner INTEGER NOT NULL,
  word TEXT NOT NULL, other TEXT NOT NULL, ratio REAL NOT NULL, low REAL NOT NULL, high REAL NOT NULL
);
)",
    // What history asks by.
    R"(
CREATE INDEX runs_created ON runs (created, number);
CREATE INDEX results_run ON results (run);
CREATE INDEX results_problem ON results (problem);
CREATE INDEX results_key ON results (key);
CREATE INDEX results_kernel ON results (kernel, provider);
CREATE INDEX results_kernel_id ON results (kernel_id);
)",
};

// One statement, and so one moment: another process may be making the tables.
constexpr const char* kOwner =
    "SELECT application_id, user_version, (SELECT count(*) FROM sqlite_master) "
    "FROM pragma_application_id, pragma_user_version";

Status check_owner(Database& database) {
  ASSAY_TRY(Statement select, database.prepare(kOwner));
  ASSAY_TRY(select.step().map([](bool) {}));
  const std::int64_t owner = select.integer(), version = select.integer();
  const std::int64_t tables = select.integer();
  const std::string place = sanitize(database.path(), 300);
  if (owner != kApplicationId && (owner != 0 || tables > 0 || version != 0))
    return fail(ErrorCode::invalid_input,
                "'{}' is a database of another program, no store of assay; name another file "
                "(it was left as it is)",
                place);
  if (version > newest_schema())
    return fail(ErrorCode::invalid_input,
                "the store '{}' was written by a newer assay (its tables have version {}, this one "
                "knows up to {}); it was left as it is",
                place, version, newest_schema());
  return {};
}

// Readers and one writer side by side. Two processes that both turn a new file into this form are
// told "busy" at once, whatever the time-out, so it is asked for again.
Status use_write_ahead_log(Database& database) {
  const std::int64_t until = monotonic_ns() + database.patience_ms() * kNsPerMs;
  for (;;) {
    const Status status = database.execute("PRAGMA journal_mode = WAL");
    if (status || status.error().code != ErrorCode::busy || monotonic_ns() > until) return status;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

}  // namespace

int newest_schema() { return static_cast<int>(kSteps.size()); }

Status check_schema(Database& database) {
  ASSAY_TRY(check_owner(database));
  ASSAY_TRY(const std::int64_t version, database.integer("PRAGMA user_version"));
  if (version > 0) return {};
  return fail(ErrorCode::invalid_input,
              "'{}' is a database without tables, no store of assay; a run with --store makes one "
              "of it",
              sanitize(database.path(), 300));
}

Status prepare_schema(Database& database) {
  ASSAY_TRY(check_owner(database));
  ASSAY_TRY(use_write_ahead_log(database));
  // What was committed survives a loss of power, too.
  ASSAY_TRY(database.execute("PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON"));
  ASSAY_TRY(const std::int64_t found, database.integer("PRAGMA user_version"));
  if (found == newest_schema()) return {};
  ASSAY_TRY(Transaction transaction, Transaction::begin(database));
  // Another process may have been faster.
  ASSAY_TRY(check_owner(database));
  ASSAY_TRY(const std::int64_t version, database.integer("PRAGMA user_version"));
  for (auto step = static_cast<std::size_t>(std::max<std::int64_t>(version, 0));
       step < kSteps.size(); ++step)
    ASSAY_TRY(database.execute(kSteps[step]));
  ASSAY_TRY(database.execute(fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {}",
                                         kApplicationId, newest_schema())));
  return transaction.commit();
}

}  // namespace assay::store::sqlite
