"""The second act of the demonstration: its corpus can be learnt, and its pictures of trees are right."""
import importlib.machinery
import importlib.util
import io
import os
import random
import sys
import unittest
from contextlib import redirect_stdout

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import support

PATH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tools", "demo", "sentences")


def load():
    sys.dont_write_bytecode = True
    loader = importlib.machinery.SourceFileLoader("demo_sentences", os.path.normpath(PATH))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("demo_sentences", loader))
    loader.exec_module(module)
    return module


demo = load()


class Pictures(unittest.TestCase):
    def test_small_trees(self):
        self.assertEqual(demo.picture([0]), ["*"])
        self.assertEqual(demo.picture([2, 0]), ["┌>", "└*"])
        self.assertEqual(demo.picture([2, 0, 2]), [" ┌>", "┌┴*", "└─>"])
        self.assertEqual(demo.picture([3, 3, 0, 3]), ["┌──>", "│ ┌>", "└┬┴*", " └─>"])

    def test_arcs_do_not_touch_in_a_column(self):
        draw = random.Random(1)
        for _ in range(200):
            n = draw.randrange(1, 15)
            root = draw.randrange(1, n + 1)
            heads = [0 if c == root else draw.choice([h for h in range(1, n + 1) if h != c]) for c in range(1, n + 1)]
            level, width = demo.levels(heads)
            spans = {}
            for child, at in level.items():
                low, high = sorted((child, heads[child - 1]))
                self.assertTrue(all(high < a or b < low for a, b in spans.get(at, [])))
                spans.setdefault(at, []).append((low, high))
            lines = demo.picture(heads)
            self.assertEqual({len(line) for line in lines}, {width + 1})
            self.assertEqual([line[-1] for line in lines], [">" if h else "*" for h in heads])


class Corpus(support.Case):
    def test_what_is_made_is_learnt_and_shown(self):
        directory = self.directory
        shown = io.StringIO()
        with redirect_stdout(shown):
            demo.make(directory)
        for args in (["train", "--task=tag", "train.conllu", "tagger"],
                     ["train", "--task=parse", "train.conllu", "parser"],
                     ["predict", "tagger", "new.conllu", "tagged.conllu"],
                     ["predict", "parser", "tagged.conllu", "parsed.conllu"]):
            done = support.subprocess.run(support.command(args, 0), cwd=directory, capture_output=True, text=True,
                                          env=support.environment(0), timeout=support.TIMEOUT)
            self.assertEqual(done.returncode, 0, done.stderr)
        with redirect_stdout(shown):
            demo.show(directory)
        text = shown.getvalue()
        self.assertIn("900 sentences to learn from", text)
        self.assertEqual(text.count("* "), 1)
        self.assertIn("as it was made", text)


if __name__ == "__main__":
    support.main()
