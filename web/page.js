"use strict";
// The page: what stands where, and the controls that change all figures at once.

const report = JSON.parse(document.getElementById("data").textContent);
const figures = [];

report.problems.forEach((problem, p) => problem.runs.forEach((run, i) => {
    run.id = `${p}.${i}`;
    run.projection = problem.projections[i];
}));

function updateAll() {
    for (const node of figures) node.update();
    remember();
}

// ---- controls

// In the address, so that a page that follows a run keeps them when it loads itself again.
function remember() {
    const kept = { ...state, hidden: [...state.hidden] };
    try {
        history.replaceState(null, "", "#" + encodeURIComponent(JSON.stringify(kept)));
    } catch { /* a browser that allows no such thing for files only forgets */ }
}

function recall() {
    try {
        const kept = JSON.parse(decodeURIComponent(location.hash.slice(1)));
        for (const name of ["xlog", "ylog"]) if (typeof kept[name] === "boolean") state[name] = kept[name];
        if (kept.x in AXES) state.x = kept.x;
        if (kept.primal === "now") state.primal = "now";
        if (TARGETS[kept.target]) state.target = kept.target;
        if (SCORES.includes(kept.score)) state.score = kept.score;
        if (Array.isArray(kept.hidden)) state.hidden = new Set(kept.hidden);
    } catch { /* nothing to recall */ }
}

function choice(label, name, options, convert = (x) => x) {
    const select = element("select", { id: "choose-" + name, onchange: () => { state[name] = convert(select.value); updateAll(); } },
        options.map(([value, text]) => element("option", { value, selected: String(state[name]) === String(value) }, text)));
    return element("label", {}, label, select);
}

function toggle(label, name) {
    const box = element("input", { type: "checkbox", id: "choose-" + name, checked: state[name],
        onchange: () => { state[name] = box.checked; updateAll(); } });
    return element("label", {}, box, label);
}

function controls() {
    const differs = report.problems.some((problem) => problem.runs.some((run) => run.now || (run.scores && run.scores.now)));
    return element("div", { class: "bar", role: "group", "aria-label": "Axes of all figures" },
        choice("Horizontal axis", "x", Object.entries(AXES).map(([name, axis]) => [name, axis.label])),
        toggle("log x", "xlog"), toggle("log y", "ylog"),
        differs ? choice("Primal and scores", "primal", [["primal", "of the best model so far"], ["now", "of w in each round"]]) : null,
        choice("Target accuracy", "target", TARGETS.map((t, k) => [k, exponent(Math.round(Math.log10(t)))]), Number));
}

function swatch(run) {
    const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
    for (const [name, value] of Object.entries({ width: 28, height: 10, "aria-hidden": "true" })) svg.setAttribute(name, value);
    path.setAttribute("d", "M0 5h28");
    path.setAttribute("style", `stroke:var(--c${run.colour});stroke-width:2.5`);
    path.setAttribute("stroke-dasharray", DASHES[run.dash].join(" ") || "none");
    svg.append(path);
    return svg;
}

// Which runs are drawn: for a problem, in all of its figures.
function legend(problem, own) {
    const boxes = problem.runs.map((run) => element("input", { type: "checkbox", checked: !state.hidden.has(run.id) }));
    const labels = problem.runs.map((run, i) => element("label", {}, boxes[i], swatch(run), run.label));
    const apply = () => {
        boxes.forEach((box, i) => (box.checked ? state.hidden.delete(problem.runs[i].id) : state.hidden.add(problem.runs[i].id)));
        for (const node of own) node.update();
        remember();
    };
    const set = (on) => {
        boxes.forEach((box, i) => { if (!labels[i].hidden) box.checked = on; });
        apply();
    };
    boxes.forEach((box) => box.addEventListener("change", apply));
    const tools = element("div", { class: "tools" },
        element("button", { type: "button", onclick: () => set(true) }, "show all"),
        element("button", { type: "button", onclick: () => set(false) }, "hide all"));
    if (problem.runs.length > 12) {
        const find = element("input", { type: "search", placeholder: "find runs", "aria-label": "find runs" });
        find.addEventListener("input", () => labels.forEach((label, i) => {
            label.hidden = !problem.runs[i].label.includes(find.value);
            label.style.display = label.hidden ? "none" : "";
        }));
        tools.prepend(find);
    }
    return element("fieldset", { class: "legend" }, element("legend", {}, "Runs"), problem.runs.length > 1 ? tools : null,
        element("div", { class: "keys" }, labels));
}

// ---- words and settings

function howItEnded(run) {
    const reasons = { gap: "gap reached", "max-rounds": "round limit", "max-time": "time limit",
        stalled: "numerical precision reached", interrupted: "interrupted", finished: "finished" };
    if (run.logged === 0) return "no round yet";
    return run.end ? reasons[run.end] || `ended: ${run.end}` : report.refresh ? "running" : "no end in the log: killed, or still running";
}

function outcomeTable(problem) {
    return tableOf("How the runs ended", ["run", "stopped by", "log", "rounds", "training", "loading", "memory"],
        problem.runs.map((run) => [run.label, howItEnded(run), run.path, count(run.rounds), seconds(run.total), seconds(run.load),
            bytes(run.memory)]), 2);
}

// What differs between runs first, what they have in common after it.
function settings(problem) {
    const same = (k) => problem.values.every((row) => row[k] === problem.values[0][k]);
    const names = problem.settings.map((name, k) => [name.replaceAll("_", " "), k]);
    const differing = names.filter(([, k]) => !same(k)), common = names.filter(([, k]) => same(k));
    const rows = problem.runs.map((run, i) => [run.label, ...differing.map(([, k]) => problem.values[i][k] || "–")]);
    return element("section", { class: "wide" }, element("h3", {}, "Runs and their settings"), outcomeTable(problem),
        element("details", {}, element("summary", {}, "Settings"),
            differing.length && problem.runs.length > 1
                ? [element("p", {}, "Settings that differ:"), tableOf("Settings that differ", ["run", ...differing.map(([name]) => name)], rows)]
                : null,
            element("p", {}, problem.runs.length > 1 ? "The same in all runs:" : "All settings:"),
            element("dl", { class: "settings" }, common.map(([name, k]) => [element("dt", {}, name),
                element("dd", {}, problem.values[0][k] || "–")]))));
}

function optimumWords(problem) {
    if (!known(problem.optimum)) return "No run has a round yet.";
    if (!known(problem.floor))
        return `Lowest objective seen: ${Number(problem.optimum.toPrecision(10))}. No run has a dual, so its distance to the optimum is unknown.`;
    const optimum = `Optimum: ${Number(problem.optimum.toPrecision(10))}`;
    if (problem.floor === 0) return optimum + ".";
    return `${optimum}, certified to a relative ${short(problem.floor)}; smaller distances are shaded because they are uncertain.`;
}

// ---- the page

function section(problem) {
    const own = [];
    const add = (node) => {
        own.push(node);
        figures.push(node);
        return node;
    };
    const grid = element("div", { class: "figures" });
    const drawn = problem.runs.some((run) => run.logged > 0);
    if (drawn) {
        grid.append(add(distanceFigure(problem, "primal")));
        const has = (name) => problem.runs.some((run) => run[name].some(known));
        if (has("dual")) grid.append(add(distanceFigure(problem, "dual")), add(gapFigure(problem)));
        if (has("step")) grid.append(add(stepFigure(problem)));
        const scores = scoresOf(problem);
        if (scores.length > 0) grid.append(add(scoreFigure(problem, scores)));
        if (problem.series.some((s) => s.by === "workers"))
            grid.append(add(speedupFigure(problem, false)), add(speedupFigure(problem, true)), profileSection(problem));
        if (problem.series.some((s) => s.by === "blocks")) grid.append(add(blocksFigure(problem)));
        if (problem.runs.some((run) => run.projection.machines.length > 1)) grid.append(add(projectionFigure(problem)));
        grid.append(shareSection(problem));
    }
    grid.append(settings(problem));
    return element("section", {}, element("h2", {}, problem.title || "unnamed problem"),
        element("p", { class: "quiet" }, optimumWords(problem)), legend(problem, own), grid);
}

// The closest target that as many runs reached as the first one.
function chooseTarget() {
    const runs = report.problems.flatMap((problem) => problem.runs);
    const reached = TARGETS.map((_, k) => runs.filter((run) => known(run.reached.primal[k][0])).length);
    if (reached[0] > 0) state.target = reached.lastIndexOf(reached[0]);
}

function build() {
    chooseTarget();
    recall();
    readPalette();
    const runs = report.problems.reduce((sum, problem) => sum + problem.runs.length, 0);
    const open = report.problems.flatMap((problem) => problem.runs).filter((run) => !run.end).length;
    const parts = [
        element("h1", {}, "Training runs"),
        element("p", { class: "quiet" }, `${count(runs)} run${runs === 1 ? "" : "s"} of ${count(report.problems.length)} `
            + `problem${report.problems.length === 1 ? "" : "s"}. Drag in a figure to zoom, double-click to reset; `
            + "arrow keys read out the points. Long runs are thinned for drawing; the tables use every round."),
        open ? element("p", { class: "note" }, `${count(open)} of them ${open === 1 ? "has" : "have"} not finished`
            + (report.refresh ? "; this page updates itself." : ".")) : null,
        controls(), ...report.problems.map(section)];
    document.getElementById("page").append(...parts.filter(Boolean));
    if (report.refresh && open) setTimeout(() => location.reload(), 1000 * report.refresh);
}

build();
