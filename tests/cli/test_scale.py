"""--scale: training on scaled data, and a model for data as it is; the scaling is done once more here."""
import math
import random

import support


class Scale(support.Case):
    def problem(self, rows=80, features=7, values="real", seed=4):
        r = random.Random(seed)
        data = support.problem(rows=rows, features=features, nonzeros=4, seed=seed, values=values)
        size = [10 ** r.uniform(-3, 4) if values == "real" else 1 for _ in range(features + 1)]
        data = [(y, {j: float(v * size[j]) for j, v in x.items()}) for y, x in data]
        for k, (_, x) in enumerate(data):
            x[2] = 1000.0 + (k % 3) if values == "real" else 1.0  # far from 0, or constant
        return [(y, dict(sorted(x.items()))) for y, x in data]

    def scaled(self, data, how, weight=None):
        weight = weight or [1] * len(data)
        if how == "unit-rows":
            return [(y, {j: v / math.sqrt(sum(u * u for u in x.values())) for j, v in x.items()}) for y, x in data]
        size, total = {}, sum(weight)
        for j in {j for _, x in data for j in x}:
            column = [x.get(j, 0) for _, x in data]
            mean = sum(w * v for w, v in zip(weight, column)) / total
            deviation = math.sqrt(sum(w * (v - mean) ** 2 for w, v in zip(weight, column)) / total)
            size[j] = max(map(abs, column)) if how == "max-abs" else deviation if deviation > 1e-9 else 1
        return [(y, {j: v / size[j] for j, v in x.items()}) for y, x in data]

    def scores(self, model, data):
        self.works("predict", "--quiet", "--force", "--scores", model, data, "p")
        return [float(line.split()[-1]) for line in self.read("p").decode().splitlines()[1:]]

    def test_as_if_scaled_before(self):
        for values in ("real", "ones"):
            data = self.problem(values=values)
            self.write("d", support.libsvm(data))
            for how in ("unit-rows", "max-abs", "standard"):
                for kind in ("none", "free"):
                    with self.subTest(values=values, how=how, intercept=kind):
                        self.write("e", support.libsvm(self.scaled(data, how)))
                        args = ["--quiet", "--force", "--log=log", "--gap=1e-10", "--loss=logistic", "--intercept=" + kind]
                        self.works("train", *args, "e", "before")
                        theirs = self.log("log")[-1]["primal"]
                        self.works("train", *args, "--scale=" + how, "--validate=d", "d", "m")
                        self.assertAlmostEqual(self.log("log")[-1]["primal"] / theirs, 1, 9)
                        told = [r for r in self.log("log") if r["event"] == "validate"]
                        self.works("predict", "--quiet", "--force", "--metrics=metrics", "m", "d", "p")
                        self.assertEqual(told[-1]["accuracy"], self.log("metrics")[0]["accuracy"])
                        for ours, theirs in zip(self.scores("m", "d"), self.scores("before", "e")):
                            self.assertAlmostEqual(ours, theirs, 4)

    def test_weights_are_copies(self):
        data = self.problem()
        weight = [k % 4 for k in range(len(data))]
        self.write("d", support.libsvm(data))
        self.write("w", "".join(f"{w}\n" for w in weight))
        self.write("copies", support.libsvm([row for row, w in zip(data, weight) for _ in range(w)]))
        args = ["--quiet", "--force", "--log=log", "--gap=1e-10", "--scale=standard"]
        self.works("train", *args, "--weights=w", "d", "m")
        ours = self.log("log")[-1]["primal"]
        self.works("train", *args, "copies", "m")
        self.assertAlmostEqual(ours / self.log("log")[-1]["primal"], 1, 9)

    def test_same_bits_for_any_number_of_ranks(self):
        if not support.has_launcher():
            self.skipTest("no launcher")
        self.write("d", support.libsvm(self.problem()))
        for how in ("unit-rows", "max-abs", "standard"):
            weights = set()
            for ranks in (1, 2, 3):
                self.works("train", "--quiet", "--force", "--blocks=6", "--method=bda", "--scale=" + how,
                           "--intercept=free", "--max-rounds=20", "d", "m", ranks=ranks, status=(0, 3))
                weights.add(self.weights("m"))
            self.assertEqual(len(weights), 1, how)

    def test_models_of_unit_rows(self):
        self.write("d", support.libsvm(self.problem()))
        self.works("train", "--quiet", "--scale=unit-rows", "d", "m")
        self.works("export", "--format=json", "m", "j")
        self.assertIn('"scale":"unit-rows"', self.read("j").decode().replace('": "', '":"'))
        for how in ("liblinear", "c"):
            self.fails(2, "export", "--format=" + how, "m", "x", says=("--scale=unit-rows", how))
        self.works("train", "--quiet", "--scale=standard", "--force", "d", "m")
        self.works("export", "--format=liblinear", "m", "x")

    def test_a_hint(self):
        self.write("d", support.libsvm(self.problem()))
        args = ["--method=bda", "--max-rounds=3", "--blocks=2", "--gap=1e-9"]
        self.assertIn("--scale", self.bda("train", *args, "d", "m").stderr)
        self.assertNotIn("--scale", self.bda("train", *args, "--scale=standard", "--force", "d", "m").stderr)
        self.write("e", support.libsvm(support.problem()))
        self.assertNotIn("--scale", self.bda("train", *args, "--force", "e", "m").stderr)


if __name__ == "__main__":
    support.main()
