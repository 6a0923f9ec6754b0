# Couckuyt, Dhaene and Demeester (JMLR 2014). The paper has one benchmark, a figure: the average Euclidean error on the Branin function of ordinary
# and blind
# kriging and of DACE, designs of 10, 20, ..., 200 uniform points, 1000 repetitions. What can be compared is the order of the curves and their
# fall. By
# default 6 repetitions at n = 20 and 50; with extended = TRUE 30 repetitions at n = 10, 20, 50, 100, 200. DACE stands for ordinary kriging with one
# start, as the paper credits its gain to the search of the likelihood.

box <- attr(test_function("branin"), "box")
axis <- function(k) seq(box[k, 1], box[k, 2], length.out = 50)
test <- as.matrix(expand.grid(axis(1), axis(2)))
truth <- test_function("branin")(test)
sizes <- if (extended) c(10, 20, 50, 100, 200) else c(20, 50)
repetitions <- if (extended) 30 else 6
aee <- array(NA_real_, c(repetitions, length(sizes), 3), list(NULL, sizes, c("ordinary", "blind", "one start")))
for (i in seq_along(sizes)) {
  for (r in seq_len(repetitions)) {
    set.seed(1000 * i + r)
    x <- cbind(runif(sizes[i], -5, 10), runif(sizes[i], 0, 15))
    y <- test_function("branin")(x)
    error <- function(fit) mean(abs(predict(fit, test) - truth))
    starts <- if (extended) 10 else 4
    aee[r, i, 1] <- error(suppressWarnings(kriging(x, y, kernel = "se", n_starts = starts)))
    aee[r, i, 2] <- error(suppressWarnings(blind_kriging(x, y, kernel = "se", n_starts = starts)))
    aee[r, i, 3] <- error(suppressWarnings(kriging(x, y, kernel = "se", lengthscale = NULL, n_starts = 1, max_iter = 5)))
  }
}
mean_aee <- apply(aee, 2:3, mean)
for (i in seq_along(sizes)) {
  shown <- paste(sprintf("%s %.3g", colnames(mean_aee), mean_aee[i, ]), collapse = ", ")
  claim(sprintf("Figure, n = %d: blind kriging has a smaller mean error than ordinary kriging", sizes[i]), TRUE, mean_aee[i, 2] < mean_aee[i, 1],
        0, shown)
  claim(sprintf("Figure, n = %d: ordinary kriging has a smaller mean error than with a poor search (DACE)", sizes[i]), TRUE,
        mean_aee[i, 1] < mean_aee[i, 3], 0, paste0(shown, "; DACE is MATLAB code, in its place one start and five iterations"))
  claim(sprintf("Figure, n = %d: mean error of ordinary kriging", sizes[i]), NA, mean_aee[i, 1], NA, "the paper shows a plot without numbers")
}
claim("Figure: the mean error of ordinary kriging falls with n", TRUE, all(diff(mean_aee[, 1]) < 0), 0)
claim("Figure: the mean error of blind kriging falls with n", TRUE, all(diff(mean_aee[, 2]) < 0), 0)
claim("Section 4: antenna and middle ear", NA, NA, NA, "the simulators and their data are not public, and no numbers are printed")
