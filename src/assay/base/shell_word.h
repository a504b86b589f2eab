#pragma once

// Command lines that a person copies into a shell.

#include <string>
#include <string_view>

namespace assay {

// `text` as a shell of POSIX takes it for one word: as it is where that is plain, else in quotes.
std::string shell_word(std::string_view text);

}  // namespace assay
