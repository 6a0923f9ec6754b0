// Exports of the learning curves of gradient descent.
#include "kernel/committee.h"
#include "kernel/committee_simulate.h"
#include "kernel/sgd_fit.h"
#include "kernel/sgd_optimize.h"
#include "kernel/sgd_simulate.h"
#include "r_door.h"

using namespace granary;
using namespace granary::kernel;

GRANARY_DEFAULTS(sgd_curve, SgdSetting);
GRANARY_DEFAULTS(committee_curve, CommitteeSetting);

// [[Rcpp::export(rng = false)]]
SEXP core_sgd_curve(SEXP setting, SEXP times, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) { return write(sgd_curve(read<SgdSetting>(setting), vector(times), monitor)); });
}

// A table: one row per setting.
// [[Rcpp::export(rng = false)]]
SEXP core_sgd_limits(SEXP grid) {
  return crossing([&] { return write_columns(sgd_limits(read<SgdGrid>(grid))); });
}

// [[Rcpp::export(rng = false)]]
SEXP core_sgd_optimize(SEXP setting, SEXP times, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) { return write(sgd_optima(read<SgdSetting>(setting), vector(times), monitor)); });
}

// [[Rcpp::export(rng = false)]]
SEXP core_sgd_schedule(SEXP time, SEXP eta) {
  return crossing([&] { return write(fit_eta_schedule(vector(time), vector(eta))); });
}

// [[Rcpp::export(rng = false)]]
SEXP core_sgd_simulate(SEXP setting, SEXP times, SEXP seed, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    const auto s = read<SgdSimulation>(setting);
    return write(simulate_sgd(s, vector(times), s.n_rep, rng(seed), s.threads, monitor));
  });
}

// `data` is list(x =, y =, newx =, newy =) with one example per column.
// [[Rcpp::export(rng = false)]]
SEXP core_sgd_simulate_data(SEXP data, SEXP setting, SEXP times, SEXP seed, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    const auto s = read<SgdSimulation>(setting);
    return write(simulate_sgd(read<SgdData>(data, "data"), s.step, s.order, vector(times), s.n_rep, rng(seed), s.threads, monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_sgd_exact(SEXP problem, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) { return write(exact_sgd(read<SgdExact>(problem), monitor)); });
}

// `data` as above, with one example per row.
// [[Rcpp::export(rng = false)]]
SEXP core_sgd_data(SEXP data, SEXP setting, SEXP times, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    const auto d = read<SgdData>(data, "data");
    return write(sgd_on_data(d.x, d.y, d.test_x, d.test_y, read<SgdSetting>(setting), vector(times), monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_mp_blocks(SEXP alpha, SEXP spectrum, SEXP blocks) {
  return crossing([&] { return write(sgd_blocks(number(alpha), vector(spectrum), count(blocks))); });
}

// [[Rcpp::export(rng = false)]]
SEXP core_committee_curve(SEXP setting, SEXP times, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    const auto s = read<CommitteeSetting>(setting);
    return write(committee_curve(committee_model(s), s.q, s.r, vector(times), {}, monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_committee_simulate(SEXP setting, SEXP simulation, SEXP times, SEXP seed, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    const auto how = read<CommitteeSimulation>(simulation);
    return write(simulate_committee(committee_model(read<CommitteeSetting>(setting)), how, vector(times), how.n_rep, rng(seed),
                                    how.threads, monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_random_overlaps(SEXP size, SEXP q, SEXP teacher, SEXP seed) {
  return crossing([&] {
    Rng draws = rng(seed);
    return write(random_overlaps(number(size), matrix(q), matrix(teacher), draws));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_overlaps_exist(SEXP q, SEXP r, SEXP teacher) {
  return crossing([&] { return write(overlaps_exist(matrix(q), matrix(r), matrix(teacher))); });
}
