#include "core/linalg/spd_steps.h"

#include <algorithm>

#include "core/linalg/spd_inverse.h"
#include "core/linalg/dense.h"

namespace granary {

namespace {

constexpr Index panel = 128, small = 512;

// step(from, count) for panels of 0..n-1.
template <class Step>
void in_panels(Index n, Monitor& monitor, const Step& step) {
  for (Index from = 0; from < n; from += panel) {
    monitor.check();
    step(from, std::min(panel, n - from));
  }
}

}  // namespace

// The recursions of spd_inverse.cpp, their products panel by panel.
void invert_lower_in_steps(MatrixRef lower, Monitor& monitor) {
  const Index n = lower.rows(), k = n / 2;
  if (n <= small) return invert_lower(lower);
  auto l11 = lower.topLeftCorner(k, k), l22 = lower.bottomRightCorner(n - k, n - k), l21 = lower.bottomLeftCorner(n - k, k);
  in_panels(k, monitor, [&](Index from, Index count) {
    auto columns = l21.middleCols(from, count);
    l22.triangularView<Eigen::Lower>().solveInPlace(columns);
  });
  in_panels(n - k, monitor, [&](Index from, Index count) {
    auto rows = l21.middleRows(from, count);
    l11.triangularView<Eigen::Lower>().solveInPlace<Eigen::OnTheRight>(rows);
    rows = -rows;
  });
  invert_lower_in_steps(l11, monitor);
  invert_lower_in_steps(l22, monitor);
}

void cross_product_lower_in_steps(MatrixRef m, Monitor& monitor) {
  const Index n = m.rows(), k = n / 2;
  if (n <= small) return cross_product_lower(m);
  auto m11 = m.topLeftCorner(k, k), m22 = m.bottomRightCorner(n - k, n - k), m21 = m.bottomLeftCorner(n - k, k);
  cross_product_lower_in_steps(m11, monitor);
  in_panels(n - k, monitor, [&](Index from, Index count) {
    m11.selfadjointView<Eigen::Lower>().rankUpdate(m21.middleRows(from, count).transpose());
  });
  in_panels(k, monitor, [&](Index from, Index count) {
    auto columns = m21.middleCols(from, count);
    columns = (m22.triangularView<Eigen::Lower>().transpose() * columns).eval();
  });
  cross_product_lower_in_steps(m22, monitor);
}

bool cholesky_in_steps(MatrixXd& a, Monitor& monitor) {
  const Index n = a.rows();
  bool proper = true;
  in_panels(n, monitor, [&](Index from, Index count) {
    if (!proper) return;
    const Index rest = n - from - count;
    Eigen::Ref<MatrixXd> a11 = a.block(from, from, count, count);
    const LltInPlace llt(a11);
    proper = llt.info() == Eigen::Success && a11.diagonal().allFinite();
    if (!proper || rest == 0) return;
    auto a21 = a.block(from + count, from, rest, count);
    a11.triangularView<Eigen::Lower>().transpose().solveInPlace<Eigen::OnTheRight>(a21);
    a.bottomRightCorner(rest, rest).selfadjointView<Eigen::Lower>().rankUpdate(a21, -1);
  });
  for (Index j = 1; j < n; ++j) a.col(j).head(j).setZero();
  return proper;
}

void inverse_from_cholesky_in_steps(MatrixRef lower, Monitor& monitor) {
  invert_lower_in_steps(lower, monitor);
  cross_product_lower_in_steps(lower, monitor);
}

}  // namespace granary
