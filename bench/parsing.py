"""Parsers on UD English-EWT and UD Portuguese-Bosque: accuracy, time, memory, blocks.

Seconds are of the processor unless a row is about ranks and threads. With UPOS only: the column XPOS and FEATS emptied,
which leaves the templates of McDonald et al. and further ones.
"""
import os
import tempfile

import corpora
import tools


def without_fine_tags(path, target):
    with open(path, encoding="utf-8") as source, open(target, "w", encoding="utf-8") as file:
        for line in source:
            columns = line.split("\t")
            if len(columns) == 10:
                columns[4] = columns[5] = "_"
            file.write("\t".join(columns))
    return target


def full(report, train, test):
    run = corpora.train("parse", train, test=test)
    for measure, goal in (("uas", 88.0), ("las", 86.3), ("uas_no_punct", 88.7)):
        report.add(f"EWT: {measure}", 100 * run.metrics[measure], goal)
    build = corpora.train("parse", train, "--max-rounds=0", "--labels=no").cpu
    alone = corpora.train("parse", train, "--labels=no").cpu
    report.add("EWT: making of features, seconds", build, 45, most=True, digits=1)
    report.add("EWT: training, seconds", alone - build, 40, most=True, digits=1)
    report.add("EWT: relations, seconds", run.cpu - alone, digits=1)
    report.add("EWT: memory, GB", run.rss / 1e9, 2.5, most=True)
    speed(report, "EWT", run, 14000)


def speed(report, name, run, goal):
    """Without reading the model."""
    report.add(f"{name}: prediction with relations, tokens a second", run.metrics["tokens"] / run.predicted.cpu, goal,
               digits=0)


def upos_only(report, train, test, directory):
    data, new = (without_fine_tags(path, os.path.join(directory, name)) for path, name in ((train, "a"), (test, "b")))
    for trees, goal in (("projective", 85.5), ("any", 84.3)):
        run = corpora.train("parse", data, f"--trees={trees}", "--labels=no", test=new)
        report.add(f"EWT, UPOS only, {trees} trees: uas", 100 * run.metrics["uas"], goal)
    speed(report, "EWT, UPOS only", run, 40000)
    return data, new


def blocks(report, train, test):
    """Rounds to within 0.3 of what auto ends with."""
    target = None
    for name, *options in (("auto",), ("bda, trees sought in visits", "--method=bda", "--inference=visit"),
                           ("bda as in the paper", "--method=bda"), ("admm", "--method=admm"),
                           ("perceptron", "--method=perceptron"), ("average", "--method=average")):
        most = 1 if name == "average" else 8
        gap = [] if name == "perceptron" else ["--gap=1e-9"]
        run = corpora.train("parse", train, "--trees=any", "--labels=no", "--loss=squared-hinge", "--blocks=8",
                            f"--max-rounds={most}", *gap, *options, watch=test)
        best = max(s["uas"] for s in run.scores.values())
        target = target or best - 0.003
        report.add(f"8 blocks, {name}: rounds to {100 * target:.1f} % (best {100 * best:.2f} % in {most})",
                   corpora.first(run.scores, "uas", target), 4 if name == "auto" else None, most=True, digits=0)


def two(report, train, test):
    for what, more in (("ranks", {"ranks": 2}), ("threads", {"threads": 2})):
        run, one = (corpora.train("parse", train, "--blocks=2", "--labels=no", "--max-rounds=3", "--gap=1e-9",
                                  test=test, **options) for options in (more, {}))
        report.add(f"2 {what}: training, seconds over those of 1",
                   run.rounds[-1]["seconds"] / one.rounds[-1]["seconds"], 0.65, most=True)
        report.add(f"2 {what}: prediction with reading of the model", run.predicted.seconds / one.predicted.seconds, 0.65,
                   most=True)


def run(_options):
    train, test = tools.corpus("ud-en-ewt", "train.conllu"), tools.corpus("ud-en-ewt", "test.conllu")
    report = corpora.Report("Parsing")
    full(report, train, test)
    bosque = corpora.train("parse", tools.corpus("ud-pt-bosque", "train.conllu"),
                           test=tools.corpus("ud-pt-bosque", "test.conllu"))
    report.add("Bosque: uas", 100 * bosque.metrics["uas"], 87.6)
    report.add("Bosque: uas_no_punct", 100 * bosque.metrics["uas_no_punct"], 89.8)
    with tempfile.TemporaryDirectory() as d:
        data, new = upos_only(report, train, test, d)
        blocks(report, data, new)
    two(report, train, test)
    report.end()
