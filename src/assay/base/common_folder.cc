#include "assay/base/common_folder.h"

namespace assay {

std::filesystem::path common_folder(const std::filesystem::path& first,
                                    const std::filesystem::path& second) {
  std::filesystem::path common;
  for (auto one = first.begin(), two = second.begin();
       one != first.end() && two != second.end() && *one == *two; ++one, ++two)
    common /= *one;
  return common;
}

}  // namespace assay
