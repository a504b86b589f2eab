#include "assay/store/sqlite/database.h"

#include <filesystem>

#include <sqlite3.h>

#include "assay/base/text.h"

namespace assay::store::sqlite {

void Statement::End::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }

Statement& Statement::bind(std::string_view text) {
  const int code = sqlite3_bind_text64(statement_.get(), ++bound_, text.data() ? text.data() : "",
                                       text.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
  if (code != SQLITE_OK) error_ = code;
  return *this;
}

Statement& Statement::bind(std::int64_t value) {
  if (const int code = sqlite3_bind_int64(statement_.get(), ++bound_, value); code != SQLITE_OK)
    error_ = code;
  return *this;
}

Statement& Statement::bind(double value) {
  if (const int code = sqlite3_bind_double(statement_.get(), ++bound_, value); code != SQLITE_OK)
    error_ = code;
  return *this;
}

Statement& Statement::bind_bytes(std::string_view bytes) {
  const int code =
      sqlite3_bind_blob64(statement_.get(), ++bound_, bytes.data(), bytes.size(), SQLITE_TRANSIENT);
  if (code != SQLITE_OK) error_ = code;
  return *this;
}

Result<bool> Statement::step() {
  if (error_ != SQLITE_OK) return fail(database_->error(error_));
  read_ = 0;
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  return fail(database_->error(code));
}

Status Statement::finish() {
  for (;;) {
    ASSAY_TRY(const bool row, step());
    if (!row) break;
  }
  sqlite3_reset(statement_.get());
  bound_ = 0;
  return {};
}

std::string Statement::text() {
  const int column = read_++;
  const void* bytes = sqlite3_column_blob(statement_.get(), column);
  const int size = sqlite3_column_bytes(statement_.get(), column);
  return bytes == nullptr
             ? std::string()
             : std::string(static_cast<const char*>(bytes), static_cast<std::size_t>(size));
}

std::int64_t Statement::integer() { return sqlite3_column_int64(statement_.get(), read_++); }

double Statement::real() { return sqlite3_column_double(statement_.get(), read_++); }

namespace {

Status check_place(const std::string& path, bool create) {
  std::error_code ignored;
  const auto status = std::filesystem::status(path, ignored);
  // SQLite would wait for ever on a FIFO, and make a file of what is none.
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status))
    return fail(ErrorCode::invalid_input, "the store '{}' is no file", sanitize(path, 300));
  if (!create && !std::filesystem::exists(status))
    return fail(ErrorCode::missing, "there is no store '{}'; a run with --store makes it",
                sanitize(path, 300));
  return {};
}

// A path as SQLite's URIs have it.
std::string uri_of(const std::string& path) {
  std::string uri = "file:";
  for (const char c : path)
    if (c == '%' || c == '?' || c == '#')
      uri += fmt::format("%{:02x}", static_cast<unsigned char>(c));
    else
      uri += c;
  return uri + "?immutable=1";
}

bool holds_bytes(const std::string& path) {
  std::error_code failed;
  const auto bytes = std::filesystem::file_size(path, failed);
  return !failed && bytes > 0;
}

}  // namespace

Result<std::unique_ptr<Database>> Database::open(const std::string& path, bool create,
                                                 int patience_ms) {
  ASSAY_TRY(check_place(path, create));
  return open_with(path, path, SQLITE_OPEN_READWRITE | (create ? SQLITE_OPEN_CREATE : 0),
                   patience_ms);
}

Result<std::unique_ptr<Database>> Database::open_to_read(const std::string& path, int patience_ms) {
  ASSAY_TRY(check_place(path, false));
  if (!holds_bytes(path))
    return fail(ErrorCode::invalid_input,
                "'{}' is empty, no store of assay; a run with --store makes one of it",
                sanitize(path, 300));
  // SQLite reads beside a writer by a file that it makes beside the store, and takes away again if
  // it may write. It falls back to reading alone by itself.
  ASSAY_TRY(auto database, open_with(path, path, SQLITE_OPEN_READWRITE, patience_ms));
  ASSAY_TRY(database->execute("PRAGMA query_only = ON"));
  const auto read = database->integer("SELECT count(*) FROM sqlite_master");
  const auto code = sqlite3_errcode(database->handle_) & 0xff;
  const bool cannot_make = code == SQLITE_CANTOPEN || code == SQLITE_READONLY;
  // Where that file cannot be made nobody here can write the store either, and if no writer left
  // anything in its log, the store alone is all of it.
  if (read || !cannot_make || holds_bytes(path + "-wal")) return database;
  return open_with(path, uri_of(path), SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, patience_ms);
}

Result<std::unique_ptr<Database>> Database::open_with(const std::string& path,
                                                      const std::string& place, int flags,
                                                      int patience_ms) {
  sqlite3* handle = nullptr;
  const int code = sqlite3_open_v2(place.c_str(), &handle,
                                   flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, nullptr);
  std::unique_ptr<Database> database(new Database(path, handle, patience_ms));
  if (code != SQLITE_OK) return fail(database->error(code));
  sqlite3_busy_timeout(handle, patience_ms);
  return database;
}

Database::~Database() { sqlite3_close_v2(handle_); }

Status Database::execute(const std::string& sql) {
  const int code = sqlite3_exec(handle_, sql.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return fail(error(code));
  return {};
}

Result<Statement> Database::prepare(std::string_view sql) {
  sqlite3_stmt* statement = nullptr;
  const int code =
      sqlite3_prepare_v2(handle_, sql.data(), static_cast<int>(sql.size()), &statement, nullptr);
  if (code != SQLITE_OK) return fail(error(code));
  return Statement(*this, statement);
}

Result<std::int64_t> Database::integer(std::string_view sql) {
  ASSAY_TRY(Statement statement, prepare(sql));
  ASSAY_TRY(const bool row, statement.step());
  return row ? statement.integer() : 0;
}

Error Database::error(int code) const {
  const std::string place = sanitize(path_, 300);
  const std::string said =
      sanitize(handle_ == nullptr ? sqlite3_errstr(code) : sqlite3_errmsg(handle_));
  // Tables and columns are ours to name: what a store of our version lacks, it has lost.
  const bool lost =
      (code & 0xff) == SQLITE_ERROR &&
      (said.starts_with("no such ") || said.find(" has no column named ") != std::string::npos);
  switch (lost ? SQLITE_CORRUPT : code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return {ErrorCode::busy,
              fmt::format("the store '{}' was held by another process for {}; nothing was "
                          "changed, try again",
                          place, format_duration(patience_ms_ * 1e-3))};
    case SQLITE_NOTADB:
      return {ErrorCode::invalid_input,
              fmt::format("'{}' is no store of assay; name another file (it was left as it is)",
                          place)};
    case SQLITE_CORRUPT:
      return {
          ErrorCode::invalid_input,
          fmt::format("the store '{}' is damaged ({}); it was left as it is: restore a copy, or "
                      "`sqlite3 FILE .recover` may save what it holds",
                      place, said)};
    case SQLITE_CANTOPEN:
      return {ErrorCode::invalid_input,
              fmt::format("the store '{}' cannot be opened: {}", place, said)};
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH:
      return {ErrorCode::invalid_input,
              fmt::format("the store '{}' cannot be opened for writing: {}", place, said)};
    default:
      return {ErrorCode::machine, fmt::format("the store '{}': {}", place, said)};
  }
}

Result<Transaction> Transaction::begin(Database& database) {
  ASSAY_TRY(database.execute("BEGIN IMMEDIATE"));
  return Transaction(database);
}

Transaction::~Transaction() {
  if (database_ != nullptr) static_cast<void>(database_->execute("ROLLBACK"));
}

Status Transaction::commit() {
  ASSAY_TRY(database_->execute("COMMIT"));
  database_ = nullptr;
  return {};
}

}  // namespace assay::store::sqlite
