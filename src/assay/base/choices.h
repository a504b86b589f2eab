#pragma once

// A word that is none of those that there are: what was meant, and what there is.

#include <span>
#include <string>
#include <string_view>

namespace assay {

// "; did you mean 'x'? There are: x, y", or "; there are: x, y" where nothing is near. `all` is
// what is said of all of them: "there are: x, y".
std::string did_you_mean(std::string_view word, std::span<const std::string> known,
                         std::string_view all);

}  // namespace assay
