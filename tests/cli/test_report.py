"""bda report: the page as a browser shows it, tables, pictures, and logs that are none."""
import csv
import json
import os
import signal
import time
import unittest
import xml.dom.minidom

import browser
import support


def made_log(method="bda", rounds=40, rate=0.7, ended=True, **settings):
    """A log with an optimum of 10."""
    start = dict(event="start", version="1", task="classify", loss="hinge", method=method, cost=1, ranks=1, threads=1, blocks=8,
                 instances=1000, features=100, nonzeros=9000, load_seconds=1.5, load_bytes=9, data="made.svm", weights=100)
    lines = [dict(start, **settings)]
    for t in range(rounds + 1):
        lines.append(dict(event="round", round=t, seconds=0.1 * t, primal=10 + 9 * rate**t, best_primal=10 + 9 * rate**t,
                          dual=-10 + 9 * rate**t, step=0.5, line_search_steps=1, epochs=1, vectors_sent=t, bytes_sent=900 * t,
                          local_seconds=0.05, comm_seconds=0.02, line_search_seconds=0.01, eval_seconds=0.01))
    if ended:
        lines.append(dict(event="end", reason="gap", rounds=rounds, seconds=0.1 * rounds, primal=10, peak_rss_bytes=10**7))
    return "".join(json.dumps(line) + "\n" for line in lines)


class Report(support.Case):
    def test_files(self):
        """Page, table and pictures of trainings, over ranks and blocks; the table has what the logs have."""
        self.write("d", support.libsvm(support.problem()))
        for name, args in {"a": ["--method=bda", "--validate=d"], "b": ["--method=hull"], "c": ["--method=tron", "--loss=logistic"]}.items():
            self.works("train", "--quiet", "--blocks=2", "--max-rounds=15", "--log=" + name, *args, "d", "m", status=(0, 3))
        r = self.works("report", "a", "b", "c", "-o", "page.html", "--csv=t.csv", "--svg=pictures", "--network=1Gbit,1ms")
        self.assertIn("3 runs written to page.html", r.stderr)
        page = self.read("page.html").decode()
        self.assertIn("Permission is hereby granted", page)  # the licence of the chart library
        self.assertNotIn(" src=", page.split("<script>")[0])
        rows = list(csv.DictReader(self.read("t.csv").decode().splitlines()))
        logged = [line for name in "abc" for line in self.log(name) if line["event"] == "round"]
        self.assertEqual([float(row["primal"]) for row in rows], [line["primal"] for line in logged])
        self.assertEqual({row["problem"] for row in rows}, {"d, squared-hinge", "d, logistic"})
        for row in rows:
            self.assertAlmostEqual(float(row["primal_distance"]),
                                   max(float(row["best_primal"]) / float(row["optimum"]) - 1, 0), places=9)
        pictures = os.listdir(self.path("pictures"))
        self.assertIn("d-squared-hinge-primal-rounds.svg", pictures)
        self.assertIn("accuracy on the validation data", self.read("pictures/d-squared-hinge-score-rounds.svg").decode())
        for name in pictures:
            xml.dom.minidom.parseString(self.read(os.path.join("pictures", name)))

    def test_logs_that_are_none(self):
        self.write("d", support.libsvm(support.problem()))
        self.write("cut", made_log()[:-40])
        self.write("broken", made_log().replace('"primal"', '"primal', 1))
        self.write("empty", "")
        self.write("good", made_log())
        self.fails(1, "report", "d", says=["'d'", "no run log of bda"])
        self.fails(1, "report", "good", "cut", says=["'cut'", "line 43", "cut off"])
        self.fails(1, "report", "broken", says=["'broken'", "line 2", "no JSON"])
        self.fails(1, "report", "empty", says=["'empty'", "is empty"])
        self.fails(1, "report", "nowhere", says=["'nowhere'"])
        self.assertFalse(self.exists("report.html"))
        self.fails(2, "report", "good", "--network=fast", says=["--network", "10Gbit,50us", "'fast'"])
        self.write("other", made_log(loss="logistic"))
        self.fails(2, "report", "good", "other", "--optimum=3", says=["--optimum", "2"])

    def test_logs_are_not_written_over(self):
        self.write("good", made_log())
        before = self.read("good")
        self.assertNotEqual(self.bda("report", "good", "-o", "good").returncode, 0)
        self.assertNotEqual(self.bda("report", "good", "--csv=good").returncode, 0)
        self.assertEqual(self.read("good"), before)

    def test_under_a_launcher(self):
        if not support.has_launcher():
            self.skipTest("no mpirun")
        self.write("good", made_log())
        self.works("report", "good", "-q", ranks=2)
        self.assertTrue(self.exists("report.html"))

    def test_follow(self):
        """A run in progress is drawn, the page is written again as it grows, and all ends with the run."""
        whole = made_log()
        self.write("log", whole[:2000])
        p = self.start("report", "log", "--follow", "-q")
        self.wait_for(lambda: self.exists("report.html"))
        first = self.read("report.html")
        self.assertIn(b'"refresh":2', first)
        self.write("log", whole)
        self.assertEqual(p.wait(support.TIMEOUT), 0)
        self.assertNotEqual(self.read("report.html"), first)
        p.communicate()

    def test_following_ends_with_a_signal(self):
        self.write("log", made_log(ended=False))
        p = self.start("report", "log", "--follow", "-q")
        self.wait_for(lambda: self.exists("report.html"))
        p.send_signal(signal.SIGINT)
        self.assertEqual(p.wait(support.TIMEOUT), 0)
        p.communicate()

    def wait_for(self, what):
        end = time.monotonic() + support.TIMEOUT
        while not what():
            self.assertLess(time.monotonic(), end)
            time.sleep(0.05)

    def test_sizes(self):
        """60 runs of 1000 rounds in at most 1.5 MB."""
        for i in range(60):
            self.write(f"{i}.log", made_log(method=["bda", "hull", "disdca"][i % 3], rounds=1000, rate=0.98, seed=i))
        self.works("report", *[f"{i}.log" for i in range(60)])
        self.assertLess(len(self.read("report.html")), 1.5e6)


@unittest.skipUnless(browser.PROGRAM, "no Chromium")
class Page(support.Case):
    def setUp(self):
        super().setUp()
        self.browser = browser.Browser()
        self.addCleanup(self.browser.close)
        self.browser.size(1280, 1000)

    def show(self, *logs):
        for i, text in enumerate(logs):
            self.write(f"{i}.log", text)
        self.works("report", "-q", *[f"{i}.log" for i in range(len(logs))])
        self.browser.open(self.path("report.html"))
        self.browser.settle()

    def run_in_page(self, script):
        return self.browser.run(script)

    def middle_of_line(self, figure=0):
        """Where on the screen the middle point of the first line of a figure is."""
        return self.run_in_page(f"""(() => {{
            const chart = document.querySelectorAll('.chart')[{figure}].chart, u = chart.plot, line = chart.lines[0];
            u.root.scrollIntoView({{block: 'center'}});
            const k = line.x.length >> 1, box = u.over.getBoundingClientRect();
            return [box.left + u.valToPos(line.x[k], 'x'), box.top + u.valToPos(line.y[k], 'y')];
        }})()""")

    def test_figures(self):
        """As many lines as runs in every figure of rounds, values under the pointer and by keyboard, nothing fetched."""
        logs = [made_log("bda"), made_log("hull", rate=0.4), made_log("disdca", rate=0.8)]
        self.show(*logs, made_log("tron", loss="logistic"))
        titles = self.run_in_page("[...document.querySelectorAll('section h2')].map(h => h.textContent)")
        self.assertEqual(titles, ["made, hinge", "made, logistic"])
        self.run_in_page("document.querySelectorAll('.chart').forEach(c => c.chart.build())")
        lines = self.run_in_page("[...document.querySelectorAll('.chart')].map(c => Number(c.dataset.lines))")
        self.assertEqual(lines, [3] * 5 + [1] * 5)
        inked = self.run_in_page("""(() => { const c = document.querySelector('.chart canvas');
            const d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data; let n = 0;
            for (let i = 0; i < d.length; i += 4) if (d[i] < 20 && d[i + 1] > 100 && d[i + 2] > 150) n++; return n; })()""")
        self.assertGreater(inked, 100)  # the blue of bda

        self.browser.move(*self.middle_of_line())
        self.browser.settle()
        tip = self.run_in_page("document.querySelector('.tip:not([hidden])').textContent")
        for word in ("bda", "seconds 2", "round 20", "relative distance"):
            self.assertIn(word, tip)

        self.run_in_page("document.querySelector('.chart').focus()")
        for key in ("Home", "ArrowRight", "ArrowRight"):
            self.browser.press(key)
        words = self.run_in_page("document.querySelector('.readout').textContent")
        self.assertTrue(words.startswith("bda, seconds 0.2"), words)
        self.browser.press("ArrowDown")
        self.assertTrue(self.run_in_page("document.querySelector('.readout').textContent").startswith("hull"))

        self.assertEqual(self.browser.console, [])
        self.assertEqual(self.browser.requests, ["file://" + os.path.realpath(self.path("report.html"))])

    def test_controls(self):
        """Axes change, lines hide, logarithms switch, a part is enlarged; tables have the numbers."""
        self.show(made_log("bda"), made_log("hull", rate=0.4))
        table = "[...document.querySelector('figure table').rows].map(r => [...r.cells].map(c => c.textContent))"
        self.assertEqual(self.run_in_page(table)[1][:3], ["bda", "0.7 s", "1.3 s"])  # 0.9 0.7^t <= 0.1: t = 7, <= 0.01: 13
        self.run_in_page("(s => { s.value = 'round'; s.dispatchEvent(new Event('change')); })"
                         "(document.querySelector('#choose-x'))")
        self.assertEqual(self.run_in_page(table)[2][:3], ["hull", "3", "5"])
        chart = "document.querySelector('.chart').chart"
        self.assertEqual(self.run_in_page(chart + ".now.x"), "rounds")
        self.assertEqual(self.run_in_page(chart + ".plot.scales.y.distr"), 3)
        self.run_in_page("document.querySelector('#choose-ylog').click()")
        self.assertEqual(self.run_in_page(chart + ".plot.scales.y.distr"), 1)
        self.run_in_page("document.querySelector('.keys input').click()")
        self.assertEqual(self.run_in_page(chart + ".lines.map(l => l.label)"), ["hull"])
        before = self.run_in_page(chart + ".plot.scales.x.max")
        x, y = self.middle_of_line()
        for kind, dx, buttons in (("mousePressed", -60, 1), ("mouseMoved", 60, 1), ("mouseReleased", 60, 0)):
            self.browser.call("Input.dispatchMouseEvent", type=kind, x=x + dx, y=y + dx / 2, button="left", buttons=buttons,
                              clickCount=1)
        self.browser.settle()
        self.assertLess(self.run_in_page(chart + ".plot.scales.x.max"), before)
        hash_before = self.run_in_page("location.hash")
        self.run_in_page("location.reload()")
        self.browser.settle()
        self.browser.settle()
        self.assertEqual(self.run_in_page("location.hash"), hash_before)
        self.assertEqual(self.run_in_page("document.querySelector('#choose-x').value"), "round")

    def test_nothing_to_draw_is_said(self):
        """All lines hidden, or a target that no run reached: words in place of lines, and no error."""
        self.show(made_log("bda", rounds=3), made_log("bda", ranks=2, rounds=3))
        self.run_in_page("document.querySelectorAll('.chart').forEach(c => c.chart.build())")
        self.run_in_page("(s => { s.value = '3'; s.dispatchEvent(new Event('change')); })(document.querySelector('#choose-target'))")
        words = self.run_in_page("[...document.querySelectorAll('.nothing')].map(p => p.textContent)")
        self.assertEqual(len([w for w in words if w.startswith("No run reached 10⁻⁴")]), 3, words)  # speed-ups and projection
        self.run_in_page("[...document.querySelectorAll('button')].find(b => b.textContent === 'hide all').click()")
        self.assertEqual(self.run_in_page("document.querySelector('.nothing').textContent"), "Nothing to draw on these axes.")
        self.run_in_page("[...document.querySelectorAll('button')].find(b => b.textContent === 'show all').click()")
        self.assertEqual(self.run_in_page("Number(document.querySelector('.chart').dataset.lines)"), 2)
        self.assertEqual(self.browser.console, [])

    def test_scores(self):
        """One figure of scores, in which the reader chooses the measure; the table follows."""
        scores = "".join(json.dumps(dict(event="validate", round=t, seconds=0.1 * t, accuracy=0.5 + 0.01 * t, auc=0.6 + 0.01 * t))
                         + "\n" for t in range(0, 40, 10))
        lines = made_log("bda").splitlines(True)
        self.show("".join(lines[:-1]) + scores + lines[-1], made_log("hull"))
        score = "[...document.querySelectorAll('figure')].find(f => f.querySelector('h3').textContent.startsWith('Scores'))"
        self.run_in_page(score + ".querySelector('.chart').chart.build()")
        self.assertEqual(self.run_in_page(score + ".querySelector('.chart').chart.lines.map(l => l.y)"), [[0.5, 0.6, 0.7, 0.8]])
        self.run_in_page(f"(s => {{ s.value = 'auc'; s.dispatchEvent(new Event('change')); }})({score}.querySelector('select'))")
        self.assertEqual(self.run_in_page(score + ".querySelector('.chart').chart.now.y"), "AUC")
        self.assertEqual(self.run_in_page(f"[...{score}.querySelectorAll('tbody td')].map(c => c.textContent)"), ["0.6", "0.9", "0.9"])
        self.assertEqual(self.browser.console, [])

    def test_scores_of_the_best_model(self):
        """What is drawn is the model that would have been written; the w of each round where the reader asks for it."""
        lines = [json.loads(line) for line in made_log("bda", rounds=3).splitlines()]
        lines[3]["primal"] = 2 * lines[1]["primal"]  # round 2: worse than both before
        lines[3]["best_primal"] = lines[2]["primal"]
        scores = [dict(event="validate", round=t, seconds=0.1 * t, accuracy=a) for t, a in enumerate([0.5, 0.8, 0.2, 0.9])]
        self.show("".join(json.dumps(line) + "\n" for line in lines[:-1] + scores + lines[-1:]), made_log("hull"))
        score = "[...document.querySelectorAll('figure')].find(f => f.querySelector('h3').textContent.startsWith('Scores'))"
        drawn = score + ".querySelector('.chart').chart.lines.map(l => l.y)"
        self.run_in_page(score + ".querySelector('.chart').chart.build()")
        self.assertEqual(self.run_in_page(drawn), [[0.5, 0.8, 0.8, 0.9]])
        self.run_in_page("(s => { s.value = 'now'; s.dispatchEvent(new Event('change')); })(document.querySelector('#choose-primal'))")
        self.assertEqual(self.run_in_page(drawn), [[0.5, 0.8, 0.2, 0.9]])
        self.run_in_page("(s => { s.value = 'vectors'; s.dispatchEvent(new Event('change')); })(document.querySelector('#choose-x'))")
        self.assertEqual(self.run_in_page(score + ".querySelector('.chart').chart.lines.map(l => l.x)"), [[0, 1, 2, 3]])
        self.assertEqual(self.browser.console, [])

    def test_dark_narrow_and_printed(self):
        self.show(made_log("bda"), made_log("hull", rate=0.4))
        ground = "getComputedStyle(document.body).backgroundColor"
        light = self.run_in_page(ground)
        self.browser.media("dark")
        self.browser.settle()
        self.assertNotEqual(self.run_in_page(ground), light)
        self.assertEqual(self.run_in_page("palette.ground"), "#14171c")
        pdf = self.browser.pdf()
        self.assertEqual(pdf[:4], b"%PDF")
        self.browser.settle()
        self.assertEqual(self.run_in_page("palette.ground"), "#14171c")
        self.browser.media("dark", "print")
        self.assertEqual(self.run_in_page("getComputedStyle(document.querySelector('.bar')).display"), "none")
        self.browser.media("light")
        self.browser.size(400, 900)
        self.browser.settle()
        self.assertLessEqual(self.run_in_page("document.documentElement.scrollWidth"), 400)

    def test_for_readers(self):
        """Every figure has a name, a table with headings and a caption; every control has a label."""
        self.show(made_log("bda"), made_log("bda", ranks=2), made_log("hull", rate=0.4, blocks=4))
        self.assertEqual(self.run_in_page("""[...document.querySelectorAll('figure')].filter(f => !f.querySelector('table caption')
            || !f.querySelector('th[scope=col]') || !document.getElementById(f.getAttribute('aria-labelledby')).textContent
            || !f.querySelector('.chart').getAttribute('aria-label') || f.querySelector('.chart').tabIndex !== 0).length"""), 0)
        self.assertEqual(self.run_in_page("""[...document.querySelectorAll('select, input')].filter(
            c => !c.closest('label') && !c.getAttribute('aria-label')).length"""), 0)

    def test_speedups_and_names_of_hostile_files(self):
        name = "</script><img src=x onerror=alert(1)>.svm"
        self.show(made_log("bda", data=name), made_log("bda", data=name, ranks=2))
        titles = self.run_in_page("[...document.querySelectorAll('h3')].map(h => h.textContent)")
        for title in ("Speed-up of training", "Speed-up with loading", "Time profile over ranks × threads"):
            self.assertIn(title, titles)
        self.assertEqual(self.run_in_page("document.querySelectorAll('img').length"), 0)
        self.assertEqual(self.browser.console, [])

    def test_many_runs(self):
        """500 runs: the page comes up, and answers to a change of axes."""
        self.show(*[made_log(["bda", "hull", "disdca", "tron"][i % 4], rate=0.5 + 0.0009 * i, seed=i) for i in range(500)])
        self.assertEqual(self.run_in_page("Number(document.querySelector('.chart').dataset.lines)"), 500)
        self.run_in_page("(s => { s.value = 'round'; s.dispatchEvent(new Event('change')); })"
                         "(document.querySelector('#choose-x'))")
        self.browser.move(*self.middle_of_line())
        self.browser.settle()
        self.assertEqual(self.run_in_page("document.querySelectorAll('.tip:not([hidden])').length"), 1)
        self.assertEqual(self.browser.console, [])


if __name__ == "__main__":
    support.main()
