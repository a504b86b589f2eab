#pragma once

#include <string_view>

namespace assay::input {

// Whether a macro of that name would change what C++ itself, C or <cstdint> say by it.
bool is_word_of_cpp(std::string_view name);

}  // namespace assay::input
