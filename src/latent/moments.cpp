#include "latent/moments.h"

#include <algorithm>
#include <cmath>

#include "core/base/errors.h"
#include "core/linalg/dense.h"
#include "core/linalg/spectral.h"

namespace granary::latent {
namespace {

constexpr Index chunk = 256;

// Row by row products y_a y_b: n x k^2, entry (j, l) at j + k l.
MatrixXd row_products(ConstMatrixRef a, ConstMatrixRef b) {
  const Index k = a.cols();
  MatrixXd out(a.rows(), k * b.cols());
  for (Index l = 0; l < b.cols(); ++l)
    for (Index j = 0; j < k; ++j) out.col(j + k * l) = a.col(j).cwiseProduct(b.col(l));
  return out;
}

// A (x) b in its three orders, A symmetric.
MatrixXd sym3(ConstMatrixRef a, ConstVectorRef b) {
  const Index k = a.rows();
  MatrixXd out(k, k * k);
  for (Index l = 0; l < k; ++l)
    for (Index j = 0; j < k; ++j)
      for (Index i = 0; i < k; ++i) out(i, j + k * l) = a(i, j) * b[l] + a(i, l) * b[j] + a(j, l) * b[i];
  return out;
}

MatrixXd cube(ConstVectorRef u) {
  Tensor3 t(u.size());
  t.add(1, u);
  return t.unfolded();
}

// The leading pairs of M2: some more than k, so that a scree can be drawn.
void whiten_with(const EigenPairs& pairs, Index k, WhitenedMoments& m) {
  m.eigenvalues = pairs.values;
  const double top = pairs.values[0];
  Index usable = 0;
  while (usable < k && pairs.values[usable] > 1e-10 * std::max(top, 0.0)) ++usable;
  if (usable < k) {
    throw InputError(message("the second moments allow at most ", usable, " components: eigenvalue ", usable + 1, " of ", k, " is ", pairs.values[usable],
                             ". Use a smaller `k`, or more data."));
  }
  const VectorXd root = pairs.values.head(k).cwiseSqrt();
  m.whiten = pairs.vectors.leftCols(k) * root.cwiseInverse().asDiagonal();
  m.unwhiten = pairs.vectors.leftCols(k) * root.asDiagonal();
}

EigenPairs dense_pairs(const MatrixXd& a) {
  const SymmetricEigen eigen(a);
  EigenPairs out;
  out.values = eigen.eigenvalues().reverse();
  out.vectors = eigen.eigenvectors().rowwise().reverse();
  return out;
}

}  // namespace

WhitenedMoments topic_moments(const SparseMatrix& counts, double alpha0, Index k, Monitor& monitor) {
  require(alpha0 >= 0, "`alpha0` must not be negative.");
  const Index n = counts.rows(), d = counts.cols();
  require(k >= 1 && k <= d, message("`k` must be at most the number of words, ", d, "."));
  const VectorXd length = counts * VectorXd::Ones(d);
  WhitenedMoments m;
  VectorXd a = VectorXd::Zero(n), b = VectorXd::Zero(n), first = VectorXd::Zero(n);
  double docs = 0;
  for (Index i = 0; i < n; ++i) {
    const double l = length[i];
    if (l > 0) docs += 1;
    if (l >= 2) m.rows2 += 1;
    if (l >= 3) m.rows3 += 1;
  }
  require(m.rows3 > 0, "no document has three words: the third moments cannot be estimated.");
  for (Index i = 0; i < n; ++i) {
    const double l = length[i];
    if (l > 0) first[i] = 1 / (docs * l);
    if (l >= 2) a[i] = 1 / (m.rows2 * l * (l - 1));
    if (l >= 3) b[i] = 1 / (m.rows3 * l * (l - 1) * (l - 2));
  }
  const SparseMatrix words = counts.transpose();  // products with C' by columns of C'
  m.mean = words * first;
  // Pairs of words: E x1 x2' = C' diag(a) C - diag(C'a).
  const VectorXd diagonal = words * a;
  const double shrink = alpha0 / (alpha0 + 1);
  const LinearOperator second = [&](ConstVectorRef x, VectorRef y) {
    VectorXd t = counts * x;
    t.array() *= a.array();
    y = words * t;
    y -= diagonal.cwiseProduct(x);
    y -= shrink * m.mean.dot(x) * m.mean;
  };
  const Index more = std::min(d, k + std::min<Index>(5, d - k));
  if (d <= 400) {
    MatrixXd dense(d, d);
    for (Index j = 0; j < d; ++j) second(VectorXd::Unit(d, j), dense.col(j));
    whiten_with(dense_pairs(0.5 * (dense + dense.transpose())), k, m);
    m.eigenvalues.conservativeResize(more);
  } else {
    EigenOptions options;
    options.tol = 1e-8;
    whiten_with(top_eigenpairs(second, d, more, Which::largest, options, monitor), k, m);
  }
  // Triples of different words: with y = W'c, z_i = sum_docs b c_i y and g_i = sum_docs b c_i,
  //   sum_docs b y^3 + 2 sum_i g_i w_i^3 - sum_i sym3(w_i w_i' (x) z_i).
  const MatrixXd& w = m.whiten;
  MatrixXd t = MatrixXd::Zero(k, k * k);
  MatrixXd z = MatrixXd::Zero(d, k);
  const Eigen::SparseMatrix<double, Eigen::RowMajor> by_rows(counts);
  for (Index from = 0; from < n; from += 4096) {
    monitor.check();
    const Index size = std::min<Index>(4096, n - from);
    const MatrixXd y = by_rows.middleRows(from, size) * w;
    const MatrixXd scaled = b.segment(from, size).asDiagonal() * y;
    z += by_rows.middleRows(from, size).transpose() * scaled;
    for (Index r = 0; r < size; r += chunk) {
      const Index part = std::min(chunk, size - r);
      t.noalias() += scaled.middleRows(r, part).transpose() * row_products(y.middleRows(r, part), y.middleRows(r, part));
    }
  }
  const VectorXd g = words * b;
  MatrixXd pairs = MatrixXd::Zero(k, k * k);  // sum_i z_i (x) w_i (x) w_i
  for (Index from = 0; from < d; from += chunk) {
    monitor.check();
    const Index size = std::min(chunk, d - from);
    const auto part = w.middleRows(from, size);
    const MatrixXd products = row_products(part, part);
    t.noalias() += 2 * (part.transpose() * (g.segment(from, size).asDiagonal() * products));
    pairs.noalias() += z.middleRows(from, size).transpose() * products;
  }
  t -= 3 * Tensor3::symmetric(pairs).unfolded();
  if (alpha0 > 0) {
    const VectorXd mean = w.transpose() * m.mean;
    // W' E[x1 x2'] W = I + shrink W'M1 M1'W
    const MatrixXd joint = MatrixXd::Identity(k, k) + shrink * mean * mean.transpose();
    t -= alpha0 / (alpha0 + 2) * sym3(joint, mean);
    t += 2 * alpha0 * alpha0 / ((alpha0 + 2) * (alpha0 + 1)) * cube(mean);
  }
  m.tensor = Tensor3::symmetric(t);
  return m;
}

WhitenedMoments gaussian_moments(ConstMatrixRef x, bool hetero, Index k, Monitor& monitor) {
  const Index n = x.rows(), d = x.cols();
  require(k >= 1 && k <= d, message("`k` must be at most the number of columns, ", d, "."));
  const double rows = static_cast<double>(n);
  WhitenedMoments m;
  m.rows2 = m.rows3 = rows;
  m.mean = x.colwise().mean().transpose();
  const MatrixXd centred = x.rowwise() - m.mean.transpose();
  const MatrixXd covariance = centred.transpose() * centred / rows;
  const SymmetricEigen eigen(covariance);
  // The means span k - 1 directions of the covariance: the others have the variance of the noise.
  const Index noise = hetero ? 1 : std::max<Index>(1, d - k + 1);
  m.noise_var = std::max(0.0, eigen.eigenvalues().head(noise).mean());
  VectorXd third = m.noise_var * m.mean;
  if (hetero) {
    const VectorXd off = (centred * eigen.eigenvectors().col(0)).array().square().matrix();
    m.noise_mean = x.transpose() * off / rows;
    third = m.noise_mean;
  }
  MatrixXd second = covariance + m.mean * m.mean.transpose();
  second.diagonal().array() -= m.noise_var;
  whiten_with(dense_pairs(second), k, m);
  const MatrixXd& w = m.whiten;
  MatrixXd t = MatrixXd::Zero(k, k * k);
  for (Index from = 0; from < n; from += chunk) {
    monitor.check();
    const Index size = std::min(chunk, n - from);
    const MatrixXd y = x.middleRows(from, size) * w;
    t.noalias() += y.transpose() * row_products(y, y) / rows;
  }
  t -= sym3(w.transpose() * w, w.transpose() * third);
  m.tensor = Tensor3::symmetric(t);
  return m;
}

ViewMoments view_moments(ConstMatrixRef x1, ConstMatrixRef x2, ConstMatrixRef x3, Index k, Monitor& monitor) {
  const Index n = x1.rows();
  require(x2.rows() == n && x3.rows() == n, "the three views must have the same rows.");
  require(k >= 1 && k <= std::min({x1.cols(), x2.cols(), x3.cols()}), "`k` must be at most the number of columns of every view.");
  const double rows = static_cast<double>(n);
  const MatrixXd p12 = x1.transpose() * x2 / rows, p32 = x3.transpose() * x2 / rows, p31 = x3.transpose() * x1 / rows;
  const Svd svd(p12, SvdParts::thin);
  const VectorXd& s = svd.singularValues();
  if (!(s[k - 1] > 1e-10 * s[0])) {
    throw InputError(message("views 1 and 2 are related in fewer than ", k, " directions: singular value ", k, " is ", s[k - 1], "."));
  }
  // E[x1 x2']^+ of rank k = V S^-1 U'
  const MatrixXd u = svd.matrixU().leftCols(k), v = svd.matrixV().leftCols(k);
  const VectorXd inverse = s.head(k).cwiseInverse();
  ViewMoments out;
  out.first = p32 * v * inverse.asDiagonal() * u.transpose();
  out.second = p31 * u * inverse.asDiagonal() * v.transpose();
  const MatrixXd second = out.first * p12 * out.second.transpose();
  WhitenedMoments& m = out.moments;
  m.rows2 = m.rows3 = rows;
  m.mean = x3.colwise().mean().transpose();
  whiten_with(dense_pairs(0.5 * (second + second.transpose())), k, m);
  const MatrixXd w1 = out.first.transpose() * m.whiten, w2 = out.second.transpose() * m.whiten;
  MatrixXd t = MatrixXd::Zero(k, k * k);
  for (Index from = 0; from < n; from += chunk) {
    monitor.check();
    const Index size = std::min(chunk, n - from);
    const MatrixXd y1 = x1.middleRows(from, size) * w1, y2 = x2.middleRows(from, size) * w2, y3 = x3.middleRows(from, size) * m.whiten;
    t.noalias() += y1.transpose() * row_products(y2, y3) / rows;
  }
  m.tensor = Tensor3::symmetric(t);
  return out;
}

Recovered recover(const WhitenedMoments& m, const TensorResult& tensor, double ratio) {
  Recovered out;
  const Index k = tensor.values.size();
  out.s.resize(k);
  out.means.resize(k, m.unwhiten.rows());
  for (Index i = 0; i < k; ++i) {
    require(tensor.values[i] > 0, "a component has no positive value: the moments do not fit the model with this `k`.");
    const double root = ratio / tensor.values[i];
    out.s[i] = root * root;
    out.means.row(i) = (m.unwhiten * tensor.vectors.col(i) / root).transpose();
  }
  return out;
}

}  // namespace granary::latent
