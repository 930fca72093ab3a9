"""What the benchmarks of sentences share: trainings measured by processor time, which other work on the machine does not
change, and rows of what is measured beside what it should be."""
import json
import os
import tempfile
from collections import namedtuple

import tools

Training = namedtuple("Training", "cpu seconds rss start rounds end scores metrics predicted")


def events_of(log):
    with open(log, encoding="utf-8") as file:
        events = [json.loads(line) for line in file]
    return ([e for e in events if e["event"] == "start"][0], [e for e in events if e["event"] == "round"],
            [e for e in events if e["event"] == "end"][-1], {e["round"]: e for e in events if e["event"] == "validate"})


def train(task, data, *options, test=None, watch=None, ranks=1, threads=1):
    """Trains, and where `test` is given predicts it; with `watch` every round is scored on that file."""
    with tempfile.TemporaryDirectory() as d:
        log, model, metrics = (os.path.join(d, name) for name in ("log", "model", "metrics"))
        more = [f"--validate={watch}"] if watch else []
        r = tools.bda("train", "--quiet", f"--task={task}", f"--log={log}", f"--threads={threads}", *more, *options,
                      data, model, ranks=ranks, status=(0, 3))
        start, rounds, end, scores = events_of(log)
        found = predicted = None
        if test:
            predicted = tools.bda("predict", "--quiet", f"--metrics={metrics}", f"--threads={threads}", model, test,
                                  os.path.join(d, "out"), ranks=ranks)
            with open(metrics, encoding="utf-8") as file:
                found = json.load(file)
        return Training(r.cpu, r.seconds, r.rss, start, rounds, end, scores, found, predicted)


def training_cpu(task, data, rounds, *options):
    """Processor time of so many rounds, without reading and the making of features, and the training."""
    options = [*options, "--gap=1e-12", "--gap-of=objective"]
    long = train(task, data, *options, f"--max-rounds={rounds}")
    return long.cpu - train(task, data, *options, "--max-rounds=0").cpu, long


def first(scores, measure, least):
    """The first round with that score, or None."""
    return next((t for t in sorted(scores) if scores[t].get(measure, 0) >= least), None)


class Report:
    """Rows: what, measured, the goal and whether it is met."""

    def __init__(self, title):
        self.title, self.rows = title, []

    def add(self, what, value, goal=None, most=False, digits=2):
        met = "" if goal is None else "yes" if value is not None and (value <= goal if most else value >= goal) else "no"
        shown = "never" if value is None else f"{value:.{digits}f}"
        aim = "" if goal is None else f"{'<=' if most else '>='} {goal:g}"
        self.rows.append([what, shown, aim, met])
        print(f"  {what}: {shown} {aim} {met}", flush=True)

    def end(self):
        tools.table(self.title, ["", "measured", "goal", "met"], self.rows)
