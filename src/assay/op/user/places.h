#pragma once

// Where the fields of a user's definition were read, for sentences about what is wrong with it. A
// definition travels between processes and stays in records; these places are of this process
// alone.

#include <map>
#include <string>
#include <string_view>

#include "assay/base/result.h"

namespace assay::user {

// By the field's name: "softmax.op.yaml:11". `operation`: its name.
void note_places(std::string_view operation, std::map<std::string, std::string> places);

// An error of one of its instances, which begins with the field that it is about: behind the
// field's place, or behind the operation's title if that is not known.
Error located(std::string_view operation, const Error& error);

}  // namespace assay::user
