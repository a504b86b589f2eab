#pragma once

// The files that a user brings, and how their kernels are called in a record.

#include <map>
#include <span>
#include <string>
#include <vector>

#include "assay/base/result.h"
#include "assay/kernel/provider.h"
#include "assay/record/record.h"
#include "assay/sweep/sweep.h"

namespace assay::cli {

struct UserFile {
  std::string file_and_entry;         // As given: FILE or FILE::ENTRY.
  std::vector<std::string> families;  // KernelMetadata::family of each of its kernels.
  std::vector<std::string> sources;   // Absolute; the file itself included.
};

// What the files hold, to those providers that are built in (input/manifest.h).
Result<std::vector<std::vector<KernelEntry>>> read_entries(std::span<const std::string> files);

// Errors of the files carry file and line. The names are those that a worker gives when it is sent
// the same files in this order.
Result<std::vector<UserFile>> read_user_files(std::span<const std::string> files);

std::string family_of(const KernelOutcome& kernel);  // Empty where the record does not say.
bool is_of(const KernelOutcome& kernel, const UserFile& file);

// "my_gemm" for src/my_gemm.cc::entry.
std::string stem_of(const std::string& file_and_entry);

// Why none of these kernels can take a problem: its name -> sentences. Problems that some kernel
// can take are not in it. Asks a worker.
Result<std::map<std::string, std::vector<std::string>>> find_refused(const sweep::Request& request);

// The problems that none of a file's kernels can take.
struct FileRefusals {
  std::string file;  // As given, or its stem where it is the only one.
  std::map<std::string, std::vector<std::string>> problems;  // As of find_refused().
};
// Of each of `files`, alone.
Result<std::vector<FileRefusals>> find_refused_files(const sweep::Request& request,
                                                     const std::vector<std::string>& files);
// Whether no file has a kernel for it.
bool is_refused_by_all(const std::vector<FileRefusals>& files, const std::string& problem);

}  // namespace assay::cli
