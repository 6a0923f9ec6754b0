#include "cluster/bregman_family.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/errors.h"
#include "core/linalg/dense.h"

namespace granary::cluster {

namespace {

using K = DivergenceKind;
constexpr double infinity = std::numeric_limits<double>::infinity();
// theta = log 0: a count that must not be there outweighs everything else; times a count of zero it is zero.
constexpr double log_zero = -1e30;
// Where both ends of the domain are borders theta and psi would cancel: an impossible row costs 1e4 nats then.
constexpr double log_zero_two_sided = -1e4;

double xlogy(double x, double y) { return x == 0 ? 0 : x * std::log(y); }

// x log(x / m) - x + m = m h(u) with u = x / m - 1, h(u) = (1 + u) log(1 + u) - u: near x = m the plain form loses every digit.
double relative_entropy(double x, double m) {
  if (m <= 0) return x > 0 ? infinity : 0;
  if (x <= 0) return m;
  const double u = (x - m) / m;
  if (std::abs(u) > 0.01) return x * std::log(x / m) - x + m;
  double power = u * u, sum = 0;  // h(u) = sum_k (-1)^k u^k / (k (k - 1))
  for (int k = 2; k < 12; ++k, power *= -u) sum += power / (k * (k - 1.0));
  return m * sum;
}

// x / m - log(x / m) - 1 = u - log(1 + u)
double itakura_saito(double x, double m) {
  if (!(x > 0) || !(m > 0)) return infinity;
  const double u = (x - m) / m;
  return std::max(u - std::log1p(u), 0.0);
}

double limited_log(double x, double floor) { return x > 0 ? std::max(std::log(x), floor) : floor; }

double phi_of(const ColumnDivergence& c, double m) {
  const double a = c.parameter;
  switch (c.kind) {
    case K::gaussian: return m * m / (2 * a);
    case K::poisson: return xlogy(m, m) - m;
    case K::bernoulli: return xlogy(m, m) + xlogy(1 - m, 1 - m);
    case K::binomial: return xlogy(m, m / a) + xlogy(a - m, (a - m) / a);
    case K::exponential: return -std::log(m) - 1;
    case K::gamma: return -a * (std::log(m) + 1);
    case K::multinomial: return xlogy(m, m);
    case K::negbinomial: return xlogy(m, m) - (m + a) * std::log(m + a);
    case K::exp_loss: return std::exp(m);
    case K::power: return std::pow(m, a);
  }
  return 0;
}

double gradient_of(const ColumnDivergence& c, double m) {
  const double a = c.parameter;
  switch (c.kind) {
    case K::gaussian: return m / a;
    case K::poisson: return limited_log(m, log_zero);
    case K::bernoulli: return limited_log(m, log_zero_two_sided) - limited_log(1 - m, log_zero_two_sided);
    case K::binomial: return limited_log(m / a, log_zero_two_sided) - limited_log((a - m) / a, log_zero_two_sided);
    case K::exponential: return -1 / m;
    case K::gamma: return -a / m;
    case K::multinomial: return limited_log(m, log_zero) + 1;
    case K::negbinomial: return limited_log(m, log_zero) - std::log(m + a);
    case K::exp_loss: return std::exp(m);
    case K::power: return a * std::pow(m, a - 1);
  }
  return 0;
}

double inverse_of(const ColumnDivergence& c, double t) {
  const double a = c.parameter;
  switch (c.kind) {
    case K::gaussian: return a * t;
    case K::poisson: return std::exp(t);
    case K::bernoulli: return 1 / (1 + std::exp(-t));
    case K::binomial: return a / (1 + std::exp(-t));
    case K::exponential: return -1 / t;
    case K::gamma: return -a / t;
    case K::multinomial: return std::exp(t - 1);
    case K::negbinomial: return a / std::expm1(-t);  // theta = log(m / (m + r)) < 0
    case K::exp_loss: return std::log(t);
    case K::power: return std::pow(t / a, 1 / (a - 1));
  }
  return 0;
}

double divergence_of(const ColumnDivergence& c, double x, double m) {
  const double a = c.parameter;
  switch (c.kind) {
    case K::gaussian: return (x - m) * (x - m) / (2 * a);
    case K::poisson: return relative_entropy(x, m);
    case K::bernoulli: return relative_entropy(x, m) + relative_entropy(1 - x, 1 - m);
    case K::binomial: return relative_entropy(x, m) + relative_entropy(a - x, a - m);
    case K::exponential: return itakura_saito(x, m);
    case K::gamma: return a * itakura_saito(x, m);
    case K::multinomial: return relative_entropy(x, m);  // x - m sums to zero over the row
    case K::negbinomial: return std::max(relative_entropy(x, m) - relative_entropy(x + a, m + a), 0.0);
    case K::exp_loss: return std::exp(m) * std::max(std::expm1(x - m) - (x - m), 0.0);
    case K::power: return std::max(std::pow(x, a) - std::pow(m, a) - a * (x - m) * std::pow(m, a - 1), 0.0);
  }
  return 0;
}

double log_base_of(const ColumnDivergence& c, double x) {
  const double a = c.parameter;
  switch (c.kind) {
    case K::gaussian: return -0.5 * std::log(2 * 3.14159265358979323846 * a);
    case K::poisson: return xlogy(x, x) - x - std::lgamma(x + 1);
    case K::bernoulli: return xlogy(x, x) + xlogy(1 - x, 1 - x);
    case K::binomial: return std::lgamma(a + 1) - std::lgamma(x + 1) - std::lgamma(a - x + 1) + xlogy(x, x / a) + xlogy(a - x, (a - x) / a);
    case K::exponential: return -std::log(x) - 1;
    case K::gamma: return a * std::log(a) - a - std::log(x) - std::lgamma(a);
    case K::multinomial: return xlogy(x, x) - std::lgamma(x + 1);  // plus a term of the row's sum
    case K::negbinomial:
      return std::lgamma(x + a) - std::lgamma(x + 1) - std::lgamma(a) + xlogy(x, x) - (x + a) * std::log(x + a) + a * std::log(a);
    default: return std::numeric_limits<double>::quiet_NaN();
  }
}

struct Domain {
  double lower, upper;
  bool open_lower;
  const char* what;
};
Domain domain_of(const ColumnDivergence& c) {
  switch (c.kind) {
    case K::poisson: case K::multinomial: case K::negbinomial: case K::power: return {0, infinity, false, "not negative"};
    case K::bernoulli: return {0, 1, false, "between 0 and 1"};
    case K::binomial: return {0, c.parameter, false, "between 0 and the size"};
    case K::exponential: case K::gamma: return {0, infinity, true, "positive"};
    default: return {-infinity, infinity, false, "finite"};
  }
}

bool is_count(K kind) { return kind == K::poisson || kind == K::bernoulli || kind == K::binomial || kind == K::multinomial || kind == K::negbinomial; }

// body(row, column, value) for every entry; of a sparse matrix those not stored are seen as zeros in one term per column, zero(j).
template <class Body>
void entries(const Design& x, const Body& body) {
  for (Index j = 0; j < x.cols(); ++j) {
    if (x.is_sparse()) {
      for (ConstSparseMap::InnerIterator it(x.sparse(), j); it; ++it) body(it.row(), j, it.value());
    } else {
      for (Index i = 0; i < x.rows(); ++i) body(i, j, x.dense()(i, j));
    }
  }
}

// sum_j f(j, x_ij) for every row, where f(j, 0) need not be zero.
template <class F>
VectorXd row_sums(const Design& x, const F& f) {
  VectorXd out = VectorXd::Zero(x.rows());
  VectorXd zero = VectorXd::Zero(x.cols());
  if (x.is_sparse()) {
    for (Index j = 0; j < x.cols(); ++j) zero[j] = f(j, 0.0);
    out.setConstant(zero.sum());
  }
  entries(x, [&](Index i, Index j, double value) { out[i] += f(j, value) - zero[j]; });
  return out;
}

}  // namespace

bool BregmanFamily::has_likelihood() const {
  if (quadratic()) return true;
  return !own() && std::none_of(columns_.begin(), columns_.end(), [](const ColumnDivergence& c) { return c.kind == K::exp_loss || c.kind == K::power || c.scale != 1; });
}
bool BregmanFamily::counts() const {
  return std::any_of(columns_.begin(), columns_.end(), [](const ColumnDivergence& c) { return is_count(c.kind); });
}
bool BregmanFamily::whole_rows() const {
  return std::any_of(columns_.begin(), columns_.end(), [](const ColumnDivergence& c) { return c.kind == K::multinomial; });
}

void BregmanFamily::check_columns(Index d) const {
  if (quadratic() && quadratic_.rows() != d)
    throw InputError(message("the matrix of the Mahalanobis divergence is ", quadratic_.rows(), " x ", quadratic_.rows(), ", but the rows have ", d,
                             d == 1 ? " column." : " columns."));
  if (!own() && columns_.size() != 1 && static_cast<Index>(columns_.size()) != d)
    throw InputError(message("there must be one divergence for all columns or one for each of the ", d, ", not ", columns_.size(), "."));
}

VectorXd BregmanFamily::phi(const MatrixXd& m) const {
  if (own()) return phi_(m);
  VectorXd out = VectorXd::Zero(m.rows());
  for (Index j = 0; j < m.cols(); ++j)
    for (Index i = 0; i < m.rows(); ++i) out[i] += column(j).scale * phi_of(column(j), m(i, j));
  return out;
}

MatrixXd BregmanFamily::gradient(const MatrixXd& m) const {
  if (own()) return gradient_(m);
  MatrixXd out(m.rows(), m.cols());
  for (Index j = 0; j < m.cols(); ++j)
    for (Index i = 0; i < m.rows(); ++i) out(i, j) = column(j).scale * gradient_of(column(j), m(i, j));
  return out;
}

MatrixXd BregmanFamily::inverse(const MatrixXd& theta) const {
  if (own()) {
    if (!inverse_) throw InputError("this divergence has no inverse of its gradient.");
    return inverse_(theta);
  }
  MatrixXd out(theta.rows(), theta.cols());
  for (Index j = 0; j < theta.cols(); ++j)
    for (Index i = 0; i < theta.rows(); ++i) out(i, j) = inverse_of(column(j), theta(i, j) / column(j).scale);
  return out;
}

MatrixXd BregmanFamily::gradient_from(const MatrixXd& m, ConstVectorRef o) const {
  if (quadratic()) return 2 * (m.rowwise() - o.transpose()) * quadratic_;
  const MatrixXd origin = o.transpose();
  MatrixXd out = gradient(m).rowwise() - gradient(origin).row(0);
  for (Index j = 0; j < m.cols() && !own(); ++j)
    if (column(j).kind == K::gaussian) out.col(j) = column(j).scale / column(j).parameter * (m.col(j).array() - o[j]);
  return out;
}

VectorXd BregmanFamily::offset_from(const MatrixXd& m, ConstVectorRef o) const {
  const auto square = [&](const MatrixXd& from, Index h, Index j) { return from(h, j) * (m(h, j) + o[j]) / 2; };  // (m^2 - o^2) / 2a
  VectorXd out(m.rows());
  if (own()) {
    const MatrixXd from = gradient_from(m, o), origin = o.transpose();
    if (!quadratic()) {
      const MatrixXd theta = gradient(m), there = gradient(origin);
      return (phi(m) - m.cwiseProduct(theta).rowwise().sum()).array() - (phi(origin)[0] - origin.cwiseProduct(there).sum());
    }
    for (Index h = 0; h < m.rows(); ++h) {
      out[h] = 0;
      for (Index j = 0; j < m.cols(); ++j) out[h] -= square(from, h, j);
    }
    return out;
  }
  const MatrixXd from = gradient_from(m, o), theta = gradient(m);
  for (Index h = 0; h < m.rows(); ++h) {
    out[h] = 0;
    for (Index j = 0; j < m.cols(); ++j) {
      if (column(j).kind == K::gaussian) {
        out[h] -= square(from, h, j);
      } else {
        const ColumnDivergence& c = column(j);
        out[h] += c.scale * phi_of(c, m(h, j)) - m(h, j) * theta(h, j) - c.scale * (phi_of(c, o[j]) - o[j] * gradient_of(c, o[j]));
      }
    }
  }
  return out;
}

MatrixXd BregmanFamily::normal_root() const {
  const MatrixXd lower = Llt(MatrixXd(2 * quadratic_)).matrixL();
  return lower.transpose().triangularView<Eigen::Upper>().solve(MatrixXd::Identity(lower.rows(), lower.cols()));
}

bool BregmanFamily::inside(const MatrixXd& x) const {
  if (own()) return gradient_(x).allFinite();
  for (Index j = 0; j < x.cols(); ++j) {
    const Domain domain = domain_of(column(j));
    const bool open = column(j).kind != K::power;  // whose gradient is finite at zero
    if (open && !(x.col(j).minCoeff() > domain.lower && x.col(j).maxCoeff() < domain.upper)) return false;
  }
  return true;
}

double BregmanFamily::divergence(Index j, double x, double m) const { return column(j).scale * divergence_of(column(j), x, m); }

VectorXd BregmanFamily::from_point(const Design& x, ConstVectorRef m) const {
  if (quadratic()) {
    const MatrixXd apart = (x.is_sparse() ? MatrixXd(x.sparse()) : MatrixXd(x.dense())).rowwise() - m.transpose();
    return (apart * quadratic_).cwiseProduct(apart).rowwise().sum();
  }
  if (!own()) return row_sums(x, [&](Index j, double value) { return divergence(j, value, m[j]); });
  const MatrixXd rows = x.is_sparse() ? MatrixXd(x.sparse()) : MatrixXd(x.dense()), point = m.transpose();
  const MatrixXd theta = gradient_(point);
  const VectorXd out = phi_(rows) - (rows * theta.transpose()).col(0);
  const double rest = phi_(point)[0] - m.dot(theta.row(0).transpose());
  return (out.array() - rest).max(0.0);
}

VectorXd BregmanFamily::from_centres(const Design& x, const MatrixXd& centres, const VectorXi& label) const {
  VectorXd out = VectorXd::Zero(x.rows());
  if (quadratic()) {
    MatrixXd apart = x.is_sparse() ? MatrixXd(x.sparse()) : MatrixXd(x.dense());
    for (Index i = 0; i < apart.rows(); ++i) apart.row(i) -= centres.row(label[i]);
    return (apart * quadratic_).cwiseProduct(apart).rowwise().sum();
  }
  if (own()) {
    const MatrixXd rows = x.is_sparse() ? MatrixXd(x.sparse()) : MatrixXd(x.dense()), theta = gradient_(centres);
    const VectorXd at = phi_(centres), own_phi = phi_(rows);
    for (Index i = 0; i < rows.rows(); ++i)
      out[i] = std::max(own_phi[i] - at[label[i]] - (rows.row(i) - centres.row(label[i])).dot(theta.row(label[i])), 0.0);
    return out;
  }
  if (x.is_sparse()) {  // entries that are not stored: d(0, m), the sum over all columns less those stored
    VectorXd all = VectorXd::Zero(centres.rows());
    for (Index j = 0; j < x.cols(); ++j)
      for (Index h = 0; h < centres.rows(); ++h) all[h] += divergence(j, 0, centres(h, j));
    for (Index i = 0; i < x.rows(); ++i) out[i] = all[label[i]];
    entries(x, [&](Index i, Index j, double value) {
      const double m = centres(label[i], j);
      out[i] += divergence(j, value, m) - divergence(j, 0, m);
    });
    return out.cwiseMax(0.0);
  }
  entries(x, [&](Index i, Index j, double value) { out[i] += divergence(j, value, centres(label[i], j)); });
  return out;
}

MatrixXd BregmanFamily::between(const MatrixXd& x, const MatrixXd& y) const {
  MatrixXd out(x.rows(), y.rows());
  const Design rows(MatrixView(x.data(), x.rows(), x.cols()));
  for (Index h = 0; h < y.rows(); ++h) out.col(h) = from_point(rows, y.row(h).transpose());
  return out;
}

VectorXd BregmanFamily::log_base(const Design& x) const {
  if (quadratic()) {  // the normal law of covariance A^-1 / 2
    const Llt factor(quadratic_);
    const double root = MatrixXd(factor.matrixL()).diagonal().array().log().sum();
    return VectorXd::Constant(x.rows(), root - 0.5 * static_cast<double>(x.cols()) * std::log(3.14159265358979323846));
  }
  VectorXd out = row_sums(x, [&](Index j, double value) { return log_base_of(column(j), value); });
  if (!whole_rows()) return out;
  VectorXd sum = VectorXd::Zero(x.rows());
  entries(x, [&](Index i, Index, double value) { sum[i] += value; });
  for (Index i = 0; i < out.size(); ++i) out[i] += std::lgamma(sum[i] + 1) - xlogy(sum[i], sum[i]);
  return out;
}

void BregmanFamily::check_domain(const Design& x, bool likelihood) const {
  check_columns(x.cols());
  if (own()) return;
  entries(x, [&](Index i, Index j, double value) {
    const Domain domain = domain_of(column(j));
    const bool below = domain.open_lower ? !(value > domain.lower) : !(value >= domain.lower);
    if (below || !(value <= domain.upper) || !std::isfinite(value))
      throw InputError(message("`x` must be ", domain.what, " for the divergence \"", name_of(column(j).kind), "\", but row ", i + 1, " of column ", j + 1, " is ", value, "."));
    if (likelihood && is_count(column(j).kind) && value != std::floor(value))
      throw InputError(message("a likelihood of counts needs whole numbers, but row ", i + 1, " of column ", j + 1, " is ", value, ". Use hard clusters."));
  });
  if (x.is_sparse()) {
    for (Index j = 0; j < x.cols(); ++j)
      if (domain_of(column(j)).open_lower) throw InputError(message("`x` must be positive for the divergence \"", name_of(column(j).kind), "\": a sparse matrix has zeros."));
  }
  if (whole_rows()) {
    VectorXd sum = VectorXd::Zero(x.rows());
    entries(x, [&](Index i, Index, double value) { sum[i] += value; });
    for (Index i = 1; i < sum.size(); ++i)
      if (std::abs(sum[i] - sum[0]) > 1e-8 * std::abs(sum[0]))
        throw InputError(message("rows must have equal sums for the divergence \"multinomial\", but row 1 has ", sum[0], " and row ", i + 1, " has ", sum[i],
                                 ". Divide each row by its sum, or use \"poisson\"."));
    if (sum.size() > 0 && !(sum[0] > 0)) throw InputError("rows must have positive sums for the divergence \"multinomial\".");
  }
}

BregmanFamily mahalanobis_family(const MatrixXd& a) {
  if (a.rows() != a.cols() || a.rows() == 0 || (a - a.transpose()).cwiseAbs().maxCoeff() > 1e-8 * a.cwiseAbs().maxCoeff())
    throw InputError("the matrix of the Mahalanobis divergence must be square and symmetric.");
  const Llt factor(a);
  if (factor.info() != Eigen::Success) throw InputError("the matrix of the Mahalanobis divergence must be positive definite.");
  return BregmanFamily(a);
}

BregmanFamily::BregmanFamily(MatrixXd quadratic) : quadratic_(std::move(quadratic)) {
  const MatrixXd a = quadratic_;
  const Llt factor(a);
  phi_ = [a](const MatrixXd& x) -> VectorXd { return (x * a).cwiseProduct(x).rowwise().sum(); };
  gradient_ = [a](const MatrixXd& x) -> MatrixXd { return 2 * x * a; };
  inverse_ = [factor](const MatrixXd& t) -> MatrixXd { return 0.5 * factor.solve(MatrixXd(t.transpose())).transpose(); };
}

namespace {

double draw_of(const ColumnDivergence& c, double m, Rng& rng) {
  const double a = c.parameter;
  switch (c.kind) {
    case K::gaussian: return rng.normal(m, std::sqrt(a));
    case K::poisson: return static_cast<double>(rng.poisson(m));
    case K::bernoulli: return rng.bernoulli(m) ? 1 : 0;
    case K::binomial: return static_cast<double>(rng.binomial(static_cast<std::int64_t>(a), m / a));
    case K::exponential: return rng.exponential() * m;
    case K::gamma: return rng.gamma(a, m / a);
    case K::negbinomial: return static_cast<double>(rng.poisson(rng.gamma(a, m / a)));
    default: throw InputError(message("there are no draws for the divergence \"", name_of(c.kind), "\"."));
  }
}

}  // namespace

BregmanDraws bregman_draws(Index n, const MatrixXd& centres, ConstVectorRef share, const BregmanFamily& family, std::int64_t size, Rng& rng) {
  if (!family.has_likelihood()) throw InputError("only an exponential family has draws: this divergence has no likelihood.");
  family.check_columns(centres.cols());
  BregmanDraws out{MatrixXd(n, centres.cols()), VectorXi(n)};
  const AliasTable table(share);
  const MatrixXd root = family.quadratic() ? family.normal_root() : MatrixXd();
  for (Index i = 0; i < n; ++i) {
    const int h = table.draw(rng);
    out.cluster[i] = h;
    if (family.quadratic()) {
      out.x.row(i) = centres.row(h) + (root * rng.normals(centres.cols())).transpose();
    } else if (family.whole_rows()) {  // one binomial after the other
      std::int64_t left = size;
      double rest = centres.row(h).sum();
      for (Index j = 0; j < centres.cols(); ++j) {
        const double m = centres(h, j);
        const std::int64_t count = j + 1 == centres.cols() ? left : rest > 0 ? rng.binomial(left, std::min(m / rest, 1.0)) : 0;
        out.x(i, j) = static_cast<double>(count);
        left -= count;
        rest -= m;
      }
    } else {
      for (Index j = 0; j < centres.cols(); ++j) out.x(i, j) = draw_of(family.column(j), centres(h, j), rng);
    }
  }
  return out;
}

MatrixXd bregman_table(const MatrixXd& x, const MatrixXd& y, const BregmanFamily& family, BregmanTable what) {
  family.check_columns(x.cols());
  const auto inside = [&](const MatrixXd& rows) { family.check_domain(Design(MatrixView(rows.data(), rows.rows(), rows.cols())), false); };
  if (what != BregmanTable::inverse) inside(x);
  switch (what) {
    case BregmanTable::gradient: return family.gradient(x);
    case BregmanTable::inverse: return family.inverse(x);
    case BregmanTable::phi: return family.phi(x);
    case BregmanTable::divergence: break;
  }
  if (y.cols() != x.cols()) throw InputError(message("`y` must have the ", x.cols(), " columns of `x`, not ", y.cols(), "."));
  inside(y);
  return family.between(x, y);
}

}  // namespace granary::cluster
