step_data <- function(seed = 1, n = 400) {
  set.seed(seed)
  x <- runif(n)
  list(x = x, y = (x > 1 / 3) + rnorm(n, sd = 0.2))
}

square_data <- function(seed = 1, n = 500) {
  set.seed(seed)
  x <- matrix(runif(2 * n), n, dimnames = list(NULL, c("u", "v")))
  list(x = x, y = (rowSums(x^2) < 0.5) + rnorm(n, sd = 0.2))
}

# Worked table of the description of the method.
worked <- list(x = c(.05, .1, .2, .3, .4, .45, .55, .6, .7, .8, .9, .95), y = c(0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 0, 0))

test_that("the worked table", {
  fit <- adapt_partition(worked$x, worked$y, kappa = 0.2, box = c(0, 1))
  expect_equal(fit$tau, 0.0910111, tolerance = 1e-6)
  expect_identical(fit$j0, 6L)
  expect_identical(fit$n_cells, 6L)
  expect_equal(fitted(fit), worked$y)
  expect_equal(fit$cells$lower[, "x"], c(0, 0.25, 0.375, 0.5, 0.75, 0.875))
  expect_equal(sum(fit$cells$n), 12)
  # energies: the root's split takes little, its descendants' more, and yet they are found
  levels <- tidy(fit, type = "path")$tau^2
  expect_equal(max(levels[is.finite(levels)]), 0.0555556, tolerance = 1e-6)
})

test_that("cell means are those of lm(), and sums of squares agree", {
  d <- square_data()
  for (method in c("threshold", "cart", "uniform")) {
    fit <- adapt_partition(d$x, d$y, method = method)
    cell <- predict(fit, d$x, type = "cell")
    expect_false(anyNA(cell))
    means <- tapply(d$y, cell, mean)
    expect_equal(fit$cells$mean[as.integer(names(means))], as.vector(means), tolerance = 1e-12)
    expect_equal(as.vector(table(factor(cell, seq_len(fit$n_cells)))), fit$cells$n)
    expect_equal(fit$sse, sum(residuals(fit)^2), tolerance = 1e-10)
    expect_equal(unname(fitted(stats::lm(d$y ~ factor(cell)))), fitted(fit), tolerance = 1e-10)
    inside <- d$x >= fit$cells$lower[cell, ] & d$x <= fit$cells$upper[cell, ]
    expect_true(all(inside))
    area <- apply(fit$cells$upper - fit$cells$lower, 1, prod)
    expect_equal(sum(area), prod(fit$box[2, ] - fit$box[1, ]), tolerance = 1e-12)
    expect_equal(fit$n_cells, (fit$a - 1) * fit$tree_size + 1)
  }
})

test_that("trees are nested along tau, from the mean to the full tree", {
  d <- square_data(2)
  fit <- adapt_partition(d$x, d$y)
  table <- tidy(fit, type = "path")
  expect_true(all(diff(table$tau) < 0))
  expect_true(all(diff(table$n_cells) > 0))
  expect_equal(table$sse[1], sum((d$y - mean(d$y))^2), tolerance = 1e-10)
  for (tau in table$tau[c(2, 5, 20)]) {
    value <- predict(fit, d$x, tau = tau)
    expect_equal(sum((d$y - value)^2), table$sse[match(tau, table$tau)], tolerance = 1e-8)
    finer <- predict(fit, d$x, tau = tau / 2)
    expect_lte(sum((d$y - finer)^2), sum((d$y - value)^2) + 1e-9)
  }
  coarse <- predict(fit, d$x, tau = table$tau[4], type = "cell")
  fine <- predict(fit, d$x, tau = table$tau[9], type = "cell")
  expect_true(all(tapply(coarse, fine, function(cells) length(unique(cells)) == 1)))
  expect_equal(predict(fit, d$x, tau = 1e6), rep(mean(d$y), 500))
  expect_equal(predict(fit, d$x[1:5, ], tau = 0), predict(fit, d$x[1:5, ], tau = min(table$tau)))
})

test_that("tau and j0 follow the paper, and do not depend on units", {
  d <- step_data()
  fit <- adapt_partition(d$x, d$y, kappa = 0.3, gamma = 0.7, range = c(0, 1))
  expect_equal(fit$tau, 0.3 * sqrt(log(400) / 400))
  expect_identical(fit$j0, as.integer(floor(log2(fit$tau^(-1 / 0.7)))))
  consistent <- adapt_partition(d$x, d$y, kappa = 0.3, rule = "consistent")
  expect_equal(consistent$tau, 0.3 * log(400) / 20)
  base <- adapt_partition(d$x, d$y)
  expect_equal(base$kappa, sqrt(2) * base$sigma)
  expect_equal(base$sigma, stats::median(abs(diff(d$y[order(d$x)]))) / (qnorm(0.75) * sqrt(2)), tolerance = 1e-12)
  for (unit in c(1e-8, 1e8)) {
    scaled <- adapt_partition(unit * d$x, unit * d$y)
    expect_identical(scaled$j0, base$j0)
    expect_equal(fitted(scaled) / unit, fitted(base), tolerance = 1e-8)
    expect_equal(scaled$tau / unit, base$tau, tolerance = 1e-8)
  }
  expect_equal(fitted(adapt_partition(d$x, d$y + 1e6)) - 1e6, fitted(base), tolerance = 1e-6)
  expect_identical(adapt_partition(d$x, d$y, max_depth = 3)$j0, 3L)
  expect_identical(adapt_partition(d$x, d$y, max_depth = 0)$n_cells, 1L)
})

test_that("a row at a time is a batch, in any order", {
  for (split in c("cube", "cyclic")) {
    d <- square_data(3, 300)
    box <- rbind(c(0, 0), c(1, 1))
    batch <- adapt_partition(d$x, d$y, kappa = 0.3, range = c(-1, 2), box = box, split = split)
    order <- sample(300)
    stream <- adapt_partition(d$x[order[1:5], ], d$y[order[1:5]], kappa = 0.3, range = c(-1, 2), box = box, split = split)
    for (i in 6:200) stream <- update(stream, d$x[order[i], , drop = FALSE], d$y[order[i]], refresh = FALSE)
    expect_null(stream$cells)
    stream <- update(stream, d$x[order[201:300], ], d$y[order[201:300]])
    expect_identical(stream$n, 300L)
    expect_identical(stream$j0, batch$j0)
    expect_equal(stream$cells, batch$cells, tolerance = 1e-12)
    expect_equal(tidy(stream, type = "path"), tidy(batch, type = "path"), tolerance = 1e-10)
    expect_equal(residuals(stream), residuals(batch)[order], tolerance = 1e-12)
  }
})

test_that("fits are values: an update does not change the fit it came from, nor does a second update of it", {
  d <- step_data(4)
  fit <- adapt_partition(d$x[1:300], d$y[1:300], kappa = 0.3, box = c(0, 1), range = c(-1, 2))
  before <- predict(fit, d$x)
  one <- update(fit, d$x[301:350], d$y[301:350])
  expect_equal(predict(fit, d$x), before)
  two <- update(fit, d$x[351:400], d$y[351:400])
  both <- c(1:300, 351:400)
  expect_equal(two$cells, adapt_partition(d$x[both], d$y[both], kappa = 0.3, box = c(0, 1), range = c(-1, 2))$cells, tolerance = 1e-12)
  expect_equal(one$cells, adapt_partition(d$x[1:350], d$y[1:350], kappa = 0.3, box = c(0, 1), range = c(-1, 2))$cells, tolerance = 1e-12)
  file <- tempfile(fileext = ".rds")
  saveRDS(one, file)
  back <- readRDS(file)
  expect_equal(predict(back, d$x), predict(one, d$x))
  again <- update(back, d$x[351:360], d$y[351:360])
  expect_equal(again$cells, update(one, d$x[351:360], d$y[351:360])$cells, tolerance = 1e-12)
  unlink(file)
})

test_that("cross-validation: folds, seeds, threads; each method", {
  d <- step_data(5, 300)
  for (method in c("threshold", "cart", "uniform")) {
    set.seed(1)
    one <- adapt_partition(d$x, d$y, method = method, cv = 5, threads = 1)
    set.seed(1)
    two <- adapt_partition(d$x, d$y, method = method, cv = 5, threads = 2)
    expect_identical(one$path, two$path)
    expect_identical(one$cells, two$cells)
    best <- one$path[which.min(one$path$cv), ]
    expect_equal(one$n_cells, best$n_cells)
    expect_equal(one$sse, best$sse, tolerance = 1e-8)
    if (method == "uniform") expect_equal(one$j0, best$level) else expect_equal(one$kappa, best$kappa)
  }
  folds <- rep(1:4, length.out = 300)
  fit <- adapt_partition(d$x, d$y, cv = folds, box = c(0, 1))
  k <- which.min(fit$path$cv)
  error <- 0
  for (f in 1:4) {
    train <- folds != f
    refit <- adapt_partition(d$x[train], d$y[train], kappa = fit$path$kappa[k], box = c(0, 1), gamma = 0.01, max_depth = fit$j0)
    error <- error + sum((d$y[!train] - predict(refit, d$x[!train]))^2)
  }
  expect_equal(fit$path$cv[k], error / 300, tolerance = 1e-8)
})

test_that("uniform partitions: the level of Theorem 2", {
  d <- step_data(6)
  fit <- adapt_partition(d$x, d$y, method = "uniform")
  expect_identical(fit$j0, as.integer(ceiling(log2(400 / log(400)) / 3)))
  expect_identical(fit$n_cells, as.integer(2^fit$j0))
  cell <- findInterval(d$x, seq(min(d$x), max(d$x), length.out = 2^fit$j0 + 1), rightmost.closed = TRUE)
  expect_equal(fitted(fit), as.vector(tapply(d$y, cell, mean)[as.character(cell)]), tolerance = 1e-12)
  expect_identical(adapt_partition(d$x, d$y, method = "uniform", smoothness = 0.3)$j0, as.integer(ceiling(log2(400 / log(400)) / 1.6)))
  square <- square_data(7)
  expect_equal(adapt_partition(square$x, square$y, method = "uniform")$smoothness, 1 / 2)
})

test_that("dyadic CART never costs more than thresholding", {
  for (seed in 1:5) {
    d <- square_data(seed)
    threshold <- adapt_partition(d$x, d$y, kappa = 0.25)
    cart <- adapt_partition(d$x, d$y, kappa = 0.25, method = "cart")
    cost <- function(fit) fit$sse / fit$n + fit$tau^2 * fit$n_cells
    expect_lte(cost(cart), cost(threshold) + 1e-12)
  }
})

test_that("a split without gain of its own is made where a descendant matters", {
  x <- as.matrix(expand.grid(a = (1:16 - 0.5) / 16, b = (1:16 - 0.5) / 16))
  y <- as.double(xor(x[, 1] > 0.5, x[, 2] > 0.5))
  fit <- adapt_partition(x, y, kappa = 0.1, split = "cyclic", box = rbind(c(0, 0), c(1, 1)))
  expect_identical(fit$n_cells, 4L)
  expect_equal(fitted(fit), y)
})

test_that("cuts at quantiles put half of the rows on each side", {
  set.seed(8)
  x <- rexp(1024)
  y <- (x > 2) + rnorm(1024, sd = 0.1)
  fit <- adapt_partition(x, y, method = "uniform", cuts = "quantile", smoothness = 1)
  expect_true(all(abs(fit$cells$n - 1024 / fit$n_cells) <= 2))
  middle <- adapt_partition(x, y, method = "uniform", smoothness = 1)
  expect_gt(diff(range(middle$cells$n)), 100)
  tied <- adapt_partition(round(x), y, cuts = "quantile")
  expect_equal(mean(fitted(tied)), mean(y))
  expect_equal(predict(update(fit, 0.5, 0), 0.5), predict(fit, 0.5), tolerance = 0.1)
})

test_that("nested categories", {
  data <- data.frame(region = c("n", "n", "n", "n", "s", "s", "s", "s"), town = c("a", "a", "b", "b", "c", "c", "c", "d"))
  y <- c(0, 0, 4, 4, 9, 9, 9, 9)
  fit <- adapt_partition(data, y, split = "nested", kappa = 0.1)
  expect_identical(fit$n_cells, 3L)
  expect_equal(fitted(fit), y)
  expect_equal(predict(fit, data.frame(region = c("n", "s", "e"), town = c("?", "c", "a"))), c(2, 9, mean(y)))
  expect_equal(predict(fit, data.frame(region = "e", town = "a"), type = "cell"), NA_integer_)
  more <- update(fit, data.frame(region = "n", town = "a"), 1)
  expect_equal(predict(more, data[1, ]), 1 / 3)
  expect_error(update(fit, data.frame(region = "e", town = "a"), 1), "not seen", class = "granary_error_input")
  expect_error(adapt_partition(list(1), 1, split = "nested"), "categorical", class = "granary_error_input")
  # the same town name in two regions is two towns
  twice <- adapt_partition(data.frame(r = rep(c("n", "s"), each = 4), t = rep(c("x", "y"), 4)), c(0, 1, 0, 1, 5, 9, 5, 9), split = "nested",
                           kappa = 0.1)
  expect_identical(twice$n_cells, 4L)
})

test_that("empty cells: parent or zero", {
  x <- c(0.01, 0.02, 0.9, 0.95)
  y <- c(5, 5.2, 9, 9.1)
  parent <- adapt_partition(x, y, kappa = 0.01, box = c(0, 1), method = "uniform", smoothness = 0.2)
  zero <- adapt_partition(x, y, kappa = 0.01, box = c(0, 1), method = "uniform", smoothness = 0.2, empty = "zero")
  expect_true(any(parent$cells$n == 0))
  expect_equal(predict(parent, 0.3), 5.1)
  expect_equal(predict(zero, 0.3), 0)
  expect_identical(zero$cells$mean[zero$cells$n == 0], rep(0, sum(zero$cells$n == 0)))
  cell <- predict(parent, c(0.3, 0.01), type = "cell")
  expect_identical(parent$cells$n[cell], c(0L, 2L))
})

test_that("formula, names, truncation", {
  d <- square_data(9)
  frame <- data.frame(d$x, y = d$y, g = rep(c("a", "b"), 250))
  fit <- adapt_partition(y ~ u + v, frame)
  plain <- adapt_partition(d$x, d$y)
  expect_equal(fit$cells, plain$cells)
  expect_equal(predict(fit, frame[3:1, ]), predict(plain, d$x[3:1, ]))
  expect_equal(predict(plain, d$x[, 2:1]), fitted(plain))  # by name
  expect_equal(update(fit, frame[1:3, ])$n, 503L)
  expect_equal(update(fit, frame[1:3, ])$cells, update(plain, d$x[1:3, ], d$y[1:3])$cells)
  expect_error(update(plain, d$x[1:3, ]), "`newy` must be given", class = "granary_error_input")
  expect_error(update(fit, frame[1:3, c("u", "v")]), "response", class = "granary_error_input")
  mixed <- adapt_partition(y ~ ., frame)
  expect_identical(mixed$names, c("u", "v", "gb"))
  expect_identical(mixed$split, "cyclic")
  cut <- adapt_partition(d$x, d$y, range = c(0.2, 0.8))
  expect_true(all(fitted(cut) >= 0.2 & fitted(cut) <= 0.8))
  heavy <- d$y
  heavy[1] <- 1e6
  tame <- adapt_partition(d$x, heavy, range = c(-1, 2), winsorise = TRUE)
  expect_lt(max(fitted(tame)), 2.001)
  expect_gt(tame$n_cells, 4)
  expect_error(adapt_partition(d$x, d$y, winsorise = TRUE), "needs `range`", class = "granary_error_input")
})

test_that("missing values are refused, or their rows left out and counted, in both forms", {
  d <- step_data(10)
  x <- c(d$x, NA, 0.5)
  y <- c(d$y, 1, NA)
  expect_error(adapt_partition(x, y), "2 rows have, the first is row 401", class = "granary_error_input")
  expect_message(fit <- adapt_partition(x, y, na = "omit"), "2 rows were dropped")
  expect_identical(fit$n, 400L)
  expect_error(adapt_partition(y ~ x, data.frame(x, y)), class = "granary_error_input")
  same <- adapt_partition(y ~ x, data.frame(x, y), na.action = na.omit)
  expect_equal(same$cells, fit$cells)
  expect_message(adapt_partition(x, y, cv = rep(1:2, length.out = 402), na = "omit"), "2 rows")
})

test_that("awkward data", {
  expect_equal(fitted(adapt_partition(0.3, 7)), 7)
  expect_equal(fitted(adapt_partition(c(1, 2), c(0, 1), kappa = 0.1)), c(0, 1))
  constant <- adapt_partition(cbind(a = 1:50, b = 3), (1:50 > 25) + 0)
  expect_identical(constant$a, 2)
  expect_equal(fitted(constant), (1:50 > 25) + 0)
  all_constant <- adapt_partition(cbind(rep(1, 10), 2), 1:10)
  expect_identical(all_constant$n_cells, 1L)
  flat <- adapt_partition(1:20, rep(4, 20))
  expect_identical(flat$n_cells, 1L)
  expect_equal(predict(flat, 3), 4)
  expect_identical(adapt_partition(1:20, rep(4, 20), cv = 4)$n_cells, 1L)
  repeated <- adapt_partition(rep(c(1, 2), each = 30), rep(c(0, 1), each = 30) + rep(c(-0.1, 0.1), 30), kappa = 1e-6)
  expect_equal(fitted(repeated), rep(c(0, 1), each = 30), tolerance = 1e-10)
  exact <- adapt_partition(c(0, 0.5, 1), c(1, 2, 3), kappa = 0.01)  # borders: half-open, the last closed
  expect_equal(fitted(exact), 1:3)
  many <- square_data(11)
  wide <- cbind(many$x, matrix(runif(500 * 18), 500))
  expect_identical(adapt_partition(wide, many$y)$split, "cyclic")
})

test_that("new rows outside the box get the nearest cell, with a warning", {
  d <- step_data(12)
  fit <- adapt_partition(d$x, d$y)
  expect_warning(value <- predict(fit, c(-1, 0.5, 7)), "2 new rows lie outside", class = "granary_warning_input")
  expect_equal(value[c(1, 3)], predict(fit, range(d$x)))
  expect_warning(update(fit, 3, 1), "1 new row lies outside", class = "granary_warning_input")
  expect_warning(adapt_partition(d$x, d$y, box = c(0.2, 0.8)), "outside `box`", class = "granary_warning_input")
})

test_that("degree 1: every cell has the plane of lm(), for all methods, and the sums of squares add up", {
  set.seed(4)
  x <- matrix(runif(1200), 600, 2, dimnames = list(NULL, c("u", "v")))
  y <- ifelse(x[, 1] < 0.5, 2 * x[, 2], 3 - x[, 1]) + rnorm(600, sd = 0.1)
  for (method in c("threshold", "cart", "uniform")) {
    fit <- adapt_partition(x, y, method = method, degree = 1, range = c(-100, 100), max_depth = 2)
    cell <- factor(predict(fit, x, type = "cell"))
    expect_gt(nlevels(cell), 3)
    reference <- lm(y ~ cell + cell:x)
    expect_equal(predict(fit), unname(fitted(reference)), tolerance = 1e-8)
    expect_equal(fit$sse, sum(residuals(reference)^2), tolerance = 1e-8)
    at <- fit$cells[as.integer(as.character(cell)), ]
    expect_equal(at$mean + rowSums(at$slope * (x - at$centre)), predict(fit), tolerance = 1e-8, ignore_attr = TRUE)
  }
  fit <- adapt_partition(x, y, degree = 1)
  expect_equal(tidy(fit, type = "path")$sse[1], sum(residuals(lm(y ~ x))^2), tolerance = 1e-8)
  expect_true(all(diff(tidy(fit, type = "path")$sse) <= 1e-8))
  expect_equal(fit$kappa, fit$sigma * sqrt(qchisq(1 / 600, 9, lower.tail = FALSE) / log(600)))
  expect_output(print(fit), "a plane in each")
  expect_equal(summary(fit)$r_squared, 1 - fit$sse / sum((y - mean(y))^2))
  expect_true(all(c("u.slope", "v.slope", "u.centre") %in% names(tidy(fit))))
})

test_that("degree 1: online is batch, units do not matter, smooth functions need fewer cells", {
  set.seed(5)
  x <- runif(400)
  y <- sin(5 * x) + rnorm(400, sd = 0.05)
  whole <- adapt_partition(x, y, degree = 1, kappa = 0.1, box = c(0, 1), range = c(-2, 2))
  order <- sample(400)
  part <- adapt_partition(x[order[1:30]], y[order[1:30]], degree = 1, kappa = 0.1, box = c(0, 1), range = c(-2, 2))
  for (k in 31:60) part <- update(part, x[order[k]], y[order[k]], refresh = FALSE)
  part <- update(part, x[order[61:400]], y[order[61:400]])
  expect_identical(part$n_cells, whole$n_cells)
  expect_equal(predict(part, x), predict(whole), tolerance = 1e-9)
  expect_equal(part$sse, whole$sse, tolerance = 1e-9)
  plain <- adapt_partition(x, y, degree = 1)
  for (s in c(1e-8, 1e8)) expect_equal(predict(adapt_partition(1e3 + s * x, s * y - s, degree = 1)) / s + 1, predict(plain), tolerance = 1e-4)
  steps <- adapt_partition(x, y)
  expect_lt(plain$n_cells, steps$n_cells)
  expect_lt(mean((predict(plain) - sin(5 * x))^2), 0.5 * mean((predict(steps) - sin(5 * x))^2))
  line <- adapt_partition(x, 2 - 3 * x, degree = 1, kappa = 0.01)
  expect_identical(line$n_cells, 1L)
  expect_equal(predict(line), 2 - 3 * x)
  chosen <- adapt_partition(x, y, degree = 1, cv = rep_len(1:5, 400))
  expect_equal(chosen$path$cv[which.min(chosen$path$cv)], min(chosen$path$cv))
  expect_identical(chosen$path$cv, adapt_partition(x, y, degree = 1, cv = rep_len(1:5, 400), threads = 2)$path$cv)
  pdf(NULL)
  on.exit(dev.off())
  expect_null(plot(plain))
})

test_that("degree 1: copies of a column, constant columns, single rows", {
  set.seed(6)
  x <- cbind(a = runif(50), b = 0, c = 7)
  x[, "b"] <- x[, "a"]
  y <- x[, "a"] + rnorm(50, sd = 0.01)
  fit <- adapt_partition(x, y, degree = 1, range = c(-9, 9), max_depth = 0)
  expect_equal(predict(fit), unname(fitted(lm(y ~ x[, "a"]))), tolerance = 1e-8)
  expect_true(fit$cells$slope[, "a"] > 0.9 && all(fit$cells$slope[, c("b", "c")] == 0))
  expect_identical(predict(adapt_partition(3, 5, degree = 1)), 5)
  expect_identical(predict(adapt_partition(rep(3, 4), c(1, 2, 3, 6), degree = 1)), rep(3, 4))
  expect_error(adapt_partition(data.frame(g = c("a", "b")), 1:2, split = "nested", degree = 1), "`degree` must be 0", class = "granary_error_input")
  expect_error(adapt_partition(1:5, 1:5, degree = 2), "`degree`", class = "granary_error_input")
})

test_that("errors say what is wrong", {
  d <- square_data(13)
  expect_error(adapt_partition(d$x), "`y` must be given", class = "granary_error_input")
  expect_error(adapt_partition(d$x, d$y[-1]), "length 500", class = "granary_error_input")
  expect_error(adapt_partition(d$x, d$y, kappa = -1), "at least 0", class = "granary_error_input")
  expect_error(adapt_partition(d$x, d$y, gamma = 0), "greater than 0", class = "granary_error_input")
  expect_error(adapt_partition(d$x, d$y, cv = 1), "folds", class = "granary_error_input")
  expect_error(adapt_partition(d$x, d$y, range = 2:1), "lower and an upper", class = "granary_error_input")
  expect_error(adapt_partition(d$x, d$y, box = 1:2), "box", class = "granary_error_input")
  expect_error(adapt_partition(d$x, d$y, box = rbind(c(1, 1), c(0, 0))), "second row", class = "granary_error_input")
  expect_error(adapt_partition(matrix(runif(70), 10), 1:10, split = "cube"), "128 children", class = "granary_error_input")
  expect_error(adapt_partition(matrix(runif(10 * 63), 10), 1:10), "at most 62", class = "granary_error_input")
  expect_error(adapt_partition(NA_real_, 1, na = "omit"), "at least one row", class = "granary_error_input")
  expect_error(adapt_partition(Inf, 1), "infinite", class = "granary_error_input")
  fit <- adapt_partition(d$x, d$y)
  expect_error(predict(fit, d$x[, 1, drop = FALSE]), "missing", class = "granary_error_input")
  expect_error(predict(adapt_partition(d$x, d$y, method = "cart"), tau = 1), "threshold", class = "granary_error_input")
  expect_error(tidy(fit, type = "way"), "\"cells\" or \"path\"|cells", class = "granary_error_input")
  expect_error(plot(adapt_partition(cbind(d$x, d$y, d$y), d$y), type = "fit"), "one or two", class = "granary_error_input")
})

test_that("print, summary, plots", {
  d <- square_data(14)
  line <- adapt_partition(d$x[, 1], d$y)
  plane <- adapt_partition(d$x, d$y, cv = 3)
  expect_output(print(line), "cells of level at most")
  expect_output(print(plane), "cross-validated")
  expect_output(print(summary(plane)), "variance explained")
  expect_output(print(update(line, 0.5, 0, refresh = FALSE)), "501 rows")
  expect_equal(sum(tidy(plane)$n), 500)
  expect_named(tidy(plane)[1:4], c("u.lower", "v.lower", "u.upper", "v.upper"))
  pdf(NULL)
  on.exit(dev.off())
  for (fit in list(line, plane, adapt_partition(cbind(d$x, d$y), d$y), update(line, 0.5, 0, refresh = FALSE))) {
    expect_null(plot(fit))
    expect_null(plot(fit, type = "path"))
  }
  skip_if_not_installed("ggplot2")
  expect_s3_class(ggplot2::autoplot(line), "ggplot")
  expect_s3_class(ggplot2::autoplot(plane), "ggplot")
  expect_s3_class(ggplot2::autoplot(plane, type = "path"), "ggplot")
})

test_that("glance and augment say what the fit says", {
  set.seed(3)
  frame <- data.frame(u = runif(300), v = runif(300))
  frame$y <- (frame$u > 0.4) + rnorm(300, sd = 0.2)
  for (method in c("threshold", "cart", "uniform")) {
    fit <- adapt_partition(y ~ u + v, frame, method = method)
    line <- glance(fit)
    expect_identical(line$n_cells, nrow(tidy(fit)) + 0)
    expect_equal(line$r.squared, 1 - sum(residuals(fit)^2) / sum((frame$y - mean(frame$y))^2), tolerance = 1e-10)
    expect_equal(line$sigma^2 * 300, sum(residuals(fit)^2), tolerance = 1e-10)
    rows <- augment(fit, frame)
    expect_equal(rows$.fitted, tidy(fit)$mean[rows$.cell], tolerance = 1e-12)
    expect_equal(rows$.fitted + rows$.resid, frame$y)
  }
})

test_that("bounds of the theory", {
  bound <- adapt_partition_bounds(1000, 10, M = 2, delta = 0.1)
  rate <- 3 / (256 * 4)
  expect_equal(4 * 10 * exp(-rate * 1000 * bound$eta^2 / 10), 0.1)
  # the expectation is the integral of 2 eta times the bounded probability
  integral <- integrate(function(eta) 2 * eta * pmin(1, 40 * exp(-rate * 1000 * eta^2 / 10)), 0, 60, rel.tol = 1e-8, subdivisions = 1000)$value
  expect_equal(bound$expected, integral, tolerance = 1e-5)
  expect_equal(bound$kappa_0, 2 * 2 * sqrt(312 * 3))
  expect_error(adapt_partition_bounds(1000, 0), "at least 1", class = "granary_error_input")
  expect_error(adapt_partition_bounds(1:3, 1:2), "equal lengths", class = "granary_error_input")
  # and it holds
  set.seed(1)
  distance <- replicate(50, {
    x <- runif(200)
    means <- tapply(rbinom(200, 1, 0.5), cut(x, 0:4 / 4), mean)
    sum((means - 0.5)^2) / 4
  })
  expect_lt(mean(distance), adapt_partition_bounds(200, 4)$expected)
})

test_that("jumps are found and the error falls with the number of rows (several seeds)", {
  error <- function(n) mean(vapply(1:6, function(seed) {
    d <- step_data(seed, n)
    at <- (1:2000 - 0.5) / 2000
    fit <- adapt_partition(d$x, d$y, box = c(0, 1))
    mean((predict(fit, at) - (at > 1 / 3))^2)
  }, 0))
  errors <- vapply(c(200, 2000, 20000), error, 0)
  expect_true(all(diff(log(errors)) < -1))
  d <- step_data(1, 20000)
  fit <- adapt_partition(d$x, d$y, box = c(0, 1))
  expect_lt(fit$n_cells, 30)
  expect_lt(errors[3], 0.1 * mean((predict(adapt_partition(d$x, d$y, box = c(0, 1), method = "uniform", max_depth = 4),
                                           1:999 / 1000) - (1:999 / 1000 > 1 / 3))^2))
})

test_that("an update costs the same for many rows as for few", {
  skip_on_cran()
  set.seed(1)
  cost <- function(n) {
    x <- matrix(runif(3 * n), n)
    fit <- adapt_partition(x, rnorm(n), kappa = 1, box = rbind(rep(0, 3), rep(1, 3)), range = c(-5, 5), max_depth = 12)
    new <- matrix(runif(3), 1)
    used <- system.time(for (i in 1:300) fit <- update(fit, new, 0, refresh = FALSE))
    used[["user.self"]] + used[["sys.self"]]
  }
  expect_lt(cost(2e5), 10 * cost(2e3) + 0.2)
})

test_that("a column that matters is found wherever it stands", {
  set.seed(1)
  x <- matrix(runif(2000 * 20), 2000)
  y <- sin(6 * x[, 20]) + rnorm(2000, sd = 0.1)
  expect_message(last <- adapt_partition(x, y), "show an effect")
  first <- suppressMessages(adapt_partition(x[, 20:1], y))
  expect_equal(predict(last, x), predict(first, x[, 20:1]), tolerance = 1e-8)
  expect_gt(cor(predict(last, x), y)^2, 0.9)
  expect_warning(adapt_partition(x, y, columns = "all"), "never tried")
})
