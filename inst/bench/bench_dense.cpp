// Dense products and Cholesky factors by every engine (core/linalg/engine.h), in GFLOPS of CPU time on one thread. With
// GRANARY_BLAS=/path/to/libopenblas.so the same by that library, in the same run.
#include <benchmark/benchmark.h>
#include <dlfcn.h>

#include <cstdlib>
#include <string>

#include "core/linalg/dense.h"
#include "core/linalg/engine.h"

namespace {

using granary::Index;
using granary::MatrixXd;

MatrixXd filled(Index n) {
  MatrixXd m(n, n);
  for (Index i = 0; i < m.size(); ++i) m.data()[i] = static_cast<double>((i * 7919) % 1000) / 1000 - 0.5;
  return m;
}

MatrixXd positive(Index n) {
  MatrixXd m = filled(n);
  m = MatrixXd(m * m.transpose());
  m.diagonal().array() += static_cast<double>(n);
  return m;
}

void rate(benchmark::State& state, double flops) {
  state.counters["GFLOPS"] = benchmark::Counter(flops * 1e-9 * static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
}

void product(benchmark::State& state, const std::string& engine) {
  const Index n = state.range(0);
  const MatrixXd a = filled(n), b = filled(n);
  MatrixXd c = MatrixXd::Zero(n, n);
  granary::use_engine(engine);
  for (auto _ : state) c.noalias() = a * b;
  granary::use_engine("auto");
  rate(state, 2.0 * static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(n));
}

void factor(benchmark::State& state, const std::string& engine) {
  const Index n = state.range(0);
  const MatrixXd a = positive(n);
  granary::use_engine(engine);
  for (auto _ : state) benchmark::DoNotOptimize(granary::Llt(a).matrixLLT().data());
  granary::use_engine("auto");
  rate(state, static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(n) / 3);
}

using Gemm = void (*)(const char*, const char*, const int*, const int*, const int*, const double*, const double*, const int*, const double*, const int*,
                      const double*, double*, const int*);
using Potrf = void (*)(const char*, const int*, double*, const int*, int*);

void foreign_product(benchmark::State& state, Gemm gemm) {
  const int n = static_cast<int>(state.range(0));
  const MatrixXd a = filled(n), b = filled(n);
  MatrixXd c = MatrixXd::Zero(n, n);
  const double one = 1, zero = 0;
  for (auto _ : state) gemm("N", "N", &n, &n, &n, &one, a.data(), &n, b.data(), &n, &zero, c.data(), &n);
  rate(state, 2.0 * n * n * n);
}

void foreign_factor(benchmark::State& state, Potrf potrf) {
  const int n = static_cast<int>(state.range(0));
  const MatrixXd a = positive(n);
  int info = 0;
  for (auto _ : state) {
    MatrixXd l = a;
    potrf("L", &n, l.data(), &n, &info);
  }
  rate(state, static_cast<double>(n) * n * n / 3);
}

const bool registered = [] {
  for (const std::string& name : granary::engine_names()) {
    benchmark::RegisterBenchmark(("product/" + name).c_str(), product, name)->Arg(500)->Arg(1500)->Unit(benchmark::kMillisecond);
    benchmark::RegisterBenchmark(("cholesky/" + name).c_str(), factor, name)->Arg(500)->Arg(1500)->Unit(benchmark::kMillisecond);
  }
  const char* path = std::getenv("GRANARY_BLAS");
  void* library = path != nullptr ? dlopen(path, RTLD_NOW) : nullptr;
  if (library == nullptr) return true;
  const auto gemm = reinterpret_cast<Gemm>(dlsym(library, "dgemm_"));
  const auto potrf = reinterpret_cast<Potrf>(dlsym(library, "dpotrf_"));
  if (gemm != nullptr) benchmark::RegisterBenchmark("product/foreign", foreign_product, gemm)->Arg(500)->Arg(1500)->Unit(benchmark::kMillisecond);
  if (potrf != nullptr) benchmark::RegisterBenchmark("cholesky/foreign", foreign_factor, potrf)->Arg(500)->Arg(1500)->Unit(benchmark::kMillisecond);
  return true;
}();

}  // namespace
