// Fields that are functions: an R function, or NULL for none.
#pragma once

#include "r_door.h"

namespace granary::door {

template <class Result, class... Arguments>
void convert(const Source& s, std::function<Result(Arguments...)>& t) {
  t = nullptr;
  if (!is_null(s.value)) t = Callback<Result, std::decay_t<Arguments>...>(s.value);
}

}  // namespace granary::door
