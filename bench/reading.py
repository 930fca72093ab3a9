"""Reading: seconds to load text, packed text and the binary format, beside liblinear-train on the same text.

liblinear's loading ends when it closes the data file; its two passes over the text are both in it. Ours is
load_seconds of the run log. One round of training is all that follows.
"""
import os

import tools


def ours(path, ranks=1):
    logs = [tools.train(path, "--max-rounds=1", ranks=ranks).start for _ in range(tools.REPEATS)]
    return min(start["load_seconds"] for start in logs)


def run(options):
    rows = []
    for name in options.shapes:
        text = tools.generated(name)
        size = os.path.getsize(text)
        theirs = min(r.loaded for r in tools.liblinear_one_pass(text, "hinge"))
        one, two = ours(text), ours(text, ranks=2)
        binary, gzip = ours(tools.converted(text)), ours(tools.packed(text))
        rows.append([name, tools.mega(size), size / 1e6 / theirs, size / 1e6 / one, theirs / one, one / two,
                     one / binary, theirs / gzip])
    tools.table("Reading: speeds in MB of text a second, and how many times as fast",
                ["data", "text", "liblinear", "text, 1 core", "over liblinear", "2 ranks over 1", "binary over text",
                 "gzip over liblinear's plain"], rows)
