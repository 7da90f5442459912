"""Recomputes every audit of result files from the files alone and compares it with their columns; prints TAP.

    oracle.py [--show] FILE.h5 ...

A run passes when in every step with a finite state each figure agrees; it must have been stored with `--frames all`. --show prints the largest
difference of every figure over what it may be."""
import sys

import h5py
import numpy as np

import audit
import result

RELATIVE = 1e-9
# figures that have no column: they are to be 0
OWN = ("(explicit colliders)",)
IMPLICIT_EULER, STATIC, LINEARIZED = range(3)  # eb_equation: their residual is that of the column `residual`; static steps have no inertia


def allowed(figure, stored):
    return RELATIVE * max(abs(figure.value), abs(stored)) + figure.noise


class Comparison:
    def __init__(self, run, donor):
        self.donor = donor
        self.run, self.auditor = run, audit.Auditor(run)
        self.first, self.worst, self.steps = None, {}, 0

    def look(self, step, name, figure, stored):
        off, most = abs(figure.value - stored), allowed(figure, stored)
        share = off / most if most > 0 else (0.0 if off == 0 else np.inf)
        self.worst[name] = max(self.worst.get(name, 0), share)
        if self.first is None and not share <= 1:
            self.first = f"step {step}: {name} is {stored!r}, recomputed {figure.value!r}, may differ by {most:.2g}"

    def same(self, frame, state, where):
        """The frame has a state that the file has in doubles elsewhere, bit by bit."""
        at, nodes = self.run.at(frame), len(state["positions"])
        for name in ("positions", "velocities"):
            if not np.array_equal(at[name][:nodes], state[name]):
                self.first = f"frame {frame} does not have the {name} of {where}"

    def start(self):
        """Frame 0 is the initial state: the scene's, or the one of another run that the run starts from, which it keeps."""
        if not self.run.donor:
            self.same(0, self.run.scene.initial, "scenes/.../initial")
        elif not self.run.samples:
            self.same(0, self.run.checkpoint(0), "its own checkpoint")
            if self.donor is not None:
                self.same(0, self.donor.checkpoint(int(self.run.attrs["from_steps"])), "its donor's checkpoint")

    def sample(self, frame):
        """The state before this frame is the one that the donor had."""
        if self.donor is not None:
            row = self.run.row[int(self.run.frames["step"][frame])]
            self.same(frame - 1, self.donor.checkpoint(int(self.run.steps["from_step"][row])), "its donor's checkpoint")

    def step(self, frame):
        columns = self.run.steps
        step = int(self.run.frames["step"][frame])
        row = self.run.row[step]
        if not columns["finite"][row]:
            return
        self.steps += 1
        static = is_static(self.run, row)
        figures = self.auditor.audit(frame, static, columns["equation"][row] == LINEARIZED)
        if "equation_residual" not in figures and columns["equation"][row] in (IMPLICIT_EULER, STATIC):
            figures["equation_residual"] = self.auditor.declared(frame, static, figures["residual_relative"])
        for name in skipped(self.run):
            figures.pop(name, None)
        for name, figure in figures.items():
            self.look(step, name, figure, 0.0 if name in OWN else float(columns[name][row]))


def is_static(run, row):
    static = "static=true" in run.attrs["options"].split(",")
    return bool(run.steps["equation"][row] == STATIC) or static


def skipped(run):
    """Columns that are younger than the program that wrote the run."""
    return () if run.attrs.get("equation") else ("held_error", "update_error", "equation_residual")


def expected_frames(run):
    """The numbers of the steps that frames end: 0 1 2 .., of samples 0 1, 1 2, 2 3, .."""
    count = len(run.frames["step"])
    return (np.arange(count) + 1) // 2 if run.samples else np.arange(count)


def compare(run, donor):
    comparison = Comparison(run, donor)
    if not np.array_equal(run.frames["step"], expected_frames(run)):
        comparison.first = "there is no frame of every step; run it with --frames all"
        return comparison
    comparison.start()
    for frame in range(1, len(run.frames["step"]), 2 if run.samples else 1):
        if run.samples:
            comparison.sample(frame)
        comparison.step(frame)
    if comparison.first is None and comparison.steps == 0:
        comparison.first = "there is no step to recompute"
    return comparison


def main(arguments):
    show, number, failed = "--show" in arguments, 0, 0
    for path in (name for name in arguments if not name.startswith("--")):
        with h5py.File(path, "r") as file:
            for name in file["runs"]:
                number += 1
                why = result.skipped(file, name)
                if why:
                    print(f"ok {number} - {name}: there is nothing to recompute # SKIP {why}")
                    continue
                run = result.Run(file, name)
                comparison = compare(run, result.Run(file, run.donor) if run.donor in file["runs"] else None)
                good = comparison.first is None
                failed += not good
                print(f"{'ok' if good else 'not ok'} {number} - {name}: {comparison.steps} steps, {len(comparison.worst)} figures")
                if not good:
                    print(f"# {comparison.first}")
                for figure, share in sorted(comparison.worst.items()) if show else ():
                    print(f"#   {figure} {share:.2g}")
    print(f"1..{number}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
