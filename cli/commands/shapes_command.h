#pragma once

#include <memory>

#include "cli/command.h"

namespace assay::cli {

std::unique_ptr<Command> make_shapes_command();

}  // namespace assay::cli
