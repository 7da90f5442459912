"""Tests of the Python package, run in an empty folder with the sources' folder as argument; prints TAP."""
import json
import os
import re
import shutil
import subprocess
import sys

import h5py
import numpy

import elastobench as eb
from elastobench import results as reader, tables

ROOT, BEAM = sys.argv[1], "bench/beam:resolution=0.25"
count = 0


def ok(passed, name):
    global count
    count += 1
    print("ok" if passed else "not ok", count, "-", name)


def equal(got, wanted, name):
    ok(got == wanted, name)
    if got != wanted:
        print("# got %r\n# wanted %r" % (got, wanted))


def refused(pattern, name, act, *arguments, **flags):
    try:
        act(*arguments, **flags)
        message = "nothing was raised"
    except eb.Error as error:
        message = str(error)
    ok(re.search(pattern, message), name)
    if not re.search(pattern, message):
        print("# " + message)


def exported(path):
    out = subprocess.run([eb.program(), "export", path, "--to", "json"], capture_output=True, text=True, check=True)
    return json.loads(out.stdout)


def same(array, values):
    """Numbers of an export, where what is not finite is null."""
    values = numpy.array([numpy.nan if value is None else value for value in values], float)
    array = numpy.where(numpy.isfinite(array), array, numpy.nan)
    return len(array) == len(values) and numpy.array_equal(array, values, equal_nan=True)


def check_run(run, told, kinds):
    name = run.solver
    attributes = {key: value for key, value in told.items() if not isinstance(value, (dict, list)) and value is not None}
    differ = [key for key, value in attributes.items() if key != "id" and run.attributes[key] != value]
    equal(differ, [], name + ": attributes are the export's")
    for kind in ("steps", "phases", "counters"):
        table = getattr(run, kind)
        equal(sorted(table.columns), sorted(told[kind]), "%s: columns of %s" % (name, kind))
        ok(all(same(numpy.asarray(table[column]), values) for column, values in told[kind].items()),
           "%s: numbers of %s" % (name, kind))
        wrong = {column: eb.units(table)[column] for column in table.columns
                 if eb.units(table)[column] != kinds["%s/%s" % (kind, column)]}
        equal(wrong, {}, "%s: units of %s" % (name, kind))
    for part, columns in told.get("parts", {}).items():
        ok(all(same(numpy.asarray(run.parts[part][column]), values) for column, values in columns.items()),
           "%s: part %s" % (name, part))
    history = told["residuals"]["steps"]
    ok(len(run.residuals) == len(history) and all(same(run.residuals[s], values) for s, values in enumerate(history)),
       name + ": residuals")
    equal(run.residuals.norm, told["residuals"]["norm"], name + ": their norm")
    ok(all(len(run.residuals.seconds(s)) == len(values) for s, values in enumerate(history)), name + ": and their times")


def schema():
    """The lists in schema.md: attributes, and units of numbers by path with whether a missing one is 0."""
    text = open(os.path.join(ROOT, "harness/results/schema.md")).read()
    attributes = re.search(r"<!-- attributes -->(.*?)<!-- -->", text, re.S).group(1)
    numbers = re.search(r"<!-- numbers -->(.*?)<!-- -->", text, re.S).group(1)
    return (re.findall(r"^- `(\w+)`", attributes, re.M),
            {path: (unit, "0 where it is absent" in rest)
             for path, unit, rest in re.findall(r"^- `(\S+)` \((.*?)\): (.*)$", numbers, re.M)},
            int(re.search(r"^Version (\d+):", text, re.M).group(1)))


def check_schema(results):
    attributes, numbers, version = schema()
    equal(reader.SCHEMA_VERSION, version, "the package reads the schema's version")
    for kind, known in (("phases", reader.PHASES), ("counters", reader.COUNTERS)):
        equal(sorted(known), sorted(path.split("/")[1] for path in numbers if path.startswith(kind + "/")),
              kind + " that may be left out are the schema's")
    run = results.select(solver="newton")[0]
    equal([name for name in attributes if name not in run.attributes], [], "a run has the attributes of the schema")
    equal([path for path in numbers if path.startswith("steps/") and path[6:] not in run.steps.columns], [],
          "and its columns")
    return {path: unit for path, (unit, _) in numbers.items()}


def check_tables(results):
    runs = results.runs
    equal(len(runs), len(results), "a row a run")
    equal(list(runs["options.rtol"])[:2], [1e-8, 1e-4], "options are columns of numbers")
    equal(list(runs["parameters.resolution"])[:2], [0.25, 0.25], "and so are parameters")
    equal([run.options["rtol"] for run in results.select(solver="newton", rtol=1e-4)], [1e-4], "runs are found by an option")
    small = tables.Table({"a": [1, 2, 3], "b": ["x", "y", "z"]}, {"units": {"a": "m", "b": "1"}})
    equal((small.columns, len(small), list(small[["b"]].columns), list(small[small["a"] > 1]["b"]), eb.units(small)["a"]),
          (["a", "b"], 3, ["b"], ["y", "z"], "m"), "the table that stands in for a data frame is read like one")
    equal(repr(small).splitlines(), ["a  b", "1  x", "2  y", "3  z", "3 rows x 2 columns"], "and shown")
    equal(type(runs).__name__, "Table" if tables.pandas is None else "DataFrame", "data frames where pandas is")


def check_without_pandas(results):
    said = subprocess.run([sys.executable, "-c", "import sys; sys.modules['pandas'] = None\nimport elastobench as eb\n"
                           "r = eb.open('r.h5'); print(type(r.runs).__name__, list(r.runs['id']), eb.units(r[0].steps)['wall'])"],
                          capture_output=True, text=True).stdout
    equal(said, "Table %s s\n" % [run.id for run in results], "without pandas the same is there")


def check_other_machine(path):
    shutil.copy(path, "merged.h5")
    with h5py.File("merged.h5", "r+") as file:
        file.create_group("environments/abc").attrs["cpu"] = numpy.bytes_("another")
        list(file["runs"].values())[0].attrs["environment"] = numpy.bytes_("abc")
    with eb.open("merged.h5") as results:
        machines = sorted(run.environment["cpu"] == "another" for run in results)
    equal(machines, [False, False, True], "a run of another machine has its environment")


def check_frames(run):
    frames, mesh = run.frames, run.mesh
    equal(frames.positions.shape, (len(frames), run.nodes, 3), "frames x nodes x 3 positions")
    equal(frames.unit("velocities"), "m/s", "with units")
    ok(numpy.array_equal(frames[-1]["positions"], frames.positions[-1]), "one frame is a row of all")
    equal((frames.step[0], frames.step[-1]), (0, run.steps_done), "from the start to the last step")
    equal((mesh.kind, mesh.elements.shape), ("tetrahedra", (run.elements, 4)), "the mesh")
    equal(mesh.positions.shape, (run.nodes, 3), "and its nodes")
    equal(frames.contacts(0), {}, "no contacts in a scene without")
    moved = numpy.abs(frames.positions[-1] - mesh.positions).max()
    ok(1e-4 < moved < 1, "the beam has moved")
    for act in (lambda: frames[len(frames)], lambda: run.residuals[len(run.residuals)]):
        try:
            act()
            ok(False, "a row too many")
        except IndexError:
            ok(True, "a row too many is an IndexError")


def check_names(results):
    first, second = results[0], results[1]
    ok(results[first.id] is first and results[first.short] is first and results["newton.r0." + first.short] is first,
       "a run by its id, its short id and a part")
    listed = eb.listing(results.path)
    equal([run.short for run in results], list(listed["short"]), "short ids are those of `elastobench list`")
    refused("2 runs with 'bench-beam.n' in their ids: %s, %s" % (re.escape(first.id), re.escape(second.id)),
            "a name of two", lambda: results["bench-beam.n"])
    refused("has no run 'zz'; there are: " + re.escape(first.id), "a name of none", lambda: results["zz"])
    equal(reader.assignments("hello=5,command=python3 x --with=a,b=2"), {"hello": 5, "command": "python3 x --with=a,b=2"},
          "all behind a command's name is the command")
    equal(reader.assignments("a=true,petsc=-x y,z,b=1e-3"), {"a": True, "petsc": "-x y,z", "b": 1e-3},
          "values with commas, numbers, truth values")


def check_bad_files(path):
    refused("cannot open 'none.h5': there is no such file", "no file", eb.open, "none.h5")
    open("text.h5", "w").write("text\n")
    refused("'text.h5' is not a result file", "no HDF5", eb.open, "text.h5")
    refused("is not a result file", "a folder", eb.open, ".")
    with h5py.File("other.h5", "w") as file:
        file["x"] = [1, 2]
    refused("'other.h5' cannot be read: it is HDF5 of something else", "HDF5 of something else", eb.open, "other.h5")
    shutil.copy(path, "later.h5")
    with h5py.File("later.h5", "r+") as file:
        file.attrs["schema_version"] = 99
    refused("'later.h5' .* schema version 99, and this package reads version %d" % reader.SCHEMA_VERSION, "another schema", eb.open,
            "later.h5")
    open("cut.h5", "wb").write(open(path, "rb").read(2000))
    refused("'cut.h5' is not a result file", "a file that is cut off", eb.open, "cut.h5")


def check_empty(results):
    run = results.select(solver="pd")[0]
    equal((run.outcome, len(run.steps), len(run.phases), len(run.residuals), len(run.frames)), ("skipped", 0, 0, 0, 0),
          "a run that was skipped has no rows")
    ok(numpy.isnan(run.median_step), "and no time")
    refused("has no dataset 'steps/nothing'", "a dataset that there is not", run.array, "steps/nothing")
    try:
        run.nothing
        ok(False, "an attribute that there is not")
    except AttributeError as error:
        ok("no attribute 'nothing'" in str(error), "an attribute that there is not is an AttributeError")


def check_commands(path):
    same_file = eb.compare(path, eb.open(path))
    ok(same_file["verdict"] in ("inconclusive", "equivalent") and len(same_file["cases"]) == 2, "compare of result files")
    equal(eb.info("newton")["name"], "newton", "info")
    equal(eb.info(path, run=eb.open(path)[0].short)["solver"], "newton", "info of a run")
    ok("newton" in list(eb.listing("solvers")["name"]), "a listing")
    refused("there is no solver 'newtn' \\(did you mean 'newton'", "the program's message is the error's", eb.run, BEAM, "newtn",
            "x.h5")
    refused("run has no option '--stepps'", "a flag that there is not", eb.run, BEAM, "newton", "x.h5", stepps=3)
    refused("F.h5|exists|overwrite", "a file that is there already", eb.run, BEAM, "newton", path)
    equal([run.threads for run in eb.run(BEAM, "newton", "threads.h5", steps=1, threads=[1, 2])], [1, 2], "a list of threads")
    said = subprocess.run([sys.executable, "-c", "import elastobench as eb; eb.run('%s', 'newton', 'echo.h5', steps=1, echo=True)" % BEAM],
                          capture_output=True, text=True).stderr
    ok("completed, 1 of 1 steps" in said, "progress is shown when it is asked for")
    failed = eb.run(BEAM + ",E=1e6", "vbd:iterations=1", "failed.h5", steps=5)
    equal((failed.summary.code, failed[0].audit), (4, "failed"), "an audit that fails is an answer")
    broken = failed[0].broken
    equal(sorted(broken), sorted(failed[0].audit_rules.split(",")), "each broken rule has its worst")
    ok(all(worst["times"] > 0 and not worst["value"] <= worst["bound"] for worst in broken.values()), "above its bound")
    equal((broken["momentum"]["place"], broken["momentum"]["body"]), ("body", "body"), "and a place")


def check_papers():
    folder = os.path.join(ROOT, "tests/papers")
    told = eb.reproduce("tiny", "tiny", from_=folder, quick=True)
    verdicts = {claim["id"]: claim["verdict"] for claim in told["claims"]}
    ok(len(verdicts) > 2 and set(verdicts.values()) <= {"reproduced", "not reproduced", "not comparable"}, "claims of a paper")
    table = eb.claims("tiny", "tiny", from_=folder, quick=True)
    equal(dict(zip(table["id"], table["verdict"])), verdicts, "and again as a table, from what was left")
    with eb.open("tiny/tiny.h5") as results:
        ok("completed" in [run.outcome for run in results], "whose runs are opened")
    refused("paper 'no-paper'", "a paper that there is not", eb.reproduce, "no-paper")


def check_precision():
    study = eb.precision(BEAM, ["newton", "semi-implicit"], "precision", time=0.1, budget=3)
    trials = study["trials"]
    equal(sorted(set(trials["solver"])), ["newton", "semi-implicit"], "trials of a study")
    ok((numpy.asarray(trials["cpu"]) > 0).all() and len(trials) == 6, "with their costs")


def check_program():
    here = os.environ.pop("ELASTOBENCH")
    before = os.environ["PATH"]
    os.environ["PATH"] = os.path.dirname(here)
    equal(eb.program(), os.path.realpath(here), "the program is found on PATH")
    os.environ["ELASTOBENCH"] = "/no/such/program"
    refused("ELASTOBENCH, '/no/such/program', cannot be run", "a variable that names none", eb.info, "newton")
    del os.environ["ELASTOBENCH"]
    os.environ["PATH"] = "/nowhere"
    shutil.copytree(os.path.join(ROOT, "python/elastobench"), "alone/a/b/elastobench")
    alone = subprocess.run([sys.executable, "-c", "import elastobench as eb\ntry: eb.program()\nexcept eb.Error as e: print(e)"],
                           env={**os.environ, "PYTHONPATH": "alone/a/b"}, capture_output=True, text=True)
    ok("there is no program 'elastobench': install it (make install)" in alone.stdout, "no program says what to do")
    os.environ["PATH"], os.environ["ELASTOBENCH"] = before, here
    version = subprocess.run([here, "--version"], capture_output=True, text=True).stdout
    ok(re.search(r"\b%s\b" % re.escape(eb.__version__), version), "the package has the program's version")


def check_plots():
    curves = {"a & b's": [(2, 1e-3), (1, 1e-2)], "vanished": [(0, 1)]}
    try:
        import matplotlib.figure
        eb.plot("curve.png", curves, "x", "y", "title")
        ok(open("curve.png", "rb").read(4) == b"\x89PNG", "matplotlib draws a curve")
    except ImportError:
        ok(True, "matplotlib draws a curve # SKIP not installed")
    sys.modules["matplotlib.figure"] = None
    eb.plot("curve.svg", curves, "x", "y", "title")
    drawn = open("curve.svg").read()
    ok("a &amp; b" in drawn and "vanished" not in drawn, "gnuplot does, to the letter, and none without points")
    refused("its name ends in .png, .svg, .pdf", "a picture of another kind", eb.plot, "curve.bmp", {"a": [(1, 1)]})
    refused("nothing to draw for 'no.png'", "no points", eb.plot, "no.png", {"a": []})


written = eb.run(BEAM, ["newton", "newton:rtol=1e-4", "pd"], "r.h5", steps=4, overwrite=True)
equal((len(written), written.summary.code), (3, 0), "a run is opened when it has ended")
equal([row["outcome"] for row in written.summary["runs"]], [run.outcome for run in written], "with the table of the command")
equal([row["median_step_seconds"] for row in written.summary["runs"]][:2], [run.median_step for run in written][:2],
      "the median step is the program's")
with eb.open("r.h5") as results:
    kinds = check_schema(results)
    for run, told in zip(results, exported("r.h5")["runs"]):
        if told["steps_done"]:
            check_run(run, told, kinds)
    check_tables(results)
    check_without_pandas(results)
    equal([list(results.scenes[name])[0] for name in ("name", "nodes", "runs")], ["bench/beam", 99, 3], "scenes")
    check_frames(results[0])
    check_names(results)
    check_empty(results)
    equal(results.environment["cores"], exported("r.h5")["environment"]["cores"], "the environment")
    equal(results[0].units["dt"], "s", "attributes have units")
written.close()
with eb.run("verschoor2019/rings:bodies=2", "contact-al", "contact.h5", steps=30) as contact:
    frames = contact[0].frames
    first = [frames.contacts(i) for i in range(len(frames))]
    ok(all(len(c["vertices"]) == len(c["force"]) for c in first) and first[-1]["weight"].shape[1:] == (4,),
       "contacts of a frame have a row each")
    equal(sum(len(c["kind"]) for c in first), len(contact[0].array("frames/contacts/kind")), "and those of all frames are all")
check_other_machine("r.h5")
check_bad_files("r.h5")
check_commands("r.h5")
check_papers()
check_precision()
check_program()
check_plots()
print("1..%d" % count)
