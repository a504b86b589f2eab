#pragma once

// Where finished runs are kept together: put, found again by what was asked of them, and never
// edited or deleted. Which kinds of store there are is what the folders below this one are.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "assay/base/result.h"
#include "assay/record/record.h"
#include "assay/store/entry.h"

namespace assay::store {

// What to look for. Empty fields ask nothing; all that are given must hold.
struct Query {
  std::string suite, kind;
  std::string problem;   // A problem's name or its key.
  std::string kernel;    // "provider/name", a name, or the first digits of an id (8 or more).
  std::string since;     // Runs that began then or later: "2025-01-31" or "2025-01-31T23:59:59Z".
  std::string until;     // Runs that began before.
  bool winners = false;  // Of results: only those that won their problem.
  int limit = 0;         // At most so many, the newest; 0: all.
};

enum class Put {
  added,
  present,  // The same run was there already, with the same samples.
};

class Store {
 public:
  virtual ~Store() = default;

  // Keeps a finished run, wholly or not at all, in the store when it returns. Errors:
  // invalid_input for a run without an id, or where a run of this id is there with other samples:
  // a record is never edited. busy, machine as of the store.
  Result<Put> put(const RunRecord& record, const std::string& record_path = {});

  // The newest first; of one time, the one that was put last.
  Result<std::vector<RunEntry>> runs(const Query& query = {});
  // How kernels stood, of runs in that order and within a run in the record's.
  Result<std::vector<ResultEntry>> history(const Query& query);

  // The whole record. not_found where no run has this id; invalid_input where what the store holds
  // is not what was put there.
  Result<RunRecord> get(const std::string& id);

 protected:
  // A run as a store keeps it.
  struct Item {
    RunEntry run;
    std::string hash;    // evidence_hash().
    std::string record;  // compressed_record().
    std::vector<ResultEntry> results;
  };

 private:
  // Atomic, also against other processes. The hash that the store has for the id, where it has one:
  // then nothing was added.
  virtual Result<std::optional<std::string>> do_put(const Item& item) = 0;
  virtual Result<std::vector<RunEntry>> do_runs(const Query& query) = 0;
  virtual Result<std::vector<ResultEntry>> do_history(const Query& query) = 0;
  // hash and record alone need to be filled in.
  virtual Result<std::optional<Item>> do_get(const std::string& id) = 0;
};

enum class Access {
  read,   // A store that is not there is ErrorCode::missing.
  write,  // It is made.
};

// A store by what a user calls it: a file's path, or "KIND:PLACE".
Result<std::unique_ptr<Store>> open_store(const std::string& where, Access access);

}  // namespace assay::store
