// Bags smoothed by Gaussians of width s: exp(-beta J) of the mixtures.
//
// In one and two dimensions J is a sum over a lattice of step s / 4 that is the same for all bags whatever they are, so that
// new bags change no value. In more dimensions J = (E ln f / m + E' ln f' / m) / 2, m = (f + f') / 2, over points drawn from
// either mixture: as many from each component as its share says (the remainder by lot), the same points for a bag in all its
// pairs. Their stream is chosen by the bag's own numbers, so that the answer does not depend on its place.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>

#include "core/base/errors.h"
#include "core/math/logspace.h"
#include "core/random/rng.h"
#include "kernel/bag_kernel.h"

namespace granary::kernel {

namespace {

constexpr double log_two = 0.6931471805599453, log_2pi = 1.8378770664093453;
constexpr double reach = 7;  // widths after which a Gaussian is zero on the lattice

class LatticeModel : public BagModel {
 public:
  LatticeModel(const std::vector<Bag>& bags, const BagOptions& o) : beta_(o.beta) {
    for (std::size_t b = 0; b < bags.size(); ++b) {
      const VectorXd w = shares(bags[b], b);
      const Index d = bags[b].x.cols();
      const double step = o.bandwidth / (d == 1 ? 8 : 4);
      const auto span = static_cast<std::int64_t>(std::ceil(reach * o.bandwidth / step));
      std::map<std::pair<std::int64_t, std::int64_t>, double> cells;
      for (Index i = 0; i < w.size(); ++i) {
        if (!(w[i] > 0)) continue;
        const auto centre = [&](Index c) {
          const double at = bags[b].x(i, c) / step;
          if (!(std::abs(at) < 1e15))
            throw InputError(
                message("bag ", b + 1, " has a coordinate that is 1e15 times the bandwidth and more. Raise `bandwidth`."));
          return static_cast<std::int64_t>(std::llround(at));
        };
        const std::int64_t c0 = centre(0), c1 = d == 2 ? centre(1) : 0, span1 = d == 2 ? span : 0;
        for (std::int64_t u = c0 - span; u <= c0 + span; ++u)
          for (std::int64_t v = c1 - span1; v <= c1 + span1; ++v) {
            const double a = (static_cast<double>(u) * step - bags[b].x(i, 0)) / o.bandwidth;
            const double e = d == 2 ? (static_cast<double>(v) * step - bags[b].x(i, 1)) / o.bandwidth : 0;
            cells[{u, v}] += w[i] * std::exp(-0.5 * (a * a + e * e));
          }
      }
      Cells row;
      double total = 0;
      for (const auto& [at, value] : cells) total += value;
      for (const auto& [at, value] : cells) {
        row.at.push_back(at);
        row.share.push_back(value / total);
      }
      rows_.push_back(std::move(row));
    }
  }
  double log_value(Index a, Index b, Monitor&) const override {
    if (a == b) return 0;
    const Cells &x = rows_[static_cast<std::size_t>(a)], &y = rows_[static_cast<std::size_t>(b)];
    double alone = 2, j = 0;
    for (std::size_t i = 0, k = 0; i < x.at.size() && k < y.at.size();) {
      if (x.at[i] == y.at[k]) {
        const double p = x.share[i++], q = y.share[k++];
        alone -= p + q;
        j += p * std::log(2 * p / (p + q)) + q * std::log(2 * q / (p + q));
      } else if (x.at[i] < y.at[k]) {
        ++i;
      } else {
        ++k;
      }
    }
    return -beta_ * std::max(0.0, 0.5 * (j + std::max(0.0, alone) * log_two));
  }
  double operations() const override {
    double cells = 0;
    for (const Cells& row : rows_) cells += static_cast<double>(row.at.size());
    return 100 + 20 * cells / std::max<double>(1, static_cast<double>(rows_.size()));
  }

 private:
  struct Cells {
    std::vector<std::pair<std::int64_t, std::int64_t>> at;  // ascending
    std::vector<double> share;
  };
  double beta_;
  std::vector<Cells> rows_;
};

std::uint64_t fingerprint(const Bag& bag) {
  std::uint64_t h = 1469598103934665603u;
  const auto add = [&](double value) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    h = (h ^ bits) * 1099511628211u;
    h ^= h >> 29;
  };
  for (Index i = 0; i < bag.x.size(); ++i) add(bag.x.data()[i]);
  for (Index i = 0; i < bag.weights.size(); ++i) add(bag.weights[i]);
  return h;
}

class DrawModel : public BagModel {
 public:
  DrawModel(const std::vector<Bag>& bags, const BagOptions& o) : beta_(o.beta), s_(o.bandwidth) {
    if (o.n_draws < 10) throw InputError("there must be 10 draws or more.");
    const std::uint64_t seed = o.seed.size() < 2 ? 1
                                                 : static_cast<std::uint64_t>(static_cast<std::uint32_t>(o.seed[0])) << 32 |
                                                       static_cast<std::uint32_t>(o.seed[1]);
    for (std::size_t b = 0; b < bags.size(); ++b) {
      Smooth m;
      m.x = bags[b].x.transpose();
      const VectorXd w = shares(bags[b], b);
      m.log_share = w.array().log().matrix();
      Rng rng = Rng::at(seed, fingerprint(bags[b]));
      m.draws.resize(m.x.rows(), o.n_draws);
      // Systematic draws of the component: each has its share of the draws, rounded up or down by one lot.
      double passed = w[0], next = rng.uniform();
      for (Index r = 0, c = 0; r < o.n_draws; ++r, next += 1) {
        while (c + 1 < w.size() && passed * o.n_draws <= next) passed += w[++c];
        m.draws.col(r) = m.x.col(c) + s_ * rng.normals(m.x.rows());
      }
      m.own.resize(o.n_draws);
      for (Index r = 0; r < o.n_draws; ++r) m.own[r] = log_density(m, m.draws.col(r));
      bags_.push_back(std::move(m));
    }
  }
  double log_value(Index a, Index b, Monitor& monitor) const override {
    if (a == b) return 0;
    const Smooth &x = bags_[static_cast<std::size_t>(a)], &y = bags_[static_cast<std::size_t>(b)];
    const double j = 0.5 * (excess(x, y, monitor) + excess(y, x, monitor));
    return -beta_ * std::min(log_two, std::max(0.0, j));
  }
  double operations() const override {
    if (bags_.empty()) return 1;
    return static_cast<double>(2 * bags_[0].own.size() * bags_[0].x.cols()) * static_cast<double>(20 + bags_[0].x.rows());
  }

 private:
  struct Smooth {
    MatrixXd x, draws;        // points in columns
    VectorXd log_share, own;  // own: log density of the draws
  };
  double log_density(const Smooth& m, ConstVectorRef z) const {
    LogSumExp sum;
    for (Index c = 0; c < m.x.cols(); ++c) sum.add(m.log_share[c] - 0.5 * (m.x.col(c) - z).squaredNorm() / (s_ * s_));
    return sum.value() - static_cast<double>(z.size()) * (0.5 * log_2pi + std::log(s_));
  }
  double excess(const Smooth& x, const Smooth& y, Monitor& monitor) const {  // E ln f / m over draws from f
    double sum = 0;
    for (Index r = 0; r < x.own.size(); ++r) {
      sum += log_two - log1pexp(log_density(y, x.draws.col(r)) - x.own[r]);
      if (r % 256 == 0) monitor.check();
    }
    return sum / static_cast<double>(x.own.size());
  }

  double beta_, s_;
  std::vector<Smooth> bags_;
};

}  // namespace

std::unique_ptr<BagModel> bag_densities(const std::vector<Bag>& bags, const BagOptions& o) {
  if (!(o.bandwidth > 0)) throw InputError("the bandwidth must be above 0.");
  if (!bags.empty() && bags[0].x.cols() > 2) return std::make_unique<DrawModel>(bags, o);
  return std::make_unique<LatticeModel>(bags, o);
}

}  // namespace granary::kernel
