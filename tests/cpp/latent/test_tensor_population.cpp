// Population moments in, parameters out. Data sets here are small designs whose empirical moments are those of the model exactly: every outcome as often as its
// probability says (all of these are multiples of one number), and in place of Gaussian noise points that have its moments as far as the method looks.
#include <algorithm>
#include <cmath>

#include "core/linalg/dense.h"
#include "harness.h"
#include "latent/spectral_mixture.h"

using namespace granary;
using namespace granary::latent;

namespace {

MatrixXd rows_of(const std::vector<VectorXd>& rows) {
  MatrixXd x(static_cast<Index>(rows.size()), rows[0].size());
  for (std::size_t i = 0; i < rows.size(); ++i) x.row(static_cast<Index>(i)) = rows[i].transpose();
  return x;
}

VectorXd numbers(std::initializer_list<double> values) {
  VectorXd out(static_cast<Index>(values.size()));
  Index i = 0;
  for (const double v : values) out[i++] = v;
  return out;
}

MatrixXd table(std::initializer_list<std::initializer_list<double>> rows) {
  std::vector<VectorXd> out;
  for (const auto& row : rows) out.push_back(numbers(row));
  return rows_of(out);
}

// sd o (+-sqrt(d) e_j): mean 0, covariance diag(sd^2), third moments 0, as those of Gaussian noise.
std::vector<VectorXd> cross(const VectorXd& sd) {
  std::vector<VectorXd> out;
  const Index d = sd.size();
  for (Index j = 0; j < d; ++j)
    for (const double sign : {-1.0, 1.0}) out.push_back(sign * std::sqrt(static_cast<double>(d)) * sd[j] * VectorXd::Unit(d, j));
  return out;
}

// Component h `times[h]` times, each with its noise.
MatrixXd gaussian_design(const MatrixXd& means, const std::vector<int>& times, const MatrixXd& sd) {
  std::vector<VectorXd> out;
  for (Index h = 0; h < means.rows(); ++h)
    for (int r = 0; r < times[static_cast<std::size_t>(h)]; ++r)
      for (const VectorXd& z : cross(sd.row(h).transpose())) out.push_back(means.row(h).transpose() + z);
  return rows_of(out);
}

EmData rows_data(const MatrixXd& x) {
  EmData data;
  data.x = Design(MatrixView(x.data(), x.rows(), x.cols()));
  return data;
}

const std::vector<TensorMethod> all_methods = {TensorMethod::power, TensorMethod::power_stop, TensorMethod::joint, TensorMethod::jennrich, TensorMethod::ball};

SpectralOptions options_of(SpectralModel model, int k, TensorMethod method = TensorMethod::power) {
  SpectralOptions o;
  o.model = model;
  o.k = k;
  o.tensor.method = method;
  return o;
}

SpectralFit fit_rows(const EmData& data, const SpectralOptions& o, const VectorXi& views = VectorXi()) {
  Monitor monitor;
  Rng rng(1);
  return spectral_rows(data, views, o, rng, monitor);
}

SpectralFit fit_documents(const MatrixXd& counts, const SpectralOptions& o) {  // documents x words
  const SparseMatrix c = counts.transpose().sparseView();
  const ConstSparseMap view(c.rows(), c.cols(), c.nonZeros(), c.outerIndexPtr(), c.innerIndexPtr(), c.valuePtr());
  Monitor monitor;
  Rng rng(1);
  return spectral_topics(one_piece(Design(view)), c.rows(), o, rng, monitor);
}

// Component of the fit for each true one, by the nearest mean.
std::vector<Index> matched(const MatrixXd& truth, const MatrixXd& found) {
  std::vector<Index> out;
  for (Index i = 0; i < truth.rows(); ++i) {
    Index at = 0;
    (found.rowwise() - truth.row(i)).rowwise().norm().minCoeff(&at);
    out.push_back(at);
  }
  return out;
}

double error_of(const MatrixXd& truth, const MatrixXd& found, const std::vector<Index>& at) {
  double worst = 0;
  for (Index i = 0; i < truth.rows(); ++i) worst = std::max(worst, (found.row(at[static_cast<std::size_t>(i)]) - truth.row(i)).cwiseAbs().maxCoeff());
  return worst;
}

double vector_error(const VectorXd& truth, const VectorXd& found, const std::vector<Index>& at) { return error_of(MatrixXd(truth), MatrixXd(found), at); }

// Documents of three words, each ordered triple `size` times its probability, which must be whole.
MatrixXd triples_design(const MatrixXd& topics, const std::function<double(Index, Index, Index)>& mixed, double size) {
  const Index k = topics.rows(), d = topics.cols();
  std::vector<VectorXd> out;
  for (Index a = 0; a < d; ++a)
    for (Index b = 0; b < d; ++b)
      for (Index c = 0; c < d; ++c) {
        double p = 0;
        for (Index i = 0; i < k; ++i)
          for (Index j = 0; j < k; ++j)
            for (Index l = 0; l < k; ++l) p += mixed(i, j, l) * topics(i, a) * topics(j, b) * topics(l, c);
        const double times = std::round(p * size);
        CHECK_NEAR(times, p * size, 1e-9);
        VectorXd document = VectorXd::Zero(d);
        document[a] += 1;
        document[b] += 1;
        document[c] += 1;
        for (double r = 0; r < times; ++r) out.push_back(document);
      }
  return rows_of(out);
}

const MatrixXd& three_topics() {
  static const MatrixXd topics = table({{0.5, 0.25, 0.25, 0}, {0, 0.25, 0.25, 0.5}, {0.25, 0.75, 0, 0}});
  return topics;
}

}  // namespace

TEST("population moments of single-topic documents give topics and shares") {
  const VectorXd share = numbers({0.25, 0.25, 0.5});
  const MatrixXd x = triples_design(three_topics(), [&](Index i, Index j, Index l) { return i == j && j == l ? share[i] : 0; }, 256);
  for (const TensorMethod method : all_methods) {
    const SpectralFit fit = fit_documents(x, options_of(SpectralModel::topic, 3, method));
    const auto at = matched(three_topics(), fit.means);
    CHECK(error_of(three_topics(), fit.raw_means, at) < 1e-8);
    CHECK(vector_error(share, fit.raw_weight, at) < 1e-8);
    CHECK(fit.tensor.residual < 1e-8);
  }
}

TEST("population moments of LDA give topics and alpha") {
  const VectorXd alpha = numbers({1, 1, 2});
  const double a0 = alpha.sum();
  const auto mixed = [&](Index i, Index j, Index l) {
    return alpha[i] * (alpha[j] + (j == i)) * (alpha[l] + (l == i) + (l == j)) / (a0 * (a0 + 1) * (a0 + 2));
  };
  const MatrixXd x = triples_design(three_topics(), mixed, 64 * 120);
  for (const TensorMethod method : all_methods) {
    SpectralOptions o = options_of(SpectralModel::lda, 3, method);
    o.alpha0 = a0;
    const SpectralFit fit = fit_documents(x, o);
    const auto at = matched(three_topics(), fit.means);
    CHECK(error_of(three_topics(), fit.raw_means, at) < 1e-8);
    CHECK(vector_error(alpha, fit.weight, at) < 1e-8);
    CHECK(fit.tensor.residual < 1e-8);
  }
}

TEST("population moments of spherical Gaussians give means, weights and variances, at every scale") {
  const MatrixXd means = table({{2, 0, 1, -1, 0}, {0, 1.5, -1, 0, 1}, {1, 1, 2, 1, -2}});
  for (const bool hetero : {false, true})
    for (const double scale : {1e-8, 1.0, 1e8})
      for (const TensorMethod method : all_methods) {
        const VectorXd sd = hetero ? numbers({0.5, 1, 1.5}) : numbers({0.8, 0.8, 0.8});
        const MatrixXd x = scale * gaussian_design(means, {1, 1, 2}, sd.replicate(1, 5));
        const SpectralFit fit = fit_rows(rows_data(x), options_of(hetero ? SpectralModel::gmm_hetero : SpectralModel::gmm, 3, method));
        const auto at = matched(means, fit.means / scale);
        CHECK(error_of(means, fit.means / scale, at) < 1e-8);
        CHECK(vector_error(numbers({0.25, 0.25, 0.5}), fit.raw_weight, at) < 1e-8);
        CHECK(vector_error(sd.cwiseAbs2(), fit.noise_var / (scale * scale), at) < 1e-8);
      }
}

TEST("population moments of product mixtures and of given views give means, weights and variances, at every scale") {
  const MatrixXd means = table({{2, 0.5, 1, -1, 0, 1}, {0.5, 1.5, -1, 1, 1, -2}});
  const MatrixXd sd = table({{0.5, 1, 0.8, 0.6, 1, 0.7}, {1, 0.5, 0.5, 1.2, 0.8, 0.6}});
  VectorXi views(6);
  views << 1, 2, 3, 1, 2, 3;
  for (const bool given : {false, true})
    for (const double scale : {1e-8, 1.0, 1e8})
      for (const TensorMethod method : all_methods) {
        const MatrixXd x = scale * gaussian_design(means, {1, 3}, sd);
        const SpectralFit fit =
            fit_rows(rows_data(x), options_of(given ? SpectralModel::multiview : SpectralModel::product, 2, method), given ? views : VectorXi());
        const auto at = matched(means, fit.means / scale);
        CHECK(error_of(means, fit.means / scale, at) < 1e-8);
        CHECK(vector_error(numbers({0.25, 0.75}), fit.raw_weight, at) < 1e-8);
        for (Index h = 0; h < 2; ++h) {
          const MatrixXd& covariance = fit.parameters.gaussian.covariance[static_cast<std::size_t>(at[static_cast<std::size_t>(h)])];
          CHECK((covariance.diagonal() / (scale * scale) - sd.row(h).transpose().cwiseAbs2()).cwiseAbs().maxCoeff() < 1e-7);
        }
      }
}

TEST("spherical Gaussians whose rows are rotated before the split come back in their own coordinates") {
  const MatrixXd means = table({{2, 0.5, 1, -1, 0, 1}, {0.5, 1.5, -1, 1, 1, -2}});
  const VectorXd sd = numbers({0.5, 0.9});
  const MatrixXd x = gaussian_design(means, {1, 3}, sd.replicate(1, 6));
  SpectralOptions o = options_of(SpectralModel::product, 2);
  o.rotate = true;
  const SpectralFit fit = fit_rows(rows_data(x), o);
  const auto at = matched(means, fit.means);
  CHECK(error_of(means, fit.means, at) < 1e-8);
  CHECK(vector_error(numbers({0.25, 0.75}), fit.raw_weight, at) < 1e-8);
  for (Index h = 0; h < 2; ++h) {
    const MatrixXd& covariance = fit.parameters.gaussian.covariance[static_cast<std::size_t>(at[static_cast<std::size_t>(h)])];
    CHECK((covariance - sd[h] * sd[h] * MatrixXd::Identity(6, 6)).cwiseAbs().maxCoeff() < 1e-7);
  }
}

TEST("population moments of latent classes give the probabilities of all items") {
  const MatrixXd items = table({{0.75, 0.25, 0.5, 0.25, 0.25, 0.25, 0.75}, {0.25, 0.75, 0, 0.25, 0.75, 0.75, 0.25}});
  const std::vector<int> levels = {2, 3, 2};
  const std::vector<double> share = {0.25, 0.75};
  std::vector<VectorXd> rows;
  for (int a = 0; a < 2; ++a)
    for (int b = 0; b < 3; ++b)
      for (int c = 0; c < 2; ++c) {
        double times = 0;
        for (Index h = 0; h < 2; ++h) times += 256 * share[static_cast<std::size_t>(h)] * items(h, a) * items(h, 2 + b) * items(h, 5 + c);
        for (int r = 0; r < static_cast<int>(std::lround(times)); ++r) rows.push_back(numbers({a + 1.0, b + 1.0, c + 1.0}));
      }
  CHECK(rows.size() == 256);
  const MatrixXd x = rows_of(rows);
  EmData data = rows_data(x);
  data.levels = levels;
  for (const TensorMethod method : all_methods) {
    const SpectralFit fit = fit_rows(data, options_of(SpectralModel::latent_class, 2, method));
    const auto at = matched(items, fit.means);
    CHECK(error_of(items, fit.raw_means, at) < 1e-8);
    CHECK(vector_error(numbers({0.25, 0.75}), fit.raw_weight, at) < 1e-8);
  }
}

TEST("population moments of hidden Markov models give emissions, transitions and the law of the first state") {
  const VectorXd start = numbers({0.25, 0.75});
  const MatrixXd transition = table({{0.75, 0.25}, {0.25, 0.75}});
  const VectorXd middle = transition.transpose() * start;
  for (const bool words : {true, false})
    for (const TensorMethod method : all_methods) {
      const MatrixXd emission = words ? table({{0.5, 0.25, 0.25}, {0, 0.25, 0.75}}) : table({{2, 0, 1}, {-1, 1, 0.5}});
      const MatrixXd sd = table({{0.5, 1, 0.8}, {1, 0.6, 0.5}});
      std::vector<VectorXd> rows;
      const auto add = [&](const MatrixXd& three) {
        for (Index t = 0; t < 3; ++t) rows.push_back(three.row(t).transpose());
      };
      for (Index a = 0; a < 2; ++a)
        for (Index b = 0; b < 2; ++b)
          for (Index c = 0; c < 2; ++c) {
            const double p = start[a] * transition(a, b) * transition(b, c);
            if (words) continue;
            VectorXd spread(9);
            spread << sd.row(a).transpose(), sd.row(b).transpose(), sd.row(c).transpose();
            for (int r = 0; r < static_cast<int>(std::lround(64 * p)); ++r)
              for (const VectorXd& z : cross(spread)) {
                MatrixXd three(3, 3);
                three.row(0) = emission.row(a) + z.head(3).transpose();
                three.row(1) = emission.row(b) + z.segment(3, 3).transpose();
                three.row(2) = emission.row(c) + z.tail(3).transpose();
                add(three);
              }
          }
      if (words) {
        for (Index u = 0; u < 3; ++u)
          for (Index v = 0; v < 3; ++v)
            for (Index w = 0; w < 3; ++w) {
              double p = 0;
              for (Index a = 0; a < 2; ++a)
                for (Index b = 0; b < 2; ++b)
                  for (Index c = 0; c < 2; ++c)
                    p += start[a] * transition(a, b) * transition(b, c) * emission(a, u) * emission(b, v) * emission(c, w);
              for (int r = 0; r < static_cast<int>(std::lround(4096 * p)); ++r) add(table({{u + 1.0}, {v + 1.0}, {w + 1.0}}));
            }
        CHECK(rows.size() == 3 * 4096);
      }
      const MatrixXd x = rows_of(rows);
      EmData data = rows_data(x);
      if (words) data.levels = {3};
      for (Index i = 0; i <= x.rows(); i += 3) data.begin.push_back(i);
      const SpectralFit fit = fit_rows(data, options_of(SpectralModel::hmm, 2, method));
      const auto at = matched(emission, fit.means);
      CHECK(error_of(emission, fit.raw_means, at) < 1e-8);
      CHECK(vector_error(middle, fit.raw_weight, at) < 1e-8);
      CHECK(vector_error(start, fit.parameters.share, at) < 1e-8);
      for (Index i = 0; i < 2; ++i)
        for (Index j = 0; j < 2; ++j)
          CHECK_NEAR(fit.parameters.transition(at[static_cast<std::size_t>(i)], at[static_cast<std::size_t>(j)]), transition(i, j), 1e-8);
      if (!words)
        for (Index h = 0; h < 2; ++h) {
          const MatrixXd& covariance = fit.parameters.gaussian.covariance[static_cast<std::size_t>(at[static_cast<std::size_t>(h)])];
          CHECK((covariance.diagonal() - sd.row(h).transpose().cwiseAbs2()).cwiseAbs().maxCoeff() < 1e-7);
        }
    }
}

TEST("population moments of independent components give the mixing matrix and kurtoses, without noise and with it") {
  const MatrixXd mixing = table({{1, 0.3}, {-0.5, 1}, {0.8, 0.2}});
  // Sources 0 and +-1 / sqrt(2 p), each with probability p: kurtosis 1 / (2 p) - 3.
  const std::vector<int> outer = {2, 1};  // of four: p = 1/2 (kurtosis -2), and p = 1/4 (kurtosis -1)
  for (const bool noise : {false, true})
    for (const double scale : {1e-8, 1.0, 1e8})
      for (const TensorMethod method : {TensorMethod::power, TensorMethod::joint}) {
        std::vector<VectorXd> sources;
        for (int a = 0; a < 4; ++a)
          for (int b = 0; b < 4; ++b) {
            const double h = a < outer[0] ? 1 : -1;
            const double g = b < outer[1] ? std::sqrt(2.0) : b < 2 * outer[1] ? -std::sqrt(2.0) : 0;
            sources.push_back(numbers({h, g}));
          }
        std::vector<VectorXd> rows;
        // Noise on a grid of Gauss and Hermite's three nodes: 0 four times, +-sqrt(3) once.
        const std::vector<double> nodes = {0, 0, 0, 0, std::sqrt(3.0), -std::sqrt(3.0)};
        for (const VectorXd& s : sources) {
          if (!noise) {
            rows.push_back(mixing * s);
            continue;
          }
          for (const double u : nodes)
            for (const double v : nodes)
              for (const double w : nodes) rows.push_back(mixing * s + numbers({0.3 * u, 0.5 * v + 0.2 * u, 0.4 * w}));
        }
        const MatrixXd x = scale * rows_of(rows);
        SpectralOptions o = options_of(SpectralModel::ica, 2, method);
        o.noise = noise;
        const SpectralFit fit = fit_rows(rows_data(x), o);
        MatrixXd truth = mixing.transpose();
        VectorXd kurtosis = numbers({-2, -1});
        for (Index j = 0; j < 2; ++j)
          if (noise) {
            kurtosis[j] *= std::pow(truth.row(j).norm() * scale, 4);
            truth.row(j) /= truth.row(j).norm();
          }
        const MatrixXd found = noise ? MatrixXd(fit.mixing.transpose()) : MatrixXd(fit.mixing.transpose() / scale);
        const auto at = matched(truth, found);
        CHECK(error_of(truth, found, at) < 1e-8);
        for (Index j = 0; j < 2; ++j) CHECK_NEAR(fit.kurtosis[at[static_cast<std::size_t>(j)]] / kurtosis[j], 1, 1e-7);
      }
}

TEST("rows and documents given twice change nothing") {
  const MatrixXd means = table({{2, 0.5, 1, -1, 0, 1}, {0.5, 1.5, -1, 1, 1, -2}});
  Rng rng(3);
  MatrixXd x(60, 6);
  for (Index i = 0; i < x.rows(); ++i)
    for (Index j = 0; j < 6; ++j) x(i, j) = means(i % 2, j) + rng.normal();
  MatrixXd twice(120, 6);
  twice << x, x;
  for (const SpectralModel model : {SpectralModel::gmm, SpectralModel::gmm_hetero, SpectralModel::product}) {
    const SpectralFit one = fit_rows(rows_data(x), options_of(model, 2)), two = fit_rows(rows_data(twice), options_of(model, 2));
    CHECK((one.raw_means - two.raw_means).cwiseAbs().maxCoeff() < 1e-8);
    CHECK((one.raw_weight - two.raw_weight).cwiseAbs().maxCoeff() < 1e-8);
    CHECK_NEAR(2 * one.loglik, two.loglik, 1e-6);
  }
  const MatrixXd documents = triples_design(three_topics(), [&](Index i, Index j, Index l) { return i == j && j == l ? 1.0 / 4 + (i == 2) / 4.0 : 0; }, 256);
  MatrixXd again(512, 4);
  again << documents, documents;
  const SpectralFit one = fit_documents(documents, options_of(SpectralModel::topic, 3)), two = fit_documents(again, options_of(SpectralModel::topic, 3));
  // The shares of the topics are equal, so rounding decides which comes first.
  CHECK(error_of(one.raw_means, two.raw_means, matched(one.raw_means, two.raw_means)) < 1e-8);
}

TEST("the error of a tensor by bootstrap falls with the rows, covers the true error, and asking for it changes nothing else") {
  const MatrixXd means = table({{2, 0.5, 1, -1, 0, 1}, {0.5, 1.5, -1, 1, 1, -2}});
  std::vector<double> medians;
  for (const Index n : {500, 8000}) {
    Rng rng(4);
    MatrixXd x(n, 6);
    for (Index i = 0; i < n; ++i)
      for (Index j = 0; j < 6; ++j) x(i, j) = means(i % 4 == 0, j) + rng.normal();
    for (const SpectralModel model : {SpectralModel::gmm, SpectralModel::product}) {
      SpectralOptions o = options_of(model, 2);
      const SpectralFit without = fit_rows(rows_data(x), o);
      o.n_rep = 15;
      const SpectralFit fit = fit_rows(rows_data(x), o);
      CHECK(fit.raw_means == without.raw_means);
      CHECK(without.tensor_error.size() == 0);
      CHECK(fit.tensor_error.size() == 15);
      VectorXd e = fit.tensor_error;
      std::sort(e.data(), e.data() + e.size());
      CHECK(e[0] > 0);
      medians.push_back(e[7]);
      if (model == SpectralModel::gmm) {  // the population's tensor in this whitening: lambda_i = w_i^(-1/2), v_i = (w_i)^(1/2) W'mu_i made orthonormal
        MatrixXd v(2, 2);
        v.col(0) = std::sqrt(0.75) * fit.whiten.transpose() * means.row(0).transpose();
        v.col(1) = std::sqrt(0.25) * fit.whiten.transpose() * means.row(1).transpose();
        const Svd svd(v, SvdParts::thin);
        v = svd.matrixU() * svd.matrixV().transpose();
        Tensor3 error = Tensor3::symmetric(fit.moments);
        error.add(-1 / std::sqrt(0.75), v.col(0));
        error.add(-2, v.col(1));
        Monitor monitor;
        const double truth = operator_norm(error, 20, rng, monitor);
        CHECK(truth < 2 * e[14]);
        CHECK(truth > 0.1 * e[0]);
      }
    }
  }
  for (std::size_t model = 0; model < 2; ++model) {
    const double ratio = medians[model] / medians[model + 2];  // 4 where errors fall like one over the root of the rows
    CHECK(ratio > 2 && ratio < 8);
  }
}

TEST("the operator norm of a tensor is found by steps, of either sign") {
  Rng rng(5);
  Monitor monitor;
  Tensor3 t(3);
  t.add(-3, VectorXd::Unit(3, 0));
  t.add(2, VectorXd::Unit(3, 2));
  CHECK_NEAR(operator_norm(t, 20, rng, monitor), 3, 1e-8);
  CHECK(operator_norm(Tensor3(2), 5, rng, monitor) == 0);
}
