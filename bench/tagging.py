"""Taggers on UD English-EWT, UD Portuguese-Bosque and CoNLL-2000, and beside python-crfsuite with the same templates.

Seconds are of the processor, without reading; accuracies are means over seeds (BDA_BENCH_REPEATS of them). The rows
about python-crfsuite need it: BDA_CRFSUITE names a Python that has it (pip install python-crfsuite).
"""
import os
import re
import subprocess
import sys
import tempfile

import corpora
import tools

# The templates of CRFsuite's example for chunking, in the syntax of CRF++.
WORDS = [[-2], [-1], [0], [1], [2], [-1, 0], [0, 1]]
TAGS = [[-2], [-1], [0], [1], [2], [-2, -1], [-1, 0], [0, 1], [1, 2], [-2, -1, 0], [-1, 0, 1], [0, 1, 2]]
PEER = r"""
import sys, time, pycrfsuite
words, tags, path, kind, test, steps = eval(sys.argv[1]), eval(sys.argv[2]), sys.argv[3], *sys.argv[4:7]
def sentences(path):
    for block in open(path, encoding="utf-8").read().split("\n\n"):
        rows = [line.split() for line in block.split("\n") if line.strip()]
        if rows:
            yield rows
def features(rows, t):
    def at(column, k):
        return rows[t + k][column] if 0 <= t + k < len(rows) else f"_B{k}"
    return [f"{c}{span}=" + "|".join(at(c, k) for k in span) for c, spans in ((0, words), (1, tags)) for span in spans]
trainer = pycrfsuite.Trainer(algorithm=kind, verbose=True)
for rows in sentences(path):
    trainer.append([features(rows, t) for t in range(len(rows))], [row[-1] for row in rows])
trainer.set_params({"max_iterations": int(steps), **({"c1": 0, "c2": 1} if kind == "lbfgs" else {})})
begin = time.process_time()
trainer.train(test + ".model")
print("cpu", time.process_time() - begin)
tagger = pycrfsuite.Tagger()
tagger.open(test + ".model")
right = total = 0
for rows in sentences(sys.argv[7]):
    guess = tagger.tag([features(rows, t) for t in range(len(rows))])
    right += sum(a == row[-1] for a, row in zip(guess, rows))
    total += len(rows)
print("accuracy", right / total)
"""


def mean(values):
    values = list(values)
    return sum(values) / len(values)


def seeds():
    return range(1, tools.REPEATS + 1)


def accuracy(report, name, data, test, goal, *options, measure="token_accuracy"):
    runs = [corpora.train("tag", data, f"--seed={seed}", *options, test=test) for seed in seeds()]
    report.add(name, 100 * mean(r.metrics[measure] for r in runs), goal)
    return runs[0]


def peer():
    python = os.environ.get("BDA_CRFSUITE", sys.executable)
    if subprocess.run([python, "-c", "import pycrfsuite"], capture_output=True).returncode:
        print("  (no python-crfsuite: BDA_CRFSUITE names a Python that has it)", flush=True)
        return None
    return python


def crfsuite(python, kind, steps, train, test):
    with tempfile.TemporaryDirectory() as d:
        done = subprocess.run([python, "-c", PEER, repr(WORDS), repr(TAGS), train, kind, os.path.join(d, "peer"),
                               str(steps), test], capture_output=True, text=True, check=True)
    number = {key: float(re.findall(key + r" ([0-9.eE+-]+)", done.stdout)[-1]) for key in ("cpu", "accuracy")}
    losses = re.findall(r"[Ll]oss: ([0-9.]+)", done.stdout)
    return number["cpu"], number["accuracy"], float(losses[-1]) if losses else None


def template(path):
    spans = [(0, s) for s in WORDS] + [(1, s) for s in TAGS]
    with open(path, "w", encoding="utf-8") as file:
        for k, (column, span) in enumerate(spans):
            file.write(f"U{k:02}:" + "/".join(f"%x[{at},{column}]" for at in span) + "\n")
        file.write("B\n")


def beside_crfsuite(report, train, test):
    python = peer()
    if not python:
        return
    with tempfile.TemporaryDirectory() as d:
        path = os.path.join(d, "template")
        template(path)
        same = [f"--template={path}"]
        cpu, right, _ = crfsuite(python, "ap", 10, train, test)
        scores = corpora.train("tag", train, *same, "--max-rounds=15", "--gap=1e-9", watch=test).scores
        rounds = corpora.first(scores, "token_accuracy", right)
        report.add(f"SSVM: rounds to the {100 * right:.2f} % of crfsuite's perceptron", rounds, digits=0)
        if rounds:
            own, _ = corpora.training_cpu("tag", train, rounds, *same)
            report.add(f"... processor time over its {cpu:.1f} s", own / cpu, 0.25, most=True)
            tokens = sum(1 for line in open(train, encoding="utf-8") if line.strip())
            report.add("... a visit and its evaluation, ns a token", 1e9 * own / (tokens * (rounds + 1)), digits=0)
        cpu, right, loss = crfsuite(python, "lbfgs", 50, train, test)
        crf = same + ["--loss=logistic", "--cost=0.5"]
        long = corpora.train("tag", train, *crf, "--max-rounds=5", "--gap=1e-9")
        rounds = next((r["round"] for r in long.rounds if r["primal"] / 0.5 <= loss), None)
        report.add(f"CRF: rounds to the loss of 50 steps of its L-BFGS, {loss:.0f}", rounds, digits=0)
        if rounds:
            own, _ = corpora.training_cpu("tag", train, rounds, *crf)
            report.add(f"... processor time over its {cpu:.1f} s", own / cpu, 0.1, most=True)


def passes(report, train):
    """Of a CRF to 1 % of the optimum: P* is above the dual."""
    run = corpora.train("tag", train, "--loss=logistic", "--max-rounds=12", "--gap=1e-4")
    least = -run.end["dual"]
    report.add("EWT CRF: passes to P* (1 + 1e-2)",
               next((r["round"] for r in run.rounds if r["primal"] <= 1.01 * least), None), 8, most=True, digits=0)


def agreement(report, train):
    with tempfile.TemporaryDirectory() as d:
        small = os.path.join(d, "small.conllu")
        with open(train, encoding="utf-8") as source, open(small, "w", encoding="utf-8") as target:
            target.write("\n\n".join(source.read().split("\n\n")[:500]) + "\n\n")
        found = [corpora.train("tag", small, "--loss=logistic", "--gap=1e-6", "--gap-of=objective", *more).end["primal"]
                 for more in ([], ["--method=lbfgs"], ["--method=tron"])]
    report.add("500 sentences: optima of SDCA, L-BFGS and TRON differ by 1e-6 times", 1e6 * (max(found) / min(found) - 1),
               10, most=True)


def blocks(report, train, test):
    for name, most, *options in (("auto", 14), ("bda as in the paper", 20, "--method=bda"),
                                 ("admm", 20, "--method=admm"), ("perceptron", 20, "--method=perceptron"),
                                 ("average", 1, "--method=average")):
        gap = [] if name == "perceptron" else ["--gap=1e-9"]
        run = corpora.train("tag", train, "--blocks=8", f"--max-rounds={most}", *gap, *options, watch=test)
        rounds = corpora.first(run.scores, "token_accuracy", 0.949)
        best = max(s["token_accuracy"] for s in run.scores.values())
        report.add(f"8 blocks, {name}: rounds to 94.9 % (best {100 * best:.2f} % in {most})", rounds,
                   14 if name == "auto" else None, most=True, digits=0)


def two(report, train, test):
    alone = corpora.train("tag", train, "--blocks=2", "--max-rounds=8", "--gap=1e-9", test=test)
    report.add("prediction, tokens a second of processor time",
               alone.metrics["tokens"] / alone.predicted.cpu, digits=0)
    for what, more in (("ranks", {"ranks": 2}), ("threads", {"threads": 2})):
        run = corpora.train("tag", train, "--blocks=2", "--max-rounds=8", "--gap=1e-9", test=train, **more)
        one = corpora.train("tag", train, "--blocks=2", "--max-rounds=8", "--gap=1e-9", test=train)
        report.add(f"2 {what}: training, seconds over those of 1", run.rounds[-1]["seconds"] / one.rounds[-1]["seconds"],
                   0.65, most=True)
        report.add(f"2 {what}: prediction", run.predicted.seconds / one.predicted.seconds, 0.65, most=True)


def run(_options):
    ewt, ewt_test = tools.corpus("ud-en-ewt", "train.conllu"), tools.corpus("ud-en-ewt", "test.conllu")
    report = corpora.Report("Tagging")
    accuracy(report, "EWT, UPOS: test accuracy", ewt, ewt_test, 95.2)
    accuracy(report, "EWT, UPOS, CRF", ewt, ewt_test, 95.0, "--loss=logistic")
    accuracy(report, "Bosque, UPOS", tools.corpus("ud-pt-bosque", "train.conllu"),
             tools.corpus("ud-pt-bosque", "test.conllu"), 96.6)
    chunks, chunks_test = tools.corpus("conll2000", "train.txt"), tools.corpus("conll2000", "test.txt")
    accuracy(report, "CoNLL-2000: F1", chunks, chunks_test, 93.7, measure="chunk_f1")
    accuracy(report, "CoNLL-2000, C = 0.02: F1", chunks, chunks_test, 93.9, "--cost=0.02", measure="chunk_f1")
    accuracy(report, "CoNLL-2000, CRF, C = 0.5: F1", chunks, chunks_test, 93.9, "--loss=logistic", "--cost=0.5",
             measure="chunk_f1")
    beside_crfsuite(report, chunks, chunks_test)
    passes(report, ewt)
    agreement(report, ewt)
    blocks(report, ewt, ewt_test)
    two(report, ewt, ewt_test)
    report.end()
