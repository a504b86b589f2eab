#pragma once

// What a tuned table holds, as plain data: which kernels won on which problems, where that was
// found, and the compiled code that a catalog cannot make again without a compiler.
//
// The file ("assay.table/1"), integers little endian:
//   8 bytes  "ASSAYTBL"                  4 bytes  format version      4 bytes  zero
//   8 bytes  size of the whole file     32 bytes  SHA-256 of all that follows
//   8 bytes  size of the head, then the head: JSON with everything that is not below
//   8 bytes  number of problems, then each problem:
//     4 kind, 4 size of its name, the name, 8 alignments and 16 signature (problem_digest.h),
//     4 number of measures, 8 for each, 4 number of choices, each 4 kernel and 8 microseconds
//     (IEEE double)
//   8 bytes  number of blobs, then each blob: 8 size, its bytes

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/kernel/artifact.h"
#include "assay/kernel/metadata.h"
#include "assay/op/problem.h"
#include "assay/select/problem_digest.h"

namespace assay {

inline constexpr uint32_t kTableVersion = 1;
// What add() gives a dimension. A kernel's tile decides how often it goes through b, so m tells
// more of who wins than n and k do: of 20 problems of `make bench`'s row native (m 1 to 16, two
// sizes, f32 and bf16), each run by the winner of the nearest other one, the mean loss was 5.4 %
// where all dimensions count alike, and 0.4 % where m counts twice or three times.
inline constexpr float kWeight = 1, kWeightOfRows = 2;

inline constexpr size_t kMostTableKernels = 1 << 16;
inline constexpr size_t kMostTableBytes = size_t{1} << 30;

// Where the table was made: shown, and held against where it is used.
struct TableOrigin {
  std::string created;  // UTC, ISO 8601.
  std::string run;      // The record's id.
  std::string assay_version, assay_revision;
  std::string device_kind, device_name, device_id;  // As in Fingerprint.
  std::string target;
  int threads = 1;
  std::string condition, race_class;  // As records write them; several are joined by '|'.
  struct Library {
    std::string provider, version, path, sha256;
    bool operator==(const Library&) const = default;
  };
  std::vector<Library> libraries;

  bool operator==(const TableOrigin&) const = default;
};

// The compiled form of a kernel whose bytes travel in the table.
struct TableBlob {
  std::string bytes;
  std::string file_name;  // As the builder called it: "kernel.so".
  std::string target;     // What it was compiled for.
  Json visible;           // MaskedProblem::key() of what it was compiled for.
  bool operator==(const TableBlob&) const = default;
};

struct TableKernel {
  KernelMetadata metadata;
  std::string artifact_hash;  // What ran.
  Json artifact_facts;
  Json sample;                    // A problem that it was tuned on, by the operation's fields.
  std::optional<TableBlob> blob;  // None where the code lives in a library or in the program.

  std::string label() const { return metadata.provider() + "/" + metadata.name(); }
};

struct TableKind {
  std::string text;                     // kind_of() of its problems.
  std::vector<std::string> dimensions;  // "l", "m", "n", "k".
  std::vector<float> weights;           // Of each in the distance between problems.
  size_t measures = 0;                  // How many numbers measures_of() gives.
  bool operator==(const TableKind&) const = default;
};

struct TableChoice {
  uint32_t kernel = 0;
  double median_us = 0;  // As it was timed; 0 unknown. For people: never a ratio's base.
  bool operator==(const TableChoice&) const = default;
};

struct TableProblem {
  std::string name;
  uint32_t kind = 0;
  uint64_t alignments = 0;
  FastDigest signature{};  // Problem::digest() of how it was asked for.
  std::vector<int64_t> measures;
  std::vector<TableChoice> choices;  // The winner first, then those that were nearly as good.
  bool operator==(const TableProblem&) const = default;
};

struct TableContents {
  TableOrigin origin;
  std::vector<TableKernel> kernels;
  std::vector<TableKind> kinds;
  std::vector<TableProblem> problems;  // No two have the same kind and measures.

  // Adds a problem, and its kind if that is new. The choices name kernels that are here already.
  // False, and nothing is changed, if the table has the problem.
  bool add(const Problem& problem, std::vector<TableChoice> choices);
};

// The file's bytes. Errors (invalid_input): choices of kernels that are not there, and the like.
Result<std::string> table_bytes(const TableContents& contents);
Status write_table(const std::string& path, const TableContents& contents);

// Hostile until parsed: every size is checked against what is there before anything is made of it,
// and a blob must have the hash of its artifact. Errors are invalid_input (not_found for an absent
// file) and begin with `origin`, the file's name.
Result<TableContents> parse_table(std::string_view bytes, std::string_view origin);
Result<TableContents> read_table_file(const std::string& path);
// Whether a regular file (or a link to one) begins as a table does, of whatever version. Nothing
// more of it is read.
bool is_table_file(const std::string& path);

}  // namespace assay
