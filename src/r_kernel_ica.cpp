// Exports of independent component analysis.
#include "kernel/ica.h"
#include "kernel/ica_start.h"
#include "r_glue.h"
#include "r_core_kernel.h"

using namespace granary;
using namespace granary::kernel;

namespace {

Rcpp::List as_components(const MatrixXd& rotation, const Whitening& white) {
  const MatrixXd w = order_components(rotation, white);
  return Rcpp::List::create(Rcpp::Named("rotation") = w, Rcpp::Named("W") = MatrixXd(w * white.whitener),
                            Rcpp::Named("A") = MatrixXd(white.colourer * w.transpose()),
                            Rcpp::Named("S") = MatrixXd(white.z * w.transpose()), Rcpp::Named("mean") = white.mean,
                            Rcpp::Named("whitener") = white.whitener);
}

IcaRotation start_rotation(const std::string& method, const MatrixXd& z, Contrast contrast, double tol, int max_iter, Rng& rng,
                           Monitor& monitor) {
  if (method == "jade") return jade(z, max_iter, monitor);
  const MatrixXd w = random_rotation(z.cols(), rng);
  if (method == "random") return IcaRotation{w, Convergence()};
  FastIcaOptions options;
  options.contrast = contrast;
  options.tol = tol;
  options.max_iter = max_iter;
  return fast_ica(z, w, options, monitor);
}

}  // namespace

// [[Rcpp::export(rng = false)]]
Rcpp::List core_ica_moments(const Eigen::Map<Eigen::MatrixXd> x, int components, const std::string& method, bool cubic,
                            double tol, int max_iter, const Rcpp::NumericVector& seed, SEXP progress) {
  RMonitor monitor(progress);
  Rng rng = make_rng(seed);
  const Whitening white = whiten(x, components);
  const IcaRotation found =
      start_rotation(method, white.z, cubic ? Contrast::cubic : Contrast::tanh, tol, max_iter, rng, monitor);
  Rcpp::List result = as_components(found.w, white);
  result["convergence"] = as_list(found.convergence);
  return result;
}

// `starts`: names of methods or rotations, one descent from each; the lowest value wins.
// [[Rcpp::export(rng = false)]]
Rcpp::List core_kernel_ica(const Eigen::Map<Eigen::MatrixXd> x, int components, const Rcpp::List& starts,
                           const Rcpp::List& kernels, const Rcpp::List& settings, double tol, int max_iter,
                           const Rcpp::NumericVector& seed, int threads, SEXP progress) {
  RMonitor monitor(progress);
  const Rng rng = make_rng(seed);
  const Whitening white = whiten(x, components);
  KernelIcaOptions options;
  options.dependence.measure = static_cast<Measure>(Rcpp::as<int>(settings["measure"]));
  options.dependence.variances = static_cast<Variances>(Rcpp::as<int>(settings["variances"]));
  options.dependence.kappa = Rcpp::as<double>(settings["kappa"]);
  options.dependence.nu = Rcpp::as<double>(settings["nu"]);
  options.fixed_nu = Rcpp::as<int>(settings["nu_rule"]) < 0;
  if (!options.fixed_nu) options.nu_rule = static_cast<NuRule>(Rcpp::as<int>(settings["nu_rule"]));
  options.rank.tol = Rcpp::as<double>(settings["rank_tol"]);
  options.rank.max_rank = Rcpp::as<int>(settings["max_rank"]);
  options.tol = tol;
  options.max_iter = max_iter;
  options.threads = threads;
  std::vector<Kernel> stages;
  for (R_xlen_t i = 0; i < kernels.size(); ++i) stages.emplace_back(as_kernel_spec(kernels[i]), 1);

  std::vector<KernelIcaResult> found;
  std::size_t best = 0;
  for (R_xlen_t i = 0; i < starts.size(); ++i) {
    Rng mine = rng.stream(static_cast<std::uint64_t>(i));
    const MatrixXd start =
        TYPEOF(starts[i]) == STRSXP
            ? start_rotation(Rcpp::as<std::string>(starts[i]), white.z, Contrast::tanh, 1e-6, 500, mine, monitor).w
            : Rcpp::as<MatrixXd>(starts[i]);
    found.push_back(kernel_ica(white.z, start, stages, options, monitor));
    if (found.back().value < found[best].value) best = found.size() - 1;
  }
  Rcpp::NumericVector values;
  for (const KernelIcaResult& f : found) values.push_back(f.value);
  const KernelIcaResult& winner = found[best];
  Rcpp::List result = as_components(winner.w, white);
  result["value"] = winner.value;
  result["nu"] = winner.nu;
  result["nu_raised"] = winner.nu_raised;
  result["trace"] = winner.trace;
  result["stage"] = winner.stage;
  result["starts"] = values;
  result["best"] = static_cast<int>(best) + 1;
  result["convergence"] = as_list(winner.convergence);
  return result;
}
