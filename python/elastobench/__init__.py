"""elastobench from Python: result files, the program's commands, and solvers of one's own.

    import elastobench as eb

    results = eb.run("bench/beam:resolution=0.25", solvers=["newton", "semi-implicit"], steps=20)
    results = eb.open("r.h5")                # the same of a file that is there
    results.runs                             # a row a run, options as columns
    results["706b"].steps["wall"]            # figures by step; .attrs["units"] has their units

The README beside this package has the rest.
"""
from .client import Done, Scene, Solver, Step, contact_rows, serve
from .errors import Error
from .plots import plot
from .program import Outcome, claims, command, compare, info, listing, precision, program, reproduce, run
from .results import Frames, Mesh, Residuals, Results, Run, open
from .tables import Table, units
from .version import __version__

__all__ = ["Done", "Error", "Frames", "Mesh", "Outcome", "Residuals", "Results", "Run", "Scene", "Solver", "Step",
           "Table", "claims", "command", "compare", "contact_rows", "info", "listing", "open", "plot", "precision",
           "program", "reproduce", "run", "serve", "units", "__version__"]
