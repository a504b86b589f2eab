#pragma once

// The lines of history.jsonl as JSON. Each kind of line is described once, for writing, reading and
// its schema.

#include "assay/base/json.h"
#include "assay/lab/files/history.h"

namespace assay::lab {

Json start_line(const Attempt& attempt);
Json end_line(const Attempt& attempt);
Json skip_line(const Skip& skip);

// "start", "end" or "skip"; those of later versions are theirs. An error unless the line is of this
// version's history.
Result<std::string> line_type(const JsonField& line);

// Fields that a line lacks, or that are of another type, are errors with their names.
Result<Attempt> read_start(const JsonField& line);
Status read_end(const JsonField& line, Attempt& attempt);
Result<Skip> read_skip(const JsonField& line);

Json history_schema();  // Of a line, without its checksum.

}  // namespace assay::lab
