#pragma once

// SQLite with our manners: errors are sentences that name the file, statements and transactions end
// with their scope. Private to store/sqlite/.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "assay/base/result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace assay::store::sqlite {

class Database;

class Statement {
 public:
  // Values of ?, in order. What cannot be bound shows as the error of step().
  Statement& bind(std::string_view text);
  Statement& bind(std::int64_t value);
  Statement& bind(double value);
  Statement& bind_bytes(std::string_view bytes);

  Result<bool> step();  // True: there is a row.
  Status finish();      // Steps to the end, without rows; then it can be bound anew.

  // Columns of the row, in order.
  std::string text();
  std::int64_t integer();
  double real();

 private:
  friend class Database;
  struct End {
    void operator()(sqlite3_stmt* statement) const;
  };
  Statement(const Database& database, sqlite3_stmt* statement)
      : database_(&database), statement_(statement) {}

  const Database* database_;
  std::unique_ptr<sqlite3_stmt, End> statement_;
  int bound_ = 0, read_ = 0;
  int error_ = 0;
};

// How long a process waits for another that holds the file. A run is added in less than a second:
// whoever holds it longer is stuck.
inline constexpr int kPatienceMs = 15'000;

class Database {
 public:
  // create: a file that is not there is made; else it is ErrorCode::missing.
  static Result<std::unique_ptr<Database>> open(const std::string& path, bool create,
                                                int patience_ms = kPatienceMs);
  // What is there is read and not changed, on a file system that takes no writing as well. A file
  // that is not there is ErrorCode::missing, one that is empty invalid_input.
  static Result<std::unique_ptr<Database>> open_to_read(const std::string& path,
                                                        int patience_ms = kPatienceMs);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  Status execute(const std::string& sql);  // One or more statements without values.
  Result<Statement> prepare(std::string_view sql);
  Result<std::int64_t> integer(std::string_view sql);  // The first value of the first row.

  // The sentence of an SQLite result code.
  Error error(int code) const;
  const std::string& path() const { return path_; }
  int patience_ms() const { return patience_ms_; }

 private:
  static Result<std::unique_ptr<Database>> open_with(const std::string& path,
                                                     const std::string& place, int flags,
                                                     int patience_ms);

  Database(std::string path, sqlite3* handle, int patience_ms)
      : path_(std::move(path)), handle_(handle), patience_ms_(patience_ms) {}

  std::string path_;
  sqlite3* handle_;
  int patience_ms_;
};

// Rolls back at its end unless it was committed. Takes the right to write at once, so that what it
// reads is what it writes upon.
class Transaction {
 public:
  static Result<Transaction> begin(Database& database);
  Transaction(Transaction&& other) noexcept : database_(other.database_) {
    other.database_ = nullptr;
  }
  Transaction& operator=(Transaction&&) = delete;
  ~Transaction();
  Status commit();

 private:
  explicit Transaction(Database& database) : database_(&database) {}
  Database* database_;  // Null once it ended.
};

}  // namespace assay::store::sqlite
