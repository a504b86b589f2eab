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
};

// Of a request's kernels, whose names are apart.
std::vector<UserFile> user_files(std::span<const input::KernelSource> sources);

std::string family_of(const KernelOutcome& kernel);  // Empty where the record does not say.
bool is_of(const KernelOutcome& kernel, const UserFile& file);

// "my_gemm" for src/my_gemm.cc::entry.
std::string stem_of(const std::string& file_and_entry);

// The problems that none of a file's kernels can take.
struct FileRefusals {
  std::string file;  // As given.
  // By the problem's name: sentences. Problems that some kernel can take are not in it.
  std::map<std::string, std::vector<std::string>> problems;
};
// Of each of `sources`, alone, on the request's problems. Asks one worker.
Result<std::vector<FileRefusals>> find_refused_files(const sweep::Request& request,
                                                     std::span<const input::KernelSource> sources);
// One file that is alone is called by its stem.
void call_by_stem(std::vector<FileRefusals>& files);
// Whether no file has a kernel for it.
bool is_refused_by_all(const std::vector<FileRefusals>& files, const std::string& problem);

}  // namespace assay::cli
