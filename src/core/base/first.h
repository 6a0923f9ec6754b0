// What nearly every file includes anyway, precompiled where the compiler can (see configure): it halves the time of a build.
// No file includes this one; with or without it each must compile.
#ifndef GRANARY_FIRST_H
#define GRANARY_FIRST_H
#ifndef GRANARY_NO_FIRST

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "core/base/convergence.h"
#include "core/base/monitor.h"
#include "core/base/parallel.h"
#include "core/base/types.h"

#endif
#endif
