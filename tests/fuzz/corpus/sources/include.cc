#include <x>

#include "../outside.h"
#include "/etc/hostname"
#include "beside.h"
#include "beside.h
