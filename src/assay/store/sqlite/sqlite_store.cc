// Runs in one SQLite file.

#include <optional>

#include <fmt/format.h>

#include "assay/store/backend.h"
#include "assay/store/sqlite/database.h"
#include "assay/store/sqlite/schema.h"

namespace assay::store::sqlite {
namespace {

constexpr std::size_t kShortestId = 8;

bool is_id_prefix(const std::string& word) {
  return word.size() >= kShortestId &&
         word.find_first_not_of("0123456789abcdef") == std::string::npos;
}

// Conditions with the values of their ?.
class Where {
 public:
  void add(const std::string& condition, const std::vector<std::string>& values) {
    text_ += (text_.empty() ? " WHERE " : " AND ") + condition;
    values_.insert(values_.end(), values.begin(), values.end());
  }
  void bind(Statement& statement) const {
    for (const std::string& value : values_) statement.bind(value);
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
  std::vector<std::string> values_;
};

// What a query asks of a run.
Where where_of(const Query& query) {
  Where where;
  if (!query.suite.empty()) where.add("runs.suite = ?", {query.suite});
  if (!query.kind.empty()) where.add("runs.kind = ?", {query.kind});
  if (!query.since.empty()) where.add("runs.created >= ?", {query.since});
  if (!query.until.empty()) where.add("runs.created < ?", {query.until});
  return where;
}

// What it asks of a result.
Where of_results(const Query& query) {
  Where where;
  if (query.winners) where.add("results.winner = 1", {});
  if (!query.problem.empty())
    where.add("(results.problem = ? OR results.key = ?)", {query.problem, query.problem});
  if (query.kernel.empty()) return where;
  const auto slash = query.kernel.find('/');
  std::string condition = "(results.kernel = ?";
  std::vector<std::string> values = {query.kernel};
  if (slash != std::string::npos) {
    condition += " OR (results.provider = ? AND results.kernel = ?)";
    values.push_back(query.kernel.substr(0, slash));
    values.push_back(query.kernel.substr(slash + 1));
  }
  if (is_id_prefix(query.kernel)) {
    // Every id that begins so: digits and letters up to f sort before g.
    condition += " OR (results.kernel_id >= ? AND results.kernel_id < ?)";
    values.push_back(query.kernel);
    values.push_back(query.kernel + "g");
  }
  where.add(condition + ")", values);
  return where;
}

std::string limit_of(const Query& query) {
  return query.limit > 0 ? fmt::format(" LIMIT {}", query.limit) : std::string();
}

class SqliteStore : public Store {
 public:
  explicit SqliteStore(std::unique_ptr<Database> database) : database_(std::move(database)) {}

 private:
  Result<std::optional<std::string>> do_put(const Item& item) override {
    ASSAY_TRY(Transaction transaction, Transaction::begin(*database_));
    ASSAY_TRY(Statement held, database_->prepare("SELECT hash FROM runs WHERE id = ?"));
    ASSAY_TRY(const bool present, held.bind(item.run.id).step());
    if (present) return std::optional(held.text());
    ASSAY_TRY(const std::int64_t number,
              database_->integer("SELECT coalesce(max(number), 0) + 1 FROM runs"));
    ASSAY_TRY(put_run(number, item));
    ASSAY_TRY(put_results(number, item.results));
    ASSAY_TRY(transaction.commit());
    return std::optional<std::string>();
  }

  Status put_run(std::int64_t number, const Item& item) {
    const RunEntry& run = item.run;
    ASSAY_TRY(Statement insert,
              database_->prepare(
                  "INSERT INTO runs (number, id, kind, created, suite, assay_version, device, "
                  "device_id, trust, record_path, threads, problems, kernels, hash, record) "
                  "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"));
    insert.bind(number).bind(run.id).bind(run.kind).bind(run.created).bind(run.suite);
    insert.bind(run.assay_version).bind(run.device).bind(run.device_id).bind(run.trust);
    insert.bind(run.record_path).bind(static_cast<std::int64_t>(run.threads)).bind(run.problems);
    insert.bind(run.kernels).bind(item.hash).bind_bytes(item.record);
    return insert.finish();
  }

  Status put_results(std::int64_t number, const std::vector<ResultEntry>& results) {
    ASSAY_TRY(Statement insert,
              database_->prepare(
                  "INSERT INTO results (run, problem, key, condition, race_class, kernel_id, "
                  "provider, kernel, role, artifact_hash, ending, us, confirmed, winner, word, "
                  "other, ratio, low, high) "
                  "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"));
    for (const ResultEntry& one : results) {
      insert.bind(number).bind(one.problem).bind(one.key).bind(one.condition).bind(one.race_class);
      insert.bind(one.kernel_id).bind(one.provider).bind(one.kernel).bind(one.role);
      insert.bind(one.artifact_hash).bind(one.ending).bind(one.us);
      insert.bind(std::int64_t{one.confirmed}).bind(std::int64_t{one.winner});
      insert.bind(one.word).bind(one.other).bind(one.ratio).bind(one.low).bind(one.high);
      ASSAY_TRY(insert.finish());
    }
    return {};
  }

  Result<std::vector<RunEntry>> do_runs(const Query& query) override {
    Where where = where_of(query);
    const Where results = of_results(query);
    std::string sql =
        "SELECT id, kind, created, suite, assay_version, device, device_id, trust, record_path, "
        "threads, problems, kernels FROM runs";
    sql += where.text();
    if (!results.text().empty())
      sql += fmt::format("{} number IN (SELECT run FROM results{})",
                         where.text().empty() ? " WHERE" : " AND", results.text());
    sql += " ORDER BY created DESC, number DESC" + limit_of(query);
    ASSAY_TRY(Statement select, database_->prepare(sql));
    where.bind(select);
    results.bind(select);
    std::vector<RunEntry> entries;
    for (;;) {
      ASSAY_TRY(const bool row, select.step());
      if (!row) return entries;
      RunEntry& entry = entries.emplace_back();
      for (std::string* text :
           {&entry.id, &entry.kind, &entry.created, &entry.suite, &entry.assay_version,
            &entry.device, &entry.device_id, &entry.trust, &entry.record_path})
        *text = select.text();
      entry.threads = static_cast<int>(select.integer());
      entry.problems = select.integer();
      entry.kernels = select.integer();
    }
  }

  Result<std::vector<ResultEntry>> do_history(const Query& query) override {
    Where where = where_of(query);
    const Where results = of_results(query);
    std::string sql =
        "SELECT runs.id, created, device, problem, key, condition, race_class, kernel_id, "
        "provider, "
        "kernel, role, artifact_hash, ending, word, other, us, ratio, low, high, confirmed, winner "
        "FROM results JOIN runs ON results.run = runs.number";
    sql += where.text();
    if (!results.text().empty())
      sql += (where.text().empty() ? " WHERE " : " AND ") + results.text().substr(7);
    sql += " ORDER BY created DESC, runs.number DESC, results.number" + limit_of(query);
    ASSAY_TRY(Statement select, database_->prepare(sql));
    where.bind(select);
    results.bind(select);
    std::vector<ResultEntry> entries;
    for (;;) {
      ASSAY_TRY(const bool row, select.step());
      if (!row) return entries;
      ResultEntry& entry = entries.emplace_back();
      for (std::string* text :
           {&entry.run, &entry.created, &entry.device, &entry.problem, &entry.key, &entry.condition,
            &entry.race_class, &entry.kernel_id, &entry.provider, &entry.kernel, &entry.role,
            &entry.artifact_hash, &entry.ending, &entry.word, &entry.other})
        *text = select.text();
      for (double* number : {&entry.us, &entry.ratio, &entry.low, &entry.high})
        *number = select.real();
      entry.confirmed = select.integer() != 0;
      entry.winner = select.integer() != 0;
    }
  }

  Result<std::optional<Item>> do_get(const std::string& id) override {
    ASSAY_TRY(Statement select, database_->prepare("SELECT hash, record FROM runs WHERE id = ?"));
    ASSAY_TRY(const bool row, select.bind(id).step());
    if (!row) return std::optional<Item>();
    Item item;
    item.hash = select.text();
    item.record = select.text();
    return std::optional(std::move(item));
  }

  std::unique_ptr<Database> database_;
};

class SqliteBackend : public Backend {
 public:
  std::string_view name() const override { return "sqlite"; }
  bool takes_paths() const override { return true; }
  Result<std::unique_ptr<Store>> open(const std::string& place, Access access) const override {
    const bool reads = access == Access::read;
    ASSAY_TRY(auto database, reads ? Database::open_to_read(place) : Database::open(place, true));
    ASSAY_TRY(reads ? check_schema(*database) : prepare_schema(*database));
    return std::unique_ptr<Store>(std::make_unique<SqliteStore>(std::move(database)));
  }
};

}  // namespace

const Backend& backend() {
  static const SqliteBackend backend;
  return backend;
}

}  // namespace assay::store::sqlite
