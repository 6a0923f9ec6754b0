#include "core/cluster/pair_agreement.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace granary {

PairAgreement pair_agreement(const VectorXi& truth, const VectorXi& guess) {
  const Index n = truth.size();
  if (guess.size() != n) throw InputError(message("the labellings have ", n, " and ", guess.size(), " rows."));
  if (n == 0) throw InputError("there are no labels to compare.");
  if (truth.minCoeff() < 0 || guess.minCoeff() < 0) throw InputError("labels must be numbers from 1.");
  const auto at = [](Index i) { return static_cast<std::size_t>(i); };
  std::vector<double> in_truth(at(truth.maxCoeff()) + 1, 0), in_guess(at(guess.maxCoeff()) + 1, 0);
  std::vector<std::uint64_t> cells(at(n));
  for (Index i = 0; i < n; ++i) {
    in_truth[at(truth[i])] += 1;
    in_guess[at(guess[i])] += 1;
    cells[at(i)] = (static_cast<std::uint64_t>(guess[i]) << 32) | static_cast<std::uint64_t>(truth[i]);
  }
  std::sort(cells.begin(), cells.end());
  std::vector<double> most_in_truth(in_truth.size(), 0), most_in_guess(in_guess.size(), 0);
  std::vector<std::size_t> match(in_guess.size(), 0);
  const auto pairs = [](double m) { return 0.5 * m * (m - 1); };
  const auto xlogx = [](double m) { return m > 0 ? m * std::log(m) : 0; };
  PairAgreement out;
  double joint = 0;
  for (std::size_t i = 0; i < cells.size();) {
    std::size_t j = i;
    while (j < cells.size() && cells[j] == cells[i]) ++j;
    const double m = static_cast<double>(j - i);
    const std::size_t g = cells[i] & 0xffffffffu, h = cells[i] >> 32;
    out.n11 += pairs(m);
    joint += xlogx(m);
    most_in_truth[g] = std::max(most_in_truth[g], m);
    if (m > most_in_guess[h]) {
      most_in_guess[h] = m;
      match[h] = g;
    }
    i = j;
  }
  const double rows = static_cast<double>(n);
  double same_truth = 0, same_guess = 0, h_truth = 0, h_guess = 0, kept = 0, kept_back = 0, k_truth = 0, k_guess = 0, matched = 0;
  std::vector<char> hit(in_truth.size(), 0);
  for (std::size_t g = 0; g < in_truth.size(); ++g) {
    same_truth += pairs(in_truth[g]);
    h_truth += xlogx(in_truth[g]);
    kept_back += most_in_truth[g];
    k_truth += in_truth[g] > 0;
  }
  for (std::size_t h = 0; h < in_guess.size(); ++h) {
    if (in_guess[h] == 0) continue;
    same_guess += pairs(in_guess[h]);
    h_guess += xlogx(in_guess[h]);
    kept += most_in_guess[h];
    k_guess += 1;
    matched += !hit[match[h]];
    hit[match[h]] = 1;
  }
  out.n01 = same_guess - out.n11;
  out.n10 = same_truth - out.n11;
  out.n00 = pairs(rows) - out.n11 - out.n01 - out.n10;
  const auto share = [](double part, double whole) { return whole > 0 ? part / whole : 1; };
  out.rand = share(out.n11 + out.n00, pairs(rows));
  out.precision = share(out.n11, same_guess);
  out.recall = share(out.n11, same_truth);
  out.f = out.precision + out.recall > 0 ? 2 * out.precision * out.recall / (out.precision + out.recall) : 0;
  out.vi = std::max(0.0, (h_truth + h_guess - 2 * joint) / rows);
  out.nvi = n > 1 ? 1 - out.vi / std::log(rows) : 1;
  out.moves = rows - kept;
  out.ced = out.moves / rows;
  out.ced_back = (rows - kept_back) / rows;
  out.nes = 1 - out.ced - out.ced_back;
  out.nes_text = 1 - (2 * rows - kept - kept_back) / (2 * rows);
  out.merges = k_guess - matched;
  out.creates = k_truth - matched;
  return out;
}

}  // namespace granary
