"""Reading: seconds to load text, packed text and the binary format, beside liblinear-train on the same text.

liblinear's loading ends when it closes the data file; its two passes over the text are both in it. Ours is
load_seconds of the run log. One round of training is all that follows. What is compared takes turns.

How much faster two ranks can be than one is not for a program alone to say: they share the memory. Beside it is what
two processes gain that do nothing but read the file, each its half, and count the lines.
"""
import os
import time

import tools

PIECE = 1 << 19


def count_lines(path, begin, end):
    fd, buffer, lines = os.open(path, os.O_RDONLY), bytearray(PIECE), 0
    while begin < end:
        got = os.preadv(fd, [memoryview(buffer)[:min(PIECE, end - begin)]], begin)
        lines += buffer.count(b"\n", 0, got)
        begin += got
    os.close(fd)


def plain(path, processes):
    size, begin = os.path.getsize(path), time.perf_counter()
    children = []
    for k in range(processes):
        children.append(os.fork())
        if children[-1] == 0:
            count_lines(path, size * k // processes, size * (k + 1) // processes)
            os._exit(0)
    for child in children:
        os.waitpid(child, 0)
    return time.perf_counter() - begin


def ours(path, ranks=1):
    return tools.train(path, "--max-rounds=1", ranks=ranks).start["load_seconds"]


def run(options):
    rows = []
    for name in options.shapes:
        text = tools.generated(name)
        size = os.path.getsize(text)
        theirs = min(r.loaded for r in tools.liblinear_one_pass(text, "hinge"))
        binary, gzip = tools.converted(text), tools.packed(text)
        turns = [(ours(text), ours(text, ranks=2), ours(binary), ours(gzip), plain(text, 1), plain(text, 2))
                 for _ in range(tools.REPEATS)]
        one, two, from_binary, from_gzip, plain_one, plain_two = map(min, zip(*turns))
        rows.append([name, tools.mega(size), size / 1e6 / theirs, size / 1e6 / one, theirs / one, one / two,
                     plain_one / plain_two, one / from_binary, theirs / from_gzip])
    tools.table("Reading: speeds in MB of text a second, and how many times as fast",
                ["data", "text", "liblinear", "text, 1 core", "over liblinear", "2 ranks over 1", "line counters",
                 "binary over text", "gzip over liblinear's plain"], rows)
