#pragma once

#include <filesystem>

namespace assay {

// The deepest folder that two absolute, normal paths lie below.
std::filesystem::path common_folder(const std::filesystem::path& first,
                                    const std::filesystem::path& second);

}  // namespace assay
