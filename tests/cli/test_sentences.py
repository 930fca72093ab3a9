"""Tags and dependency trees, from files to files: on corpora made here, on any number of ranks and threads."""
import gzip
import json
import os
import random
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import support

TAGS = ["NOM", "VRB", "ADJ", "PNC"]
WORDS = {"NOM": ["Haus", "Köln", "мир", "pie", "rue", "Ton"], "VRB": ["geht", "läuft", "было", "sees"],
         "ADJ": ["rot", "größer", "tout", "old"], "PNC": [".", "—", "!"]}
NEXT = {None: "NOM ADJ", "NOM": "VRB PNC", "VRB": "ADJ NOM", "ADJ": "NOM NOM ADJ", "PNC": "NOM"}


def sentence(draw):
    """Tags of a Markov chain with words of their own, but for those that say nothing; heads by the tags."""
    tags, before = [], None
    for _ in range(draw.randrange(1, 12)):
        before = draw.choice(NEXT[before].split())
        tags.append(before)
    words = [draw.choice(WORDS[t]) if draw.random() < 0.8 else "da%d" % draw.randrange(5) for t in tags]
    root = next((i for i, t in enumerate(tags) if t == "VRB"), 0)
    heads = []
    for i in range(len(tags)):
        if i == root:
            heads.append(0)
        elif tags[i] == "ADJ" and i + 1 < len(tags) and i + 1 != root:
            heads.append(i + 2)
        else:
            heads.append(root + 1)
    return words, tags, heads


def conllu(sentences, gold=True):
    text = ""
    for number, (words, tags, heads) in enumerate(sentences):
        text += "# sent_id = %d\n" % number
        for i, (w, t, h) in enumerate(zip(words, tags, heads), 1):
            if i == 1 and number % 5 == 0 and len(words) > 1:
                text += "1-2\tboth" + "\t_" * 7 + "\tx=y\n"
            relation = "root" if h == 0 else "left" if h > i else "right"
            columns = [str(i), w, "_", t, t.lower(), "_", str(h) if gold else "_", relation if gold else "_", "_", "_"]
            text += "\t".join(columns) + "\n"
            if i == 1 and number % 7 == 0:
                text += "1.1\tempty" + "\t_" * 8 + "\n"
        text += "\n"
    return text


def columns(sentences, gold=True):
    return "".join("".join(f"{w} {t[0]}{' ' + ('B-' if h < i else 'I-') + t if gold else ''}\n"
                           for i, (w, t, h) in enumerate(zip(*s), 1)) + "\n" for s in sentences)


def corpus(seed, count):
    draw = random.Random(seed)
    return [sentence(draw) for _ in range(count)]


class Sentences(support.Case):
    def put(self, name, text):
        path = os.path.join(self.directory, name)
        with open(path, "w", encoding="utf-8", newline="") as file:
            file.write(text)
        return path

    def text(self, name):
        with open(os.path.join(self.directory, name), encoding="utf-8", newline="") as file:
            return file.read()

    def bda(self, *args, ranks=0, status=0):
        done = support.subprocess.run(support.command(args, ranks), cwd=self.directory, capture_output=True, text=True,
                                      env=support.environment(ranks), timeout=support.TIMEOUT)
        self.assertIn(done.returncode, [0, 3] if status is None else [status], done.stderr + done.stdout)
        return done.stderr

    def info(self, model):
        return json.loads(support.subprocess.run(support.command(["info", "--json", model], 0), cwd=self.directory,
                                                 capture_output=True, text=True, check=True).stdout)

    def metrics(self, *args, **more):
        if os.path.exists(os.path.join(self.directory, "metrics")):
            os.remove(os.path.join(self.directory, "metrics"))
        self.bda("predict", "--metrics=metrics", *args, **more)
        with open(os.path.join(self.directory, "metrics"), encoding="utf-8") as file:
            return json.load(file)


class Tags(Sentences):
    def test_tags_are_learnt_and_written(self):
        self.put("train.conllu", conllu(corpus(1, 150)))
        test = conllu(corpus(2, 40))
        self.put("test.conllu", test)
        self.bda("train", "--task=tag", "--max-rounds=1000", "train.conllu", "model")
        found = self.metrics("model", "test.conllu", "out.conllu")
        self.assertGreater(found["token_accuracy"], 0.85)
        self.assertEqual(found["sentences"], 40)
        self.assertEqual(found["unknown_words"], 0)
        rows = [(a.split("\t"), b.split("\t")) for a, b in zip(test.split("\n"), self.text("out.conllu").split("\n"))]
        right = total = 0
        for a, b in rows:
            self.assertEqual(a[:3] + a[4:], b[:3] + b[4:])
            if len(a) == 10 and a[0].isdigit():
                total += 1
                right += a[3] == b[3]
            else:
                self.assertEqual(a, b)
        self.assertAlmostEqual(found["token_accuracy"], right / total)
        self.assertEqual(sum(x["right"] for x in found["labels"]), right)

    def test_columns_have_chunks_and_may_lack_the_tags(self):
        data = corpus(3, 120)
        self.put("train.txt", columns(data))
        self.bda("train", "--task=tag", "--max-rounds=1000", "train.txt", "model")
        self.put("test.txt", columns(data[:20]))
        self.put("plain.txt", columns(data[:20], gold=False))
        found = self.metrics("model", "test.txt", "out.txt")
        self.assertGreater(found["token_accuracy"], 0.8)
        self.assertGreater(found["chunk_f1"], 0.7)
        unlabelled = self.metrics("model", "plain.txt", "plain.out")
        self.assertNotIn("token_accuracy", unlabelled)
        self.assertEqual(self.text("plain.out"), self.text("out.txt"))

    def test_templates_of_crfpp(self):
        self.put("train.txt", columns(corpus(3, 60)))
        self.put("template", "# words\nU00:%x[0,0]\nU01:%x[-1,1]/%x[0,1]\n\nB\n")
        self.bda("train", "--task=tag", "--max-rounds=1000", "--template=template", "train.txt", "model")
        self.assertGreater(self.metrics("model", "train.txt", "out.txt")["token_accuracy"], 0.7)
        self.put("other", "\ufeff# words\r\nU00:%x[0,0]\r\nU01:%x[-1,1]/%x[0,1]\r\nB\r\n")
        self.bda("train", "--task=tag", "--max-rounds=1000", "--template=other", "train.txt", "same")
        self.bda("predict", "same", "train.txt", "same.txt")
        self.assertEqual(self.text("same.txt"), self.text("out.txt"))

    def test_words_and_tags_of_all_scripts(self):
        words = {"ฉันกิน": "N", "الوَلَدُ": "V", "किताब": "ADJ|x=1", "👩‍👩‍👧": "B-₿", "n\u0303o": "<b>&\"'", "İß": "ΣΤ"}
        draw = random.Random(5)
        sentences = [[draw.choice(list(words)) for _ in range(draw.randrange(1, 9))] for _ in range(80)]
        for mark, end, blank in (("", "\n", " "), ("\ufeff", "\r\n", "\t"), ("", "\r\n", "   ")):
            text = "".join("".join(w + blank + words[w] + end for w in s) + end for s in sentences)
            self.put("all.txt", mark + text)
            self.bda("train", "--task=tag", "all.txt", "model", "--force")
            self.assertEqual(self.metrics("model", "all.txt", "out.txt", "--force")["token_accuracy"], 1)
            self.assertEqual(self.text("out.txt"), text)
            self.put("bare.txt", "\n".join("\n".join(s) + "\n" for s in sentences).rstrip("\n"))  # ends in no newline
            self.bda("predict", "model", "bare.txt", "filled.txt", "--force")
            self.assertEqual(self.text("filled.txt").split(), text.split())

    def test_probabilities(self):
        self.put("train.conllu", conllu(corpus(1, 60)))
        self.bda("train", "--task=tag", "--loss=logistic", "--max-rounds=20", "train.conllu", "model", status=0)
        self.bda("predict", "--probability", "model", "train.conllu", "out.conllu")
        values = [float(line.split("Probability=")[1]) for line in self.text("out.conllu").split("\n")
                  if "Probability=" in line]
        self.assertEqual(len(values), sum(len(s[0]) for s in corpus(1, 60)))
        self.assertTrue(all(0 < p <= 1 for p in values) and max(values) > 0.9)


class Trees(Sentences):
    def test_trees_and_relations(self):
        self.put("train.conllu", conllu(corpus(1, 120)))
        self.put("test.conllu", conllu(corpus(2, 40)))
        self.put("bare.conllu", conllu(corpus(2, 40), gold=False))
        self.bda("train", "--task=parse", "--max-rounds=30", "--gap=0.01", "--gap-of=start", "train.conllu", "model")
        found = self.metrics("model", "test.conllu", "out.conllu")
        self.assertGreater(found["uas"], 0.9)
        self.assertGreater(found["las"], 0.9)
        self.assertLessEqual(found["las"], found["uas"])
        self.assertLess(found["uas_no_punct"], 1.0001)
        bare = self.metrics("model", "bare.conllu", "bare.out")
        self.assertNotIn("uas", bare)
        self.assertEqual(self.text("bare.out"), self.text("out.conllu"))
        self.bda("train", "--task=parse", "--max-rounds=3", "--gap=1", "--gap-of=start", "--labels=no", "--trees=any",
                 "train.conllu", "unlabelled")
        self.assertNotIn("las", self.metrics("unlabelled", "test.conllu", "other.conllu"))

    def test_trees_are_projective_where_gold_ones_are(self):
        crossed = [(list("abcd"), ["NOM", "VRB", "ADJ", "PNC"], [3, 4, 0, 3])] * 20
        for name, sentences in (("nested", corpus(1, 60)), ("crossed", corpus(1, 60) + crossed)):
            self.put(name + ".conllu", conllu(sentences))
            self.bda("train", "--task=parse", "--max-rounds=2", "--gap=1", "--gap-of=start", name + ".conllu", name)
            self.assertEqual(self.info(name)["trees"], "projective" if name == "nested" else "any")

    def test_crossing_edges_that_projective_trees_leave_out_are_told(self):
        crossed = [(list("abcd"), ["NOM", "VRB", "ADJ", "PNC"], [3, 4, 0, 3])] * 20
        for name, sentences, told in (("nested", corpus(1, 60), False), ("crossed", corpus(1, 60) + crossed, True)):
            self.put(name + ".conllu", conllu(sentences))
            for trees in ("projective", "auto"):
                err = self.bda("train", "--task=parse", "--max-rounds=1", "--gap=1", "--gap-of=start", "--force",
                               "--trees=" + trees, name + ".conllu", name)
                self.assertEqual("edges cross others" in err, told and trees == "projective", err)
        edges = sum(len(words) for words, _, _ in corpus(1, 60) + crossed)
        self.assertIn(f"20 of {edges} edges", self.bda("train", "--task=parse", "--max-rounds=1", "--gap=1", "--force",
                                                       "--gap-of=start", "--trees=projective", "crossed.conllu", "m"))
        shown = support.subprocess.run(support.command(["info", "m"], 0), cwd=self.directory, capture_output=True,
                                       text=True, check=True).stdout
        self.assertIn("trees        projective", shown)
        self.assertNotIn("yes, no", shown)


@unittest.skipUnless(support.has_launcher(), "no mpirun")
class Ranks(Sentences):
    def test_models_and_text_are_those_of_one_rank(self):
        self.put("train.conllu", conllu(corpus(1, 50)))
        with gzip.open(os.path.join(self.directory, "test.conllu.gz"), "wt", encoding="utf-8") as file:
            file.write(conllu(corpus(2, 30)))
        for task in ("tag", "parse"):
            names = []
            for ranks, threads in ((0, 1), (2, 1), (3, 2)):
                name = f"{task}{ranks}"
                self.bda("train", f"--task={task}", "--blocks=3", "--max-rounds=3", "--gap=1", "--gap-of=start",
                         f"--threads={threads}", "--method=bda", "train.conllu", name, ranks=ranks)
                self.bda("predict", f"--threads={threads}", name, "test.conllu.gz", name + ".out", ranks=ranks)
                names.append(name)
            for name in names[1:]:
                self.assertEqual(self.text(names[0] + ".out"), self.text(name + ".out"))
                with open(os.path.join(self.directory, names[0]), "rb") as a, \
                        open(os.path.join(self.directory, name), "rb") as b:
                    self.assertEqual(a.read(), b.read(), f"{names[0]} and {name}")


class Files(Sentences):
    """Several files are one text: sentences end with their file, whatever its last line is."""
    ENDS = ["", "\n", "\n\n"]

    def put_parts(self):
        sentences = conllu(corpus(1, 60)).strip("\n").split("\n\n")
        self.put("whole.conllu", "\n\n".join(sentences) + "\n\n")
        os.mkdir(os.path.join(self.directory, "parts"))
        cuts = [0, 1, 2, 20, 20, 21, 55, 60]
        for k, (a, b) in enumerate(zip(cuts, cuts[1:])):
            self.put(f"parts/{k}.conllu", "\n\n".join(sentences[a:b]) + self.ENDS[k % 3] * (a < b))

    def test_several_files_are_one_text(self):
        self.put_parts()
        names = [f"parts/{k}.conllu" for k in range(7)]
        with open(os.path.join(self.directory, names[2]), "rb") as a, \
                gzip.open(os.path.join(self.directory, "2.conllu.gz"), "wb") as b:
            b.write(a.read())
        mixed = names[:2] + ["2.conllu.gz"] + names[3:]
        self.put("test.conllu", conllu(corpus(2, 20)))
        counts = (0, 2, 3) if support.has_launcher() else (0,)
        for task in ("tag", "parse"):
            outputs = set()
            for ranks in counts:
                for data in ([names, mixed] if ranks else [["whole.conllu"], names, ["parts"], mixed]):
                    self.bda("train", f"--task={task}", "--blocks=3", "--max-rounds=2", "--gap=1", "--gap-of=start",
                             "--force", *data, "-o", "model", ranks=ranks)
                    self.bda("predict", "--force", "-q", "model", "test.conllu", "out.conllu")
                    info = self.info("model")
                    outputs.add((self.text("out.conllu"), info["training"]["primal"], info["features"]))
            self.assertEqual(len(outputs), 1, task)
        self.put("parts/5.conllu", "1\ta\n")
        for ranks in counts:
            self.assertIn("parts/5.conllu, line 1: ", self.bda("train", "--task=tag", "parts", "other", ranks=ranks,
                                                               status=1))
        with open(os.path.join(self.directory, names[6]), encoding="utf-8") as file:
            lines = file.read().split("\n")
        at = next(k for k, line in enumerate(lines) if k > 5 and line.startswith("1\t"))
        self.put(names[6], "\n".join(lines[:at] + ["7" + lines[at][1:]] + lines[at + 1:]))
        for ranks in counts:
            self.assertIn(f"{names[6]}, line {at + 1}: ", self.bda("train", "--task=tag", *names[:5], names[6], "-o",
                                                                   "other", ranks=ranks, status=1))


class Extremes(Sentences):
    def test_sentences_of_one_token_and_of_500_and_two_tags_and_300(self):
        draw = random.Random(1)
        sentences = []
        for n in [1] * 20 + [500, 1, 80] + [10] * 30:
            root = draw.randrange(n)
            heads = [0 if i == root else i + 2 if i < root else i for i in range(n)]
            sentences.append(([f"w{draw.randrange(60)}" for _ in range(n)],
                              [f"T{draw.randrange(300)}" for _ in range(n)], heads))
        self.put("long.conllu", conllu(sentences))
        self.put("two.conllu", conllu([(w, ["A" if x[-1] in "02468" else "B" for x in w], h) for w, _, h in sentences]))
        for name, task in (("long", "tag"), ("long", "parse"), ("two", "tag")):
            gap = "1e-2" if name == "two" else "1"
            self.bda("train", "--task=" + task, "--gap=" + gap, "--gap-of=start", name + ".conllu", name + task)
            found = self.metrics(name + task, name + ".conllu", name + task + ".out")
            self.assertEqual(found["tokens"], sum(len(s[0]) for s in sentences))
        self.assertGreater(found["token_accuracy"], 0.6)

    def test_sentences_of_thousands_of_tokens(self):
        draw = random.Random(2)
        for n in (600, 5000):
            lines = [f"w{draw.randrange(40)}" for _ in range(n)]
            text = "".join(f"{w} T{int(w[1:]) % 7 if draw.random() < 0.9 else draw.randrange(7)}\n" for w in lines)
            self.put("long.txt", "a T0\n\n" + text + "\n")
            for loss in ("squared-hinge", "hinge", "logistic"):
                self.bda("train", "--task=tag", "--loss=" + loss, "--gap=0.15", "--gap-of=start", "--max-rounds=60",
                         "long.txt", "model", "--force", status=0 if loss == "logistic" else None)
                self.assertGreater(self.metrics("model", "long.txt", "out.txt", "--force")["token_accuracy"], 0.85)


class Methods(Sentences):
    def test_all_that_learn_sentences_do(self):
        self.put("train.conllu", conllu(corpus(1, 80)))
        self.put("test.conllu", conllu(corpus(2, 40)))
        for args in (["--loss=logistic"], ["--method=bda"], ["--method=bda", "--inference=visit"],
                     ["--inference=round", "--learning-epochs=5"], ["--method=momentum", "--local-epochs=2"],
                     ["--method=momentum", "--loss=logistic"], ["--method=admm"], ["--method=perceptron"],
                     ["--method=average"], ["--method=lbfgs", "--loss=logistic"], ["--method=tron", "--loss=logistic"],
                     ["--method=l-commdir", "--loss=logistic"]):
            for task, measure in (("tag", "token_accuracy"), ("parse", "uas")):
                if task == "parse" and args == ["--method=momentum", "--loss=logistic"]:
                    continue
                labels = ["--labels=no"] if task == "parse" else []
                gap = [] if "--method=perceptron" in args else ["--gap=1e-3", "--gap-of=start"]
                self.bda("train", f"--task={task}", "--blocks=3", "--max-rounds=25", "-q", *gap, *args, *labels,
                         "train.conllu", "model", status=None)
                found = self.metrics("--force", "model", "test.conllu", "out.conllu")
                self.assertGreater(found[measure], 0.8, f"{task} {args}: {found}")


class Refusals(Sentences):
    def test_what_makes_no_sense_is_refused(self):
        self.put("good.conllu", conllu(corpus(1, 30)))
        self.put("cycle.conllu", conllu([(["a", "b", "c"], TAGS[:3], [0, 3, 2])]))
        self.put("one.conllu", conllu([(["a", "b"], ["NOM", "NOM"], [0, 1])]))
        self.put("columns.txt", columns(corpus(1, 30)))
        self.put("bad.template", "U00:%x[0,2]\n")
        for expected, *args in (
                ("cycle.conllu, line 5: the token is its own head, or part of a cycle", "--task=parse", "cycle.conllu"),
                ("the column UPOS is 'NOM' in all lines", "--task=tag", "one.conllu"),
                ("dependency trees are read from CoNLL-U", "--task=parse", "columns.txt"),
                ("bad.template: looks at column 2, which has the tags", "--task=tag", "--template=bad.template",
                 "columns.txt")):
            self.assertIn(expected, self.bda("train", *args, "model", status=1))
        for expected, *args in (
                ("--column is for CoNLL-U", "--task=tag", "--column=upos", "columns.txt"),
                ("--trees is an option of --task=parse, not of tag", "--task=tag", "--trees=any", "good.conllu"),
                ("--method=hull does not learn tags or trees; --method=auto", "--task=tag", "--method=hull", "good.conllu"),
                ("--method=momentum is for --task=tag and parse", "--method=momentum", "good.conllu"),
                ("--inference is for hinge and squared-hinge", "--task=tag", "--loss=logistic", "--inference=visit",
                 "good.conllu"),
                ("--learning-epochs is an option of --task=tag and parse", "--learning-epochs=2", "good.conllu"),
                ("--inference is an option of --method=", "--task=tag", "--method=admm", "--inference=round",
                 "good.conllu"),
                ("--min-count is an option of --task=tag and parse", "--min-count=2", "good.conllu")):
            self.assertIn(expected, self.bda("train", *args, "model", status=2))
        self.bda("train", "--task=tag", "--gap=1", "--gap-of=start", "good.conllu", "model")
        self.assertIn("no other format knows", self.bda("export", "model", "other", status=2))
        self.assertIn("in another format", self.bda("predict", "model", "columns.txt", "out", status=1))
        self.bda("train", "--task=tag", "--gap=1", "--gap-of=start", "columns.txt", "other")
        for name, text in (("empty", ""), ("blank", "\n\n\n"), ("comments", "# one\n# two\n\n")):
            self.put(name, text)
            said = f"{name} is empty: there are no sentences in it"
            self.assertIn(said, self.bda("train", "--task=tag", name, "none", status=1))
            self.assertIn(said, self.bda("predict", "model", name, "out", status=1))
            if name != "comments":  # with columns '#' may be a word
                self.assertIn(said, self.bda("predict", "other", name, "out", status=1))


if __name__ == "__main__":
    support.main()
