# Rscript tools/dev/bench.R <build folder>: times granary against its peers and the core by itself, and writes inst/bench/RESULTS.md.
#
# GRANARY_PEERS        library of the peers (default <build folder>/peers); those missing are installed there from CRAN
# GRANARY_BENCH_SIZES  sizes to run, by default 500,1000,2000
# GRANARY_BENCH_CAP    seconds; longer runs are skipped (default 600)
build <- commandArgs(TRUE)[1L]
peers <- Sys.getenv("GRANARY_PEERS", file.path(build, "peers"))
sizes <- Sys.getenv("GRANARY_BENCH_SIZES", "500,1000,2000")
dir.create(peers, recursive = TRUE, showWarnings = FALSE)
peers <- normalizePath(peers)
Sys.setenv(GRANARY_PEERS = peers)

repos <- getOption("repos")
if (length(repos) == 0L || identical(unname(repos[1L]), "@CRAN@")) repos <- c(CRAN = utils::getCRANmirrors(local.only = TRUE)$URL[1L])
for (package in c("glasso", "glassoFast", "huge")) {
  if (length(find.package(package, lib.loc = peers, quiet = TRUE)) == 0L) {
    try(utils::install.packages(package, lib = peers, repos = repos, quiet = TRUE))
  }
}

child <- function(script, ...) {
  file <- file.path(build, sub("[.]R$", ".rds", script))
  unlink(file)
  status <- system2(file.path(R.home("bin"), "Rscript"), c(shQuote(file.path("inst/bench/peers", script)), shQuote(file), ...))
  if (status != 0L || !file.exists(file)) stop(script, " failed.")
  readRDS(file)
}
bench <- child("ggm_lasso.R", sizes)
largest <- max(as.integer(strsplit(sizes, ",")[[1L]]))
memory <- child("ggm_lasso_memory.R", min(2000L, largest))

# The C++ programs, where cmake and Google Benchmark are there.
core <- NULL
cpp <- file.path(build, "cpp-bench")
objects <- paste0("-DGRANARY_OBJECTS=", shQuote(file.path(normalizePath(build), "source", "src")))  # of the build that is timed
if (nzchar(Sys.which("cmake"))) {
  quiet <- function(...) system2("cmake", c(...), stdout = FALSE, stderr = FALSE)
  cores <- max(1L, parallel::detectCores(), na.rm = TRUE)
  launcher <- if (nzchar(Sys.which("ccache"))) "-DCMAKE_CXX_COMPILER_LAUNCHER=ccache"
  if (quiet("-S", "inst/bench", "-B", shQuote(cpp), launcher, objects) == 0L && quiet("--build", shQuote(cpp), "--target", "granary_bench", "--parallel", cores) == 0L &&
      file.exists(file.path(cpp, "granary_bench"))) {
    # Its CSV writer gives up when a program brings counters that the first one did not have, hence one call per file.
    core <- do.call(rbind, lapply(c("-^(quic|bcd)_", "^(quic|bcd)_"), function(filter) {
      csv <- system2(file.path(cpp, "granary_bench"), c("--benchmark_format=csv", shQuote(paste0("--benchmark_filter=", filter))),
                     stdout = TRUE, stderr = FALSE)
      if (!is.null(attr(csv, "status"))) stop("granary_bench failed.")
      utils::read.csv(text = csv[seq(grep("^name,", csv)[1L], length(csv))])[c("name", "real_time", "cpu_time", "time_unit")]
    }))
  }
}

# ---- the report ----
markdown <- function(data) {
  rows <- apply(data, 1L, function(row) paste0("| ", paste(trimws(row), collapse = " | "), " |"))
  c(paste0("| ", paste(names(data), collapse = " | "), " |"), paste0("|", strrep(" --- |", ncol(data))), rows)
}
number <- function(x, digits = 3L) ifelse(is.na(x), "-", formatC(x, digits = digits, format = "g"))

peer_table <- function(results) {
  key <- paste(results$type, results$p, results$label)
  own <- results$seconds[results$solver == "granary"][match(key, key[results$solver == "granary"])]
  data.frame(
    graph = results$type, p = results$p, lambda = number(results$lambda), `non-zeros` = format(results$nonzeros), solver = results$solver,
    tolerance = number(results$tol), `CPU s` = number(results$seconds), `times granary` = number(results$seconds / own),
    `relative excess` = number(results$excess, 2L), note = results$note, check.names = FALSE
  )
}

cpu_model <- function() {
  if (!file.exists("/proc/cpuinfo")) return(Sys.info()[["machine"]])
  sub(".*:[[:space:]]*", "", grep("^model name", readLines("/proc/cpuinfo"), value = TRUE)[1L])
}
load <- if (file.exists("/proc/loadavg")) sub(" .*", "", readLines("/proc/loadavg")) else "unknown"
config <- function(name) system2(file.path(R.home("bin"), "R"), c("CMD", "config", name), stdout = TRUE)
lost <- with(bench$results, {
  key <- paste(type, p, label)
  own <- seconds[solver == "granary"][match(key, key[solver == "granary"])]
  need <- ifelse(solver == "glasso", 10, ifelse(solver == "QUIC", 2, 1))
  which(!grepl("^granary", solver) & reached %in% TRUE & seconds < need * own)
})
verdict <- if (length(lost) == 0L) {
  "Every goal is met on every problem that was run: glasso takes at least 10 times as long, QUIC at least twice, the others at least as long."
} else {
  c("Goals (glasso takes at least 10 times as long, QUIC at least twice, the others at least as long) that are **missed**:", "",
    markdown(peer_table(bench$results)[lost, c("graph", "p", "non-zeros", "solver", "CPU s", "times granary")]))
}

lines <- c(
  "# Benchmarks", "",
  "Written by `make bench`; do not edit.", "",
  paste0("- ", format(Sys.Date()), ", granary ", utils::packageVersion("granary")),
  paste0("- ", cpu_model(), ", ", parallel::detectCores(), " cores; load average at the end ", load),
  paste0("- ", R.version.string, "; BLAS ", basename(extSoftVersion()[["BLAS"]]), ", LAPACK ", La_version()),
  paste0("- granary built with ", config("CXX17"), " ", gsub("-f(file|debug)-prefix-map=[^ ]*", "", config("CXX17FLAGS"))),
  paste0("- peers: ", paste(names(bench$versions), bench$versions, collapse = ", "),
         if (!"QUIC" %in% names(bench$versions)) "; QUIC is archived and not installed, so it is not compared"),
  "", "## Against other packages", "",
  "Same covariance, one thread, CPU seconds of the loosest tolerance (powers of ten from 1 to 1e-8) that comes within 1e-6, relatively, of the",
  "best objective known. n = p / 2. `times granary` above 1 means that granary is faster. huge has no tolerance to set.",
  sprintf("Runs projected to take more than %g s are skipped.", bench$cap), "",
  markdown(peer_table(bench$results)), "", verdict, "",
  "## Next to no penalty", "",
  "p = 300, n = 150 and a hundredth of the largest penalty, where the solution is nearly full.", "",
  markdown(peer_table(bench$full)), "",
  "## A path", "", "Twenty penalties with warm starts against the smallest one alone; the goal is below 4 times.", "",
  markdown(data.frame(graph = bench$path$type, p = bench$path$p, `path s` = number(bench$path$path), `alone s` = number(bench$path$alone),
                      ratio = number(bench$path$path / bench$path$alone), check.names = FALSE)), "",
  "## Threads", "", "Eight components of 150 variables, elapsed seconds.", "",
  markdown(data.frame(threads = bench$threads$threads, s = number(bench$threads$seconds))), "",
  "## Memory", "",
  if (is.na(memory$matrices)) "Not measured: this system does not tell." else
    sprintf("A fit at p = %d takes the memory of %.1f matrices of p x p doubles beyond its argument.", memory$p, memory$matrices),
  "", "## The core", "", "CPU time per call; elapsed time where the name says `real_time`.", "",
  if (is.null(core)) "Not run: cmake or Google Benchmark is not installed." else
    markdown(data.frame(
      benchmark = core$name, time = paste(number(ifelse(grepl("real_time", core$name), core$real_time, core$cpu_time)), core$time_unit)
    ))
)
writeLines(lines, "inst/bench/RESULTS.md")
cat(lines, sep = "\n")
