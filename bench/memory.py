"""Peak memory of a training on one rank, beside liblinear-train: resident bytes at their highest."""
import tools


def run(options):
    rows = []
    for name in options.shapes:
        path = tools.generated(name)
        theirs = min(r.rss for r in tools.liblinear_one_pass(path, "hinge"))
        trained = tools.train(path, "--max-rounds=3")
        ours, cells = trained.end["peak_rss_bytes"], trained.start["nonzeros"]
        rows.append([name, tools.mega(theirs), tools.mega(ours), ours / theirs, theirs / cells, ours / cells])
    tools.table("Peak memory, one rank", ["data", "liblinear", "ours", "ratio", "its bytes a nonzero", "ours"], rows)
