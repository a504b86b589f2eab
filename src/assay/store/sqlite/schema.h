#pragma once

// The tables, by version. Private to store/sqlite/.

#include "assay/base/result.h"
#include "assay/store/sqlite/database.h"

namespace assay::store::sqlite {

// PRAGMA application_id of our files: "assa".
inline constexpr std::int64_t kApplicationId = 0x61737361;

// PRAGMA user_version that this build writes.
int newest_schema();

// Brings a file to the newest version, step by step, in one transaction; a new file gets all of
// them. Refused, with the file left as it is: files of other programs, versions of the future.
Status prepare_schema(Database& database);

// The same refusals, for a file that is read: nothing is brought anywhere. Every version that was
// released can be read as it is.
Status check_schema(Database& database);

}  // namespace assay::store::sqlite
