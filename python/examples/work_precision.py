"""From a run to a work-precision plot: error of a step against the time that it took. Cells as notebooks have them (# %%)."""
# %% Every solver at several tolerances
import itertools

import elastobench as eb

tolerances = ("1e-1", "1e-2", "1e-4", "1e-6", "1e-8")
solvers = ["%s:rtol=%s" % pair for pair in itertools.product(("newton", "mfem", "lbfgs"), tolerances)]
results = eb.run("bench/beam:resolution=0.25", solvers, "work-precision.h5", steps=20, overwrite=True)

# %% What became of them
table = results.runs
print(table[["short", "solver", "options.rtol", "outcome", "audit", "error"]])

# %% A point a run that has kept the rules of the audit: median time of a step, and the audited error of its equation
curves = {}
for run in results.select(outcome="completed", audit="passed"):
    curves.setdefault(run.solver, []).append((1e3 * run.median_step, run.error))

# %%
print(eb.plot("work-precision.png", curves, xlabel="median step (ms)", ylabel="error", title="bench/beam"))
