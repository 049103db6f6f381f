#pragma once

// tenshot::Error and what derives from it: InputError, FileError, FormatError.
#include "nasbench/support/error.h"  // found beside this file where it is installed
