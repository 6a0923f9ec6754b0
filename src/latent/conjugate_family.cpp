#include "latent/conjugate_family.h"

#include <cmath>

namespace granary::latent {

void require_positive(double value, const char* what) {
  if (!std::isfinite(value) || value <= 0) throw InputError(message("`", what, "` of the family must be positive, not ", value, "."));
}

void require_one_column(ConstMatrixRef x, const char* family) {
  if (x.cols() != 1) throw InputError(message("the family \"", family, "\" needs one column, but there are ", x.cols(), "; for several use \"mvnormal\" or \"categorical\"."));
}

std::unique_ptr<BlockFamily> make_family(ConstMatrixRef x, const FamilySpec& spec) {
  switch (spec.type) {
    case FamilyType::normal_known:
    case FamilyType::normal:
    case FamilyType::lognormal:
    case FamilyType::mvnormal:
      return make_normal_family(x, spec);
    default:
      return make_count_family(x, spec);
  }
}

}  // namespace granary::latent
