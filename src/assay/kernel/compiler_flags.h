#pragma once

// Which flags users' files may hand to the compiler that builds them. By its flags a compiler loads
// plug-ins, and reads and writes any file, with all the rights of who called it: what is not known
// to do none of that is refused. Each provider has a list of its own compiler's.

#include <span>
#include <string_view>

#include "assay/base/result.h"

namespace assay {

struct AllowedFlag {
  std::string_view start;                 // "-D", "-std=".
  bool (*takes)(std::string_view value);  // What may follow it, joined to it.
};

// invalid_input: which flag, and `what` is allowed ("-O*, -D* ...").
Status check_flag(std::string_view flag, std::span<const AllowedFlag> allowed,
                  std::string_view what);

// For AllowedFlag::takes. Each flag stands alone, so that none takes the next one as its value.
namespace flag_value {
bool nothing(std::string_view value);
bool truth(std::string_view value);       // true, false.
bool number(std::string_view value);      // 32.
bool numbers(std::string_view value);     // 161,1105.
bool word(std::string_view value);        // c++20, hidden; neither a path nor a list.
bool name(std::string_view value);        // An identifier.
bool definition(std::string_view value);  // NAME, or NAME= and anything.
bool folder(std::string_view value);      // Of headers or libraries.
}  // namespace flag_value

}  // namespace assay
