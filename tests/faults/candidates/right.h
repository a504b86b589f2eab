#pragma once

#include "../../attacks/kernels/right.h"
