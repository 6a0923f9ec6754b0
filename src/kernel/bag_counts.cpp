// Bags that are histograms: Jensen-Shannon, entropy, multinomial and Dirichlet kernels; and the two explicit integrals.
#include <algorithm>
#include <cmath>
#include <map>

#include "core/base/errors.h"
#include "core/math/logspace.h"
#include "core/math/special.h"
#include "kernel/bag_kernel.h"

namespace granary::kernel {

namespace {

constexpr double log_two = 0.6931471805599453;

double plogp(double p) { return p > 0 ? p * std::log(p) : 0; }

struct Cells {  // that are not zero, ascending
  std::vector<Index> cell;
  std::vector<double> count;
  double total = 0;
  double entropy = 0;  // of the shares
};

struct Histograms {
  std::vector<Cells> rows;
  Index cells = 0;
};

Histograms read_histograms(const std::vector<Bag>& bags, const BagOptions& o) {
  Histograms out;
  std::map<std::string, Index> place;
  for (const std::string& name : o.levels) place.emplace(name, static_cast<Index>(place.size()));
  bool named = !o.levels.empty();
  Index positions = -1;
  for (std::size_t b = 0; b < bags.size(); ++b) {
    const Bag& bag = bags[b];
    const bool by_name = !bag.names.empty();
    if (by_name && static_cast<Index>(bag.names.size()) != bag.weights.size())
      throw InputError(message("bag ", b + 1, " needs one name per count."));
    if (b == 0) named = by_name;
    if (by_name != named)
      throw InputError(
          message("either all bags have names of their cells or none, but bag ", b + 1, by_name ? " has." : " has none."));
    if (!by_name && positions >= 0 && bag.weights.size() != positions)
      throw InputError(
          message("bag ", b + 1, " has ", bag.weights.size(), " cells and bag 1 has ", positions, ". Give the cells names."));
    if (!by_name) positions = bag.weights.size();
    std::vector<std::pair<Index, double>> cells;
    for (Index i = 0; i < bag.weights.size(); ++i) {
      const double n = bag.weights[i];
      if (!(n >= 0) || !std::isfinite(n))
        throw InputError(message("bag ", b + 1, " has the count ", n, "; counts must be 0 or more."));
      Index at = i;
      if (by_name) {
        const std::string& name = bag.names[static_cast<std::size_t>(i)];
        const auto found = place.find(name);
        if (found == place.end() && !o.levels.empty())
          throw InputError(message("bag ", b + 1, " has a member \"", name, "\" that is none of the levels."));
        at = found == place.end() ? place.emplace(name, static_cast<Index>(place.size())).first->second : found->second;
      }
      if (n > 0) cells.emplace_back(at, n);
    }
    std::sort(cells.begin(), cells.end());
    Cells row;
    for (const auto& [at, n] : cells) {
      if (!row.cell.empty() && row.cell.back() == at) {
        row.count.back() += n;
      } else {
        row.cell.push_back(at);
        row.count.push_back(n);
      }
      row.total += n;
    }
    for (const double n : row.count) row.entropy -= plogp(n / row.total);
    out.rows.push_back(std::move(row));
  }
  out.cells = named ? static_cast<Index>(place.size()) : std::max<Index>(positions, 0);
  return out;
}

// use(x, y) for the counts of both in every cell that one of them has.
template <class Use>
void merge(const Cells& a, const Cells& b, Use use) {
  std::size_t i = 0, j = 0;
  while (i < a.cell.size() || j < b.cell.size()) {
    const bool left = j == b.cell.size() || (i < a.cell.size() && a.cell[i] <= b.cell[j]);
    const bool right = i == a.cell.size() || (j < b.cell.size() && b.cell[j] <= a.cell[i]);
    use(left ? a.count[i] : 0, right ? b.count[j] : 0, left ? a.cell[i] : b.cell[j]);
    i += left;
    j += right;
  }
}

class CountModel : public BagModel {
 public:
  CountModel(const std::vector<Bag>& bags, const BagOptions& o) : o_(o), data_(read_histograms(bags, o)) {
    const bool needs_mass = o.type != BagType::dirichlet && o.type != BagType::entropy;
    for (std::size_t b = 0; b < data_.rows.size(); ++b)
      if (needs_mass && !(data_.rows[b].total > 0))
        throw InputError(message("the counts of bag ", b + 1, " are all zero: it has no members, and no entropy."));
    if (o.type != BagType::dirichlet) return;
    if (o.prior.cols() != 1 && o.prior.cols() != data_.cells)
      throw InputError(
          message("the prior must have one number, or one for each of the ", data_.cells, " cells, not ", o.prior.cols(), "."));
    if (o.prior_weights.size() != o.prior.rows()) throw InputError("there must be one weight for each prior.");
    if (!(o.prior.minCoeff() > 0) || !(o.prior_weights.minCoeff() > 0))
      throw InputError("priors and their weights must be above 0.");
  }

  double log_value(Index a, Index b, Monitor&) const override {
    const Cells& x = data_.rows[static_cast<std::size_t>(a)];
    const Cells& y = data_.rows[static_cast<std::size_t>(b)];
    if (o_.type == BagType::dirichlet) return dirichlet(x, y);
    if (o_.type == BagType::entropy) {
      double minus_h = 0;
      merge(x, y, [&](double n, double m, Index) { minus_h += plogp(n + m); });
      return minus_h;
    }
    if (o_.type == BagType::laplace && o_.masses) {
      const double total = x.total + y.total;
      double h = 0, s = static_cast<double>(data_.cells) - 1;
      merge(x, y, [&](double n, double m, Index) { h -= plogp((n + m) / total); });
      return -total * h + x.total * x.entropy + y.total * y.entropy +
             0.5 * s * std::log(2 * std::sqrt(x.total * y.total) / total);
    }
    const double j = a == b ? 0 : divergence(x, y);
    return -(o_.type == BagType::laplace ? 2 : 1) * o_.beta * j;
  }
  double operations() const override {
    double cells = 0;
    for (const Cells& row : data_.rows) cells += static_cast<double>(row.cell.size());
    return 10 + 30 * cells / std::max<double>(1, static_cast<double>(data_.rows.size()));
  }

 private:
  // J, from the cells both have: what one alone has adds (log 2) / 2 times its share.
  static double divergence(const Cells& x, const Cells& y) {
    double alone = 2, j = 0;
    merge(x, y, [&](double n, double m, Index) {
      if (n == 0 || m == 0) return;
      const double p = n / x.total, q = m / y.total;
      alone -= p + q;
      j += p * std::log(2 * p / (p + q)) + q * std::log(2 * q / (p + q));
    });
    return std::max(0.0, 0.5 * (j + std::max(0.0, alone) * log_two));
  }
  double dirichlet(const Cells& x, const Cells& y) const {
    LogSumExp sum;
    for (Index r = 0; r < o_.prior.rows(); ++r) {
      const bool flat = o_.prior.cols() == 1;
      const double all = flat ? o_.prior(r, 0) * static_cast<double>(data_.cells) : o_.prior.row(r).sum();
      double phi = log_gamma(all) - log_gamma(all + x.total + y.total);
      merge(x, y, [&](double n, double m, Index cell) {
        const double b = o_.prior(r, flat ? 0 : cell);
        phi += log_gamma(n + m + b) - log_gamma(b);
      });
      sum.add(phi + std::log(o_.prior_weights[r]));
    }
    return sum.value();
  }

  BagOptions o_;
  Histograms data_;
};

// sum_r w_r exp(mu[f_r] + mu'[f_r]), from the integrals mu[f_r].
class IntegralModel : public BagModel {
 public:
  IntegralModel(const std::vector<Bag>& bags, const BagOptions& o) : log_weights_(o.function_weights.array().log().matrix()) {
    if (!(o.function_weights.minCoeff() > 0)) throw InputError("the weights of functions must be above 0.");
    for (std::size_t b = 0; b < bags.size(); ++b) {
      if (bags[b].weights.size() != log_weights_.size())
        throw InputError(message("bag ", b + 1, " needs one integral for each of ", log_weights_.size(), " functions."));
      integrals_.push_back(bags[b].weights);
    }
  }
  double log_value(Index a, Index b, Monitor&) const override {
    return log_sum_exp(
        VectorXd(log_weights_ + integrals_[static_cast<std::size_t>(a)] + integrals_[static_cast<std::size_t>(b)]));
  }
  double operations() const override { return 10 + 20 * static_cast<double>(log_weights_.size()); }

 private:
  VectorXd log_weights_;
  std::vector<VectorXd> integrals_;
};

class IntervalModel : public BagModel {
 public:
  explicit IntervalModel(const std::vector<Bag>& bags) {
    for (std::size_t b = 0; b < bags.size(); ++b) {
      shares(bags[b], b);  // for its checks
      if (bags[b].x.cols() != 1)
        throw InputError(
            message("bag ", b + 1, " must be numbers from 0 to 1, but its points have ", bags[b].x.cols(), " coordinates."));
      std::vector<std::pair<double, double>> atoms;
      for (Index i = 0; i < bags[b].x.rows(); ++i) {
        if (!(bags[b].x(i, 0) >= 0 && bags[b].x(i, 0) <= 1))
          throw InputError(message("bag ", b + 1, " has the point ", bags[b].x(i, 0), ", which is not between 0 and 1."));
        atoms.emplace_back(bags[b].x(i, 0), bags[b].weights[i]);
      }
      std::sort(atoms.begin(), atoms.end());
      atoms_.push_back(std::move(atoms));
    }
  }
  double log_value(Index a, Index b, Monitor&) const override {
    std::vector<std::pair<double, double>> all;
    const auto& x = atoms_[static_cast<std::size_t>(a)];
    const auto& y = atoms_[static_cast<std::size_t>(b)];
    std::merge(x.begin(), x.end(), y.begin(), y.end(), std::back_inserter(all));
    LogSumExp sum;
    double from = 0, mass = 0;
    const auto add = [&](double to) {
      if (to > from) sum.add(std::log(to - from) + mass);
      from = to;
    };
    for (const auto& [at, weight] : all) {
      add(at);
      mass += weight;
    }
    add(1);
    return sum.value();
  }
  double operations() const override { return 1e3; }

 private:
  std::vector<std::vector<std::pair<double, double>>> atoms_;
};

}  // namespace

std::unique_ptr<BagModel> bag_counts(const std::vector<Bag>& bags, const BagOptions& o) {
  if (o.type == BagType::integral) return std::make_unique<IntegralModel>(bags, o);
  if (o.type == BagType::interval) return std::make_unique<IntervalModel>(bags);
  return std::make_unique<CountModel>(bags, o);
}

}  // namespace granary::kernel
