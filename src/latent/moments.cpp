#include "latent/moments.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/errors.h"
#include "core/base/parallel.h"
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
    throw InputError(message("the second moments allow at most ", usable, usable == 1 ? " component" : " components", ": eigenvalue ", usable + 1, " of ", k, " is ", pairs.values[usable],
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

DocumentSource one_piece(const Design& documents) {
  bool given = false;
  return [documents, given](Design& piece) mutable {
    given = !given;
    if (given) piece = documents;
    return given;
  };
}

void over_documents(const ConstSparseMap& piece, int threads, Monitor& monitor, const std::function<void(Index, Index, Index)>& body) {
  const Index n = piece.cols();
  parallel_for(document_parts, threads, monitor, [&](Index part) { body(part, n * part / document_parts, n * (part + 1) / document_parts); });
}

namespace {

// What one look at every document gives: sums over documents of c / l, c / (l (l - 1)) and c / (l (l - 1)(l - 2)), and how many there are of each.
struct Lengths {
  double docs = 0, docs2 = 0, docs3 = 0;
  VectorXd first, pair, triple;
};

double length_of(const ConstSparseMap& x, Index j) {
  double l = 0;
  for (ConstSparseMap::InnerIterator it(x, j); it; ++it) l += it.value();
  return l;
}

Lengths look(const DocumentSource& source, Index words, Monitor& monitor) {
  Lengths out;
  out.first = out.pair = out.triple = VectorXd::Zero(words);
  for (Design piece; source(piece);) {
    const ConstSparseMap& x = piece.sparse();
    require(x.rows() == words, "all pieces must have the same words.");
    for (Index j = 0; j < x.cols(); ++j) {
      if (j % 4096 == 0) monitor.check();
      const double l = length_of(x, j);
      out.docs += l > 0;
      out.docs2 += l >= 2;
      out.docs3 += l >= 3;
      for (ConstSparseMap::InnerIterator it(x, j); it; ++it) {
        const double c = it.value();
        if (l > 0) out.first[it.row()] += c / l;
        if (l >= 2) out.pair[it.row()] += c / (l * (l - 1));
        if (l >= 3) out.triple[it.row()] += c / (l * (l - 1) * (l - 2));
      }
    }
  }
  return out;
}

// sum over documents of c (c'Q) / (l (l - 1)): q is m x words, and so is the sum.
MatrixXd pair_product(const DocumentSource& source, const MatrixXd& q, int threads, Monitor& monitor) {
  const Index m = q.rows();
  std::vector<MatrixXd> sums(static_cast<std::size_t>(document_parts), MatrixXd::Zero(m, q.cols()));
  for (Design piece; source(piece);) {
    const ConstSparseMap x = piece.sparse();
    over_documents(x, threads, monitor, [&](Index part, Index from, Index to) {
      MatrixXd& sum = sums[static_cast<std::size_t>(part)];
      VectorXd y(m);
      for (Index j = from; j < to; ++j) {
        if (j % 4096 == 0) monitor.check();
        const double l = length_of(x, j);
        if (l < 2) continue;
        y.setZero();
        for (ConstSparseMap::InnerIterator it(x, j); it; ++it) y += it.value() * q.col(it.row());
        y /= l * (l - 1);
        for (ConstSparseMap::InnerIterator it(x, j); it; ++it) sum.col(it.row()) += it.value() * y;
      }
    });
  }
  for (std::size_t p = 1; p < sums.size(); ++p) sums[0] += sums[p];
  return std::move(sums[0]);
}

struct Triples {
  MatrixXd cubes;  // k x k^2: sum of b y^3
  MatrixXd z;      // k x words: sum of b c_i y
  std::vector<std::pair<double, VectorXd>> longest;  // length and y of the longest documents, falling
};

constexpr std::size_t long_documents = 16;

void keep_long(double length, const VectorXd& y, std::vector<std::pair<double, VectorXd>>& longest) {
  if (longest.size() == long_documents && longest.back().first >= length) return;
  const auto at = std::upper_bound(longest.begin(), longest.end(), length, [](double l, const auto& other) { return l > other.first; });
  longest.insert(at, {length, y});
  if (longest.size() > long_documents) longest.pop_back();
}

Triples triples(const DocumentSource& source, const MatrixXd& w, int threads, Monitor& monitor) {
  const Index k = w.rows();
  std::vector<Triples> sums(static_cast<std::size_t>(document_parts), Triples{MatrixXd::Zero(k, k * k), MatrixXd::Zero(k, w.cols()), {}});
  for (Design piece; source(piece);) {
    const ConstSparseMap x = piece.sparse();
    over_documents(x, threads, monitor, [&](Index part, Index from, Index to) {
      Triples& sum = sums[static_cast<std::size_t>(part)];
      MatrixXd y(chunk, k), scaled(chunk, k);
      Index filled = 0;
      const auto flush = [&] {
        sum.cubes.noalias() += scaled.topRows(filled).transpose() * row_products(y.topRows(filled), y.topRows(filled));
        filled = 0;
      };
      VectorXd one(k);
      for (Index j = from; j < to; ++j) {
        const double l = length_of(x, j);
        if (l < 3) continue;
        one.setZero();
        for (ConstSparseMap::InnerIterator it(x, j); it; ++it) one += it.value() * w.col(it.row());
        y.row(filled) = one.transpose();
        keep_long(l, one, sum.longest);
        one /= l * (l - 1) * (l - 2);
        scaled.row(filled) = one.transpose();
        for (ConstSparseMap::InnerIterator it(x, j); it; ++it) sum.z.col(it.row()) += it.value() * one;
        if (++filled == chunk) {
          monitor.check();
          flush();
        }
      }
      flush();
    });
  }
  for (std::size_t p = 1; p < sums.size(); ++p) {
    sums[0].cubes += sums[p].cubes;
    sums[0].z += sums[p].z;
    for (const auto& document : sums[p].longest) keep_long(document.first, document.second, sums[0].longest);
  }
  return std::move(sums[0]);
}

// The leading pairs of M2 = sum a c c' - diag(sum a c) - a0 / (a0 + 1) M1 M1', a = 1 / (l (l - 1)), per document.
EigenPairs topic_pairs(const DocumentSource& source, const Lengths& seen, const VectorXd& mean, const TopicMomentOptions& o, Index k, Rng& rng, Monitor& monitor) {
  const Index d = o.words;
  const double shrink = o.alpha0 / (o.alpha0 + 1);
  const bool whole = d <= 200;
  const Index m = whole ? d : std::min(d, k + std::max(1, o.oversample));
  const auto product = [&](const MatrixXd& q) {  // d x m
    MatrixXd y = pair_product(source, q.transpose(), o.threads, monitor).transpose();
    y -= seen.pair.asDiagonal() * q;
    y /= seen.docs2;
    y -= shrink * mean * (mean.transpose() * q);
    return y;
  };
  MatrixXd q = MatrixXd::Identity(d, m);
  if (!whole) {
    for (Index i = 0; i < q.size(); ++i) q.data()[i] = rng.normal();
    q = Qr(q).thin_q(m);
  }
  EigenPairs out;
  const int most = whole ? 1 : std::max(2, o.passes);
  for (int pass = 1;; ++pass) {
    const MatrixXd y = product(q);
    const MatrixXd small = q.transpose() * y;
    const EigenPairs inside = dense_pairs(0.5 * (small + small.transpose()));
    const MatrixXd lead = inside.vectors.leftCols(k);
    const double top = inside.values.cwiseAbs().maxCoeff();
    const double error = (y * lead - q * lead * inside.values.head(k).asDiagonal()).colwise().norm().maxCoeff();
    out.convergence.residual = top > 0 ? error / top : 0;
    out.convergence.iterations = pass;
    out.convergence.converged = whole || out.convergence.residual <= o.tol;
    if (pass >= most || out.convergence.converged) {
      out.values = inside.values.head(std::min(m, k + 5));
      out.vectors = q * inside.vectors.leftCols(out.values.size());
      return out;
    }
    q = Qr(y).thin_q(m);
  }
}

}  // namespace

WhitenedMoments topic_moments(const DocumentSource& source, const TopicMomentOptions& o, Index k, Rng& rng, Monitor& monitor) {
  const double alpha0 = o.alpha0;
  const Index d = o.words;
  require(alpha0 >= 0, "`alpha0` must not be negative.");
  require(k >= 1 && k <= d, message("`k` must be at most the number of words, ", d, "."));
  const Lengths seen = look(source, d, monitor);
  require(seen.docs3 > 0, "no document has three words: the third moments cannot be estimated.");
  WhitenedMoments m;
  m.rows = seen.docs;
  m.rows2 = seen.docs2;
  m.rows3 = seen.docs3;
  m.mean = seen.first / seen.docs;
  const EigenPairs pairs = topic_pairs(source, seen, m.mean, o, k, rng, monitor);
  whiten_with(pairs, k, m);
  m.settled = pairs.convergence.residual;
  // Triples of different words: with y = W'c, z_i = sum_docs b c_i y and g_i = sum_docs b c_i, b = 1 / (l (l - 1)(l - 2)),
  //   sum_docs b y^3 + 2 sum_i g_i w_i^3 - sum_i sym3(w_i w_i' (x) z_i).
  const MatrixXd& w = m.whiten;
  const Triples sums = triples(source, w.transpose(), o.threads, monitor);
  m.starts.resize(k, static_cast<Index>(sums.longest.size()));
  for (std::size_t i = 0; i < sums.longest.size(); ++i) m.starts.col(static_cast<Index>(i)) = sums.longest[i].second;
  MatrixXd t = sums.cubes;
  MatrixXd crossed = MatrixXd::Zero(k, k * k);  // sum_i z_i (x) w_i (x) w_i
  for (Index from = 0; from < d; from += chunk) {
    monitor.check();
    const Index size = std::min(chunk, d - from);
    const auto part = w.middleRows(from, size);
    const MatrixXd products = row_products(part, part);
    t.noalias() += 2 * (part.transpose() * (seen.triple.segment(from, size).asDiagonal() * products));
    crossed.noalias() += sums.z.middleCols(from, size) * products;
  }
  t -= 3 * Tensor3::symmetric(crossed).unfolded();
  t /= seen.docs3;
  if (alpha0 > 0) {
    const VectorXd mean = w.transpose() * m.mean;
    const double shrink = alpha0 / (alpha0 + 1);
    // W' E[x1 x2'] W = I + shrink W'M1 M1'W
    const MatrixXd joint = MatrixXd::Identity(k, k) + shrink * mean * mean.transpose();
    t -= alpha0 / (alpha0 + 2) * sym3(joint, mean);
    t += 2 * alpha0 * alpha0 / ((alpha0 + 2) * (alpha0 + 1)) * cube(mean);
  }
  m.tensor = Tensor3::symmetric(t);
  return m;
}

MatrixXd some_rows(ConstMatrixRef x, ConstMatrixRef whiten) {
  const Index n = x.rows(), m = std::min<Index>(n, 16);
  MatrixXd out(whiten.cols(), m);
  for (Index i = 0; i < m; ++i) out.col(i) = whiten.transpose() * x.row(n * i / m).transpose();
  return out;
}

WhitenedMoments gaussian_moments(ConstMatrixRef x, bool hetero, Index k, Monitor& monitor) {
  const Index n = x.rows(), d = x.cols();
  require(k >= 1 && k <= d, message("`k` must be at most the number of columns, ", d, "."));
  const double rows = static_cast<double>(n);
  WhitenedMoments m;
  m.rows = m.rows2 = m.rows3 = rows;
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
  m.starts = some_rows(x, w);
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
  out.singular = s;
  m.rows = m.rows2 = m.rows3 = rows;
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
  m.starts = some_rows(x3, m.whiten);
  m.tensor = Tensor3::symmetric(t);
  return out;
}

VectorXd tensor_errors(const WhitenedMoments& m, int n, const std::function<WhitenedMoments()>& sample, Rng& rng, Monitor& monitor) {
  VectorXd out(n);
  for (int b = 0; b < n; ++b) {
    monitor.check();
    try {
      const WhitenedMoments again = sample();
      const Svd turn(m.whiten.transpose() * again.unwhiten, SvdParts::thin);
      const MatrixXd rotation = turn.matrixU() * turn.matrixV().transpose();
      const Tensor3 other = again.tensor.turned(rotation);
      out[b] = operator_norm(Tensor3::symmetric(other.unfolded() - m.tensor.unfolded()), 10, rng, monitor);
    } catch (const InputError&) {
      out[b] = std::numeric_limits<double>::infinity();
    }
  }
  return out;
}

MatrixXd pseudo_inverse(ConstMatrixRef a) {
  const Svd svd(a, SvdParts::thin);
  const VectorXd& s = svd.singularValues();
  VectorXd inverse = VectorXd::Zero(s.size());
  for (Index i = 0; i < s.size(); ++i)
    if (s[i] > 1e-12 * s[0]) inverse[i] = 1 / s[i];
  return svd.matrixV() * inverse.asDiagonal() * svd.matrixU().transpose();
}

MatrixXd aligned_means(ConstMatrixRef f, ConstMatrixRef partner, ConstMatrixRef means, ConstVectorRef share) {
  const MatrixXd joint = f.transpose() * partner / static_cast<double>(f.rows());  // columns of f x d
  const MatrixXd out = joint * pseudo_inverse(means);  // (A^+)' = pinv(A') with A' = means
  return share.cwiseInverse().asDiagonal() * out.transpose();
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
