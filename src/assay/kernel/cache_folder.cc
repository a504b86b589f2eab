#include "assay/kernel/cache_folder.h"

#include <string_view>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "assay/base/file.h"
#include "assay/base/text.h"

namespace assay {
namespace {

constexpr std::string_view kRemedy = "give another folder by --cache-dir or ASSAY_CACHE_DIR";

tl::unexpected<Error> refuse(const std::filesystem::path& folder, std::string_view why) {
  return fail(ErrorCode::invalid_input, "the cache's folder '{}' {}; {}",
              sanitize(folder.string(), 300), why, kRemedy);
}

// A group of one's own is not of others.
bool others_write(const struct stat& facts) {
  if ((facts.st_mode & S_IWOTH) != 0) return true;
  return (facts.st_mode & S_IWGRP) != 0 && facts.st_gid != ::getegid() && facts.st_gid != 0;
}

}  // namespace

Status check_cache_folder(const std::filesystem::path& folder) {
  if (auto made = make_directories(folder.string()); !made)
    return refuse(folder, fmt::format("cannot be made: {}", made.error().message));
  struct stat facts {};
  if (::stat(folder.c_str(), &facts) != 0 || !S_ISDIR(facts.st_mode))
    return refuse(folder, "is no folder");
  if (facts.st_uid != ::geteuid() && facts.st_uid != 0)
    return refuse(folder,
                  fmt::format("belongs to user {}, who could choose what runs", facts.st_uid));
  if (others_write(facts))
    return refuse(folder, "may be written by others, who could choose what runs");
  struct statvfs system {};
  if (::statvfs(folder.c_str(), &system) != 0) return {};
  if ((system.f_flag & ST_RDONLY) != 0 || ::access(folder.c_str(), W_OK) != 0)
    return refuse(folder, "cannot be written");
  if ((system.f_flag & ST_NOEXEC) != 0)
    return refuse(folder, "lies on a file system from which nothing may be run (noexec)");
  return {};
}

}  // namespace assay
