"""The program's commands as functions. Flags are keyword arguments: steps=20 is --steps 20, overwrite=True --overwrite, a list
is a flag for each, and '_' stands for '-': contact_problem=3; Python's own words end in one: from_="F.h5:RUN@20".
`elastobench COMMAND --help` lists them."""
import json
import os
import shutil
import subprocess
import sys
import threading

from . import tables
from .errors import Error
from .results import Results

TROUBLE, USAGE, NOTHING = 1, 2, 6  # exit codes of the program; those between the last two are answers


_ONE_FLAG = ("threads", "checkpoints")  # whose values are one word with commas


class Outcome(dict):
    """What a command has answered in JSON, and the exit code that it ended with."""

    def __init__(self, answer, code):
        super().__init__(answer)
        self.code = code


def program():
    """The path of the program: that in the variable ELASTOBENCH, or the one on PATH, or the one that was installed, or built,
    with this package."""
    named = os.environ.get("ELASTOBENCH")
    here = os.path.dirname(os.path.abspath(__file__))
    beside = [os.path.join(here, *[".."] * 4, "bin", "elastobench"), os.path.join(here, "..", "..", "build", "elastobench")]
    for path in [named] if named else [shutil.which("elastobench"), *beside]:
        if path and os.access(path, os.X_OK) and os.path.isfile(path):
            return os.path.realpath(path)
    raise Error("the program in the variable ELASTOBENCH, '%s', cannot be run" % named if named else
                "there is no program 'elastobench': install it (make install), put its folder on PATH, or name it in the "
                "variable ELASTOBENCH")


def command(name, *words, echo=False, **flags):
    """Runs `elastobench NAME WORDS FLAGS --format json`. What it answers is an Outcome, whose code is among those of the README:
    a solver that failed, an audit that failed and a regression are answers. Trouble and wrong usage are an Error. With echo the
    program's messages and progress appear as they come."""
    line = [program(), name, *_flags(flags), "--format", "json", *map(os.fspath, words)]
    code, out, messages = _run(line, echo)
    try:
        answer = json.loads(out)
    except ValueError:
        answer = None
    if answer is None or code in (TROUBLE, USAGE) or code not in range(NOTHING + 1):
        raise Error(_said(code, messages))
    return Outcome(answer if isinstance(answer, dict) else {"answer": answer}, code)


def _run(line, echo):
    """The exit code, what was written to the standard output, and the lines of the error output."""
    with subprocess.Popen(line, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          encoding="utf-8", errors="replace") as process:
        out = []
        reader = threading.Thread(target=lambda: out.append(process.stdout.read()))
        reader.start()
        messages = []
        for message in process.stderr:
            messages.append(message)
            if echo:
                print(message, end="", file=sys.stderr, flush=True)
        reader.join()
    return process.returncode, out[0], messages


def _said(code, messages):
    """The program's message, which is the last that it has written to its error output."""
    lines = [line.strip() for line in messages if line.strip()]
    errors = [line[len("elastobench: "):] for line in lines if line.startswith("elastobench: ")]
    return (errors or lines or ["it ended with exit code %d and said nothing" % code])[-1]


def _flags(flags):
    out = []
    for name, value in flags.items():
        flag = "--" + name.rstrip("_").replace("_", "-")
        if value is None or value is False:
            continue
        if isinstance(value, (list, tuple)) and name in _ONE_FLAG:
            value = ",".join(map(str, value))
        for one in value if isinstance(value, (list, tuple)) else [value]:
            out += [flag] if one is True else [flag, os.fspath(one) if isinstance(one, os.PathLike) else str(one)]
    return out


def _list(value):
    if value is None:
        return []
    return [value] if isinstance(value, (str, os.PathLike)) else list(value)


def run(scenes, solvers=None, output=None, **flags):
    """Runs solvers on scenes (or suites), and opens the result file. Its `summary` is what the command answered: rows like those
    of its table, with median_step_seconds, class and rank; summary.code tells of solvers and audits that failed.

        eb.run("bench/beam:resolution=0.25", ["newton", "pd:iterations=20"], "r.h5", steps=50, overwrite=True)

    Without an output a file named after the time is made in the current folder."""
    summary = command("run", *_list(scenes), solver=_list(solvers), output=output, **flags)
    results = Results(summary["file"])
    results.summary = summary
    return results


def compare(base, head, scenes=None, solvers=None, **flags):
    """Whether head is slower than base: two programs, revisions, result files or opened results. The Outcome has "verdict" and
    "cases", each with its own verdict and reasons."""
    base, head = (side.path if isinstance(side, Results) else side for side in (base, head))
    return command("compare", base, head, *_list(scenes), solver=_list(solvers), **flags)


def precision(scenes, solvers, output="precision", **flags):
    """Error against cost: every solver at several time steps and tolerances, each measured against a reference motion. The
    Outcome's "trials" is a table of all trials: scene, solver, dt, options, state, error, cpu, products, factorizations."""
    outcome = command("precision", *_list(scenes), solver=_list(solvers), output=output, **flags)
    outcome["trials"] = tables.of_records([
        {"scene": scene["scene"], "parameters": scene["parameters"], "solver": solver["solver"],
         **{name: trial[name] for name in ("dt", "options", "state", "why", "error", "speed_error")}, **trial["cost"]}
        for scene in outcome["scenes"] for solver in scene["solvers"] for trial in solver["trials"]])
    return outcome


def reproduce(papers, output="reproduction", **flags):
    """A paper's tables beside ours, and its claims with verdicts, as the program answers them."""
    return command("reproduce", *_list(papers), output=output, **flags)


def claims(paper, folder="reproduction", **flags):
    """The claims of a paper with the verdicts of what `reproduce`, with the same flags, has left in the folder, a row each;
    nothing is run."""
    return tables.of_records(reproduce(paper, folder, judge=True, **flags)["claims"])


def info(name, **flags):
    """What the program tells of a scene, solver, material, suite, claim or result file."""
    return command("info", name, **flags)


def listing(kind, **flags):
    """What there is of a kind ("scenes", "solvers", "materials", "suites", "claims"), or the runs of a result file; a row each."""
    answer = command("list", kind, **flags)
    return tables.of_records(answer["runs"] if "runs" in answer else answer[kind])
