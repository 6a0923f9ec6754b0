#include "core/base/parallel.h"

#ifndef _WIN32
#include <unistd.h>
#endif

namespace granary {

#ifdef _WIN32
bool in_forked_child() { return false; }
#else
namespace {
const auto loaded_by = getpid();
}
bool in_forked_child() { return getpid() != loaded_by; }
#endif

}  // namespace granary
