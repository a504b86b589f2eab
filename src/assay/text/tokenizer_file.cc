#include <fcntl.h>
#include <sys/stat.h>

#include "assay/base/fd.h"
#include "assay/base/file.h"
#include "assay/text/tokenizer.h"

namespace assay::text {
namespace {

// A model's weights follow its metadata: the file is mapped, so that they are never read.
Result<Tokenizer> load_gguf(const std::string& path) {
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd) return fail(ErrorCode::invalid_input, "{}: {}", path, errno_text(errno));
  ASSAY_TRY(const MappedFile file, MappedFile::map_read_only(fd.get()));
  const auto bytes = file.bytes();
  return Tokenizer::from_gguf({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, path);
}

bool begins_as_gguf(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return false;
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  char begin[4] = {};
  return fd && ::pread(fd.get(), begin, sizeof begin, 0) == sizeof begin &&
         std::string_view(begin, sizeof begin) == "GGUF";
}

}  // namespace

Result<Tokenizer> Tokenizer::load(const std::string& path) {
  if (begins_as_gguf(path)) return load_gguf(path);
  ASSAY_TRY(const std::string text, read_file(path));
  return from_json(text, path);
}

}  // namespace assay::text
