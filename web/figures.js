"use strict";
// The figures of a problem: what each draws, and the table that says the same in numbers.

const TARGETS = [0.1, 0.01, 1e-3, 1e-4, 1e-5, 1e-6];
const AXES = {
    seconds: { label: "seconds", reached: 1, unit: seconds },
    loading: { label: "seconds with loading", reached: 1, unit: seconds },
    round: { label: "rounds", reached: 0, unit: count },
    epochs: { label: "passes over the data", reached: null, unit: short },
    vectors: { label: "vectors sent", reached: 2, unit: count },
    bytes: { label: "bytes sent", reached: 3, unit: bytes },
};
const PARTS = ["local", "messages", "line search", "evaluation", "other"];
const SCORES = ["accuracy", "token_accuracy", "uas", "mse", "sentence_accuracy", "chunk_f1", "las", "auc", "f1", "macro_f1",
    "log_loss", "mae", "r2"];

const state = { x: "seconds", xlog: false, ylog: true, primal: "primal", target: 1, score: "", hidden: new Set() };

function across(run) {
    if (state.x === "loading") return run.seconds.map((s) => (known(s) ? s + (run.load || 0) : null));
    return run[state.x];
}

const shownRuns = (problem) => problem.runs.filter((run) => !state.hidden.has(run.id));

// Of hundreds of lines none is wide.
const line = (run, x, y, all) => ({ label: run.label, colour: run.colour, dash: run.dash, x, y, thin: all > 40 });

function lineSpec(problem, y, label, extra) {
    const runs = shownRuns(problem);
    return {
        x: AXES[state.x].label,
        y: label,
        xLog: state.xlog,
        formatX: state.x === "bytes" ? bytes : short,
        lines: runs.filter((run) => y(run)).map((run) => ({
            ...line(run, across(run), y(run), runs.length),
            tell: state.x === "round" ? null : (value) => `round ${count(run.round[across(run).indexOf(value)])}`,
        })),
        ...extra,
    };
}

// A figure with caption, chart, what the keyboard reads aloud, and a table.
function figure(title, note, spec, table, wide) {
    const id = "figure-" + (figure.next = (figure.next || 0) + 1);
    const host = element("div", { class: "chart", "aria-label": `${title}. Arrow keys read out the points.` });
    const readout = element("div", { class: "readout", "aria-live": "polite" });
    const details = element("details", {}, element("summary", {}, "Table"));
    const caption = element("figcaption", {}, element("h3", { id }, title));
    if (note) caption.append(element("span", { class: "quiet" }, note));
    const node = element("figure", { "aria-labelledby": id, class: wide ? "wide" : "" }, caption, host, readout, details);
    const chart = new Chart(host, readout, spec);
    node.update = () => {
        chart.update(false);
        details.replaceChildren(details.firstElementChild, table());
    };
    details.append(table());
    return node;
}

// ---- distances, gap, steps

function reachedTable(problem, measure, caption) {
    const axis = AXES[state.x], head = ["run", ...TARGETS.map((t) => exponent(Math.round(Math.log10(t)))), "at the end"];
    const column = measure === "now" ? "primal" : measure;
    const rows = problem.runs.map((run) => [run.label, ...run.reached[column].map((to) => {
        if (axis.reached === null) return "–";
        const value = to[axis.reached];
        return axis.unit(state.x === "loading" && known(value) ? value + (run.load || 0) : value);
    }), short(run[column][run[column].length - 1])]);
    const unit = axis.reached === null ? "Choose rounds, vectors, bytes or seconds as the horizontal axis to fill this table. "
        : `${axis.label[0].toUpperCase()}${axis.label.slice(1)} until the relative distance was first below. `;
    return element("div", {}, element("p", { class: "quiet" }, unit), tableOf(caption, head, rows));
}

function distanceFigure(problem, measure) {
    const words = measure === "dual" ? "Dual" : "Primal";
    const pick = (run) => (measure === "dual" ? run.dual : state.primal === "now" && run.now ? run.now : run.primal);
    return figure(`${words}: relative distance to the optimum`, null,
        () => lineSpec(problem, pick, "relative distance", { yLog: state.ylog, floor: problem.floor }),
        () => reachedTable(problem, measure, `${words} accuracy`));
}

function gapFigure(problem) {
    const first = (run, target) => run.gap.findIndex((g) => known(g) && g <= target);
    return figure("Duality gap over the objective", null,
        () => lineSpec(problem, (run) => run.gap, "relative gap", { yLog: state.ylog }),
        () => tableOf("Duality gap", ["run", ...TARGETS.map((t) => exponent(Math.round(Math.log10(t)))), "at the end"],
            problem.runs.map((run) => [run.label, ...TARGETS.map((t) => {
                const i = first(run, t);
                return i < 0 ? "–" : AXES[state.x].unit(across(run)[i]);
            }), short(run.gap[run.gap.length - 1])])));
}

function stepFigure(problem) {
    const steps = (run) => run.step.map((s, i) => (i > 0 ? s : null));
    return figure("Step sizes", null, () => lineSpec(problem, steps, "step size", { yLog: false, fromZero: true }),
        () => tableOf("Step sizes", ["run", "smallest", "median", "largest", "trials per round"], problem.runs.map((run) => {
            const sorted = steps(run).filter(known).sort((a, b) => a - b);
            const trials = run.search.slice(1).filter(known);
            return [run.label, short(sorted[0]), short(sorted[sorted.length >> 1]), short(sorted[sorted.length - 1]),
                short(trials.reduce((a, b) => a + b, 0) / trials.length)];
        })));
}

// ---- where the time goes

function stack(shares) {
    const total = shares.reduce((a, b) => a + (b || 0), 0) || 1;
    return element("div", { class: "stack", "aria-hidden": "true" }, shares.map((s, i) =>
        element("span", { style: `width:${(100 * (s || 0)) / total}%;background:var(--s${i})` })));
}

function partsKey(parts) {
    return element("div", { class: "parts", "aria-hidden": "true" }, parts.map((part, i) =>
        element("span", {}, element("i", { style: `background:var(--s${i})` }), part)));
}

function shareSection(problem) {
    const table = tableOf("Shares of the training time", ["run", "", ...PARTS, "training"], problem.runs.map((run) => {
        const total = run.shares.reduce((a, b) => a + b, 0) || 1;
        return [run.label, stack(run.shares), ...run.shares.map((s) => percent(s / total)), seconds(run.total)];
    }), 1);
    return element("section", { class: "wide", "aria-label": "Shares of the training time" },
        element("h3", {}, "Shares of the training time"), partsKey(PARTS), table);
}

// ---- over ranks and blocks

const seriesColour = (problem, series) => ({ colour: problem.runs[series.runs[0]].colour, dash: problem.runs[series.runs[0]].dash });
const ofKind = (problem, by) => problem.series.filter((s) => s.by === by);
// The numbers of ranks, blocks or machines that there are, each once.
const distinct = (lists) => [...new Set(lists.flat())].sort((a, b) => a - b);
const targetName = () => exponent(Math.round(Math.log10(TARGETS[state.target])));

function speedupFigure(problem, loading) {
    const all = ofKind(problem, "workers"), kinds = [["primal", "primal"], ["dual", "dual"]];
    const values = (s, kind) => s.speedup[kind + (loading ? "_loading" : "")][state.target];
    const most = Math.max(...all.map((s) => s.x[s.x.length - 1] / s.x[0]));
    const base = Math.min(...all.map((s) => s.x[0]));
    return figure(loading ? "Speed-up with loading" : "Speed-up of training", null, () => ({
        x: "ranks × threads",
        formatX: count,
        ticksX: distinct(all.map((s) => s.x)),
        y: `speed-up to ${targetName()}`,
        xLog: false,
        yLog: false,
        fromZero: true,
        empty: `No run reached ${targetName()} with several numbers of ranks and threads: choose another target accuracy.`,
        lines: !all.some((s) => kinds.some(([kind]) => values(s, kind).some(known))) ? [] : [
            ...all.flatMap((s) => kinds.map(([kind, name], i) => ({
                label: `${s.label}, ${name}`, ...seriesColour(problem, s), dash: i, x: s.x, y: values(s, kind), points: true,
            }))),
            { label: "ideal", colour: 6, dash: 2, x: [base, base * most], y: [1, most], thin: true },
        ],
    }), () => tableOf("Speed-up", ["method", "ranks × threads", ...TARGETS.map((t) => exponent(Math.round(Math.log10(t))))],
        all.flatMap((s) => kinds.flatMap(([kind, name]) => s.x.map((x, i) => [`${s.label}, ${name}`, count(x),
            ...TARGETS.map((_, k) => short(s.speedup[kind + (loading ? "_loading" : "")][k][i]))])))));
}

function profileSection(problem) {
    const parts = [...PARTS, "loading"];
    const rows = ofKind(problem, "workers").flatMap((s) => s.runs.map((i, k) => {
        const run = problem.runs[i], shares = [...run.shares, run.load || 0];
        return [s.label, count(s.x[k]), stack(shares), ...shares.map(seconds), seconds((run.total || 0) + (run.load || 0))];
    }));
    return element("section", { class: "wide", "aria-label": "Time profile" }, element("h3", {}, "Time profile over ranks × threads"),
        partsKey(parts), tableOf("Time profile", ["method", "ranks × threads", "", ...parts, "total"], rows, 2));
}

function blocksFigure(problem) {
    const all = ofKind(problem, "blocks");
    const what = () => (AXES[state.x].reached === null ? AXES.round : AXES[state.x]);
    const values = (s, k) => s.runs.map((i) => problem.runs[i].reached.primal[k][what().reached]);
    return figure("Effect of the number of blocks", null, () => ({
        x: "blocks",
        ticksX: distinct(all.map((s) => s.x)),
        y: `${what().label} to primal ${targetName()}`,
        xLog: true,
        yLog: state.ylog,
        formatX: count,
        formatY: what().unit,
        empty: `No run reached ${targetName()}: choose another target accuracy.`,
        lines: all.map((s) => ({ label: s.label, ...seriesColour(problem, s), x: s.x, y: values(s, state.target), points: true })),
    }), () => tableOf("Effect of the number of blocks", ["method", "blocks", ...TARGETS.map((t) => exponent(Math.round(Math.log10(t))))],
        all.flatMap((s) => s.x.map((x, i) => [s.label, count(x), ...TARGETS.map((_, k) => what().unit(values(s, k)[i]))]))));
}

// ---- other machines

function projectionFigure(problem) {
    const able = () => shownRuns(problem).filter((run) => run.projection.machines.length > 1);
    return figure(`Projected time on M machines (${report.network})`,
        "A model, not a measurement: the work of each run divided among M machines, with the same rounds and vectors, "
        + "and messages at this bandwidth and latency. M cannot exceed the number of blocks.",
        () => ({
            x: "machines",
            ticksX: distinct(able().map((run) => run.projection.machines)),
            y: `seconds to primal ${targetName()}`,
            xLog: true,
            yLog: state.ylog,
            formatX: count,
            formatY: seconds,
            empty: `No run reached ${targetName()}: choose another target accuracy.`,
            lines: able().map((run) => ({ ...line(run, run.projection.machines, run.projection.primal[state.target], 0), points: true })),
        }),
        () => tableOf("Projection", ["run", "machines", ...TARGETS.map((t) => exponent(Math.round(Math.log10(t))))],
            able().flatMap((run) => run.projection.machines.map((m, i) => [run.label, count(m),
                ...TARGETS.map((_, k) => seconds(run.projection.primal[k][i]))]))));
}

// ---- scores on other data

const SCORE_NAMES = { auc: "AUC", f1: "F1", macro_f1: "macro F1", uas: "UAS", las: "LAS", mse: "mean squared error",
    mae: "mean absolute error", r2: "R²", chunk_f1: "chunk F1" };
const scoreName = (name) => SCORE_NAMES[name] || name.replaceAll("_", " ");
const scoresOf = (problem) => SCORES.filter((name) => problem.runs.some((run) => run.scores && name in run.scores.primal));

// One figure; of several measures the reader chooses. Models are those that would have been written, or w of each round.
function scoreFigure(problem, names) {
    const now = () => (names.includes(state.score) ? state.score : names[0]);
    const pick = (run) => ((state.primal === "now" && run.scores.now) || run.scores.primal)[now()];
    const able = (runs) => runs.filter((run) => run.scores && pick(run));
    const note = "Each line may begin below the figure: its first quarter does not widen the axis.";
    const node = figure("Scores on the validation data", note, () => ({
        x: AXES[state.x].label,
        y: scoreName(now()),
        xLog: state.xlog,
        yLog: false,
        settled: true,
        formatX: state.x === "bytes" ? bytes : short,
        lines: able(shownRuns(problem)).map((run) => ({
            ...line(run, across({ ...run.scores, load: run.load }), pick(run).drawn, 0), points: pick(run).drawn.length < 30,
        })),
    }), () => tableOf(scoreName(now()), ["run", "first", "best", "last"], able(problem.runs).map((run) => {
        const [first, least, most, last] = pick(run).summary, less = ["mse", "mae", "log_loss"].includes(now());
        return [run.label, short(first), short(less ? least : most), short(last)];
    })));
    if (names.length > 1) {
        const select = element("select", { class: "score", "aria-label": "Score", onchange: () => { state.score = select.value; updateAll(); } },
            names.map((name) => element("option", { value: name, selected: name === now() }, scoreName(name))));
        const update = node.update;
        node.update = () => { select.value = now(); update(); };
        node.querySelector("figcaption").append(select);
    }
    return node;
}
