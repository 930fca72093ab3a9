"use strict";
// One figure of lines, drawn by uPlot, each line with x values of its own. What uPlot does not have is here: a value for
// the nearest line under the pointer, the same by keyboard, and colours that follow the screen or the paper.

const DASHES = [[], [7, 4], [2, 3], [10, 3, 2, 3], [14, 5]];
const charts = new Set();
let palette = {};

function readPalette() {
    const style = getComputedStyle(document.documentElement);
    palette = {};
    for (const name of ["ink", "quiet", "grid", "ground", "doubt", "c0", "c1", "c2", "c3", "c4", "c5", "c6"])
        palette[name] = style.getPropertyValue("--" + name).trim();
}

function repaint() {
    readPalette();
    for (const chart of charts) chart.paint();
}

matchMedia("(prefers-color-scheme: dark)").addEventListener("change", repaint);
addEventListener("beforeprint", () => {
    document.documentElement.classList.add("printing");
    for (const chart of charts) chart.build();
    repaint();
});
addEventListener("afterprint", () => {
    document.documentElement.classList.remove("printing");
    repaint();
});

// Charts are built when they come near the screen: a page may have hundreds.
const waiting = new IntersectionObserver((entries) => {
    for (const entry of entries) if (entry.isIntersecting) entry.target.chart.build();
}, { rootMargin: "800px" });
const sizes = new ResizeObserver((entries) => {
    for (const entry of entries) entry.target.chart.resize();
});

class Chart {
    // spec(): {x, y: labels; xLog, yLog; lines: [{label, colour, dash, x, y, points}]; floor; fromZero; settled: the first
    // quarter of a line does not widen the axis; formatX,
    // formatY; ticksX: at these alone; empty: what is said where nothing can be drawn}, asked for anew at every update. Points where x or y is null, or not above 0 on a logarithmic axis, are
    // left out.
    constructor(host, readout, spec) {
        this.host = host;
        this.readout = readout;
        this.spec = spec;
        this.at = null;
        host.chart = this;
        host.tabIndex = 0;
        host.setAttribute("role", "application");
        host.setAttribute("aria-roledescription", "line chart");
        host.addEventListener("keydown", (event) => this.key(event));
        host.addEventListener("blur", () => this.show(null));
        charts.add(this);
        waiting.observe(host);
        sizes.observe(host);
    }

    build() {
        if (!this.plot) this.update();
    }

    update(force = true) {
        if (!force && !this.plot) return;
        this.now = this.spec();
        this.lines = this.now.lines.map((line) => this.clean(line)).filter((line) => line.x.length > 0);
        this.zoom = null;
        this.show(null);
        if (this.plot) this.plot.destroy();
        this.make();
    }

    // The points of a line that can be drawn.
    clean(line) {
        const x = [], y = [], { xLog, yLog } = this.now;
        for (let i = 0; i < line.x.length; i++) {
            if (!known(line.x[i]) || !known(line.y[i])) continue;
            if ((xLog && line.x[i] <= 0) || (yLog && line.y[i] <= 0)) continue;
            x.push(line.x[i]);
            y.push(line.y[i]);
        }
        return { ...line, x, y };
    }

    range(which) {
        const log = which === "x" ? this.now.xLog : this.now.yLog;
        let least = Infinity, most = -Infinity;
        for (const line of this.lines)
            for (const value of which === "y" && this.now.settled ? line.y.slice(Math.min(Math.floor(line.y.length / 4) || 1, line.y.length - 1)) : line[which]) {
                if (value < least) least = value;
                if (value > most) most = value;
            }
        if (least > most) return log ? [0.1, 1] : [0, 1];
        if (!log) {
            if (which === "x" || this.now.fromZero) least = Math.min(least, 0);
            const room = (most - least || Math.abs(most) || 1) * (which === "x" ? 0.02 : 0.06);
            return [which === "x" || (this.now.fromZero && least === 0) ? least : least - room, most + room];
        }
        if (which === "x") return least === most ? [least / 2, most * 2] : [least, most * 1.1];
        return [10 ** Math.floor(Math.log10(least) + 1e-9), 10 ** Math.max(Math.ceil(Math.log10(most) - 1e-9),
            Math.floor(Math.log10(least) + 1e-9) + 1)];
    }

    scale(which) {
        const log = which === "x" ? this.now.xLog : this.now.yLog;
        return { time: false, auto: false, distr: log ? 3 : 1, range: () => this.zoom?.[which] || this.range(which) };
    }

    axis(which) {
        const log = which === "x" ? this.now.xLog : this.now.yLog;
        const format = which === "x" ? this.now.formatX : this.now.formatY;
        return {
            scale: which,
            label: this.now[which],
            labelSize: 22,
            labelFont: "13px system-ui, sans-serif",
            font: "12px system-ui, sans-serif",
            size: which === "x" ? 34 : 58,
            stroke: () => palette.quiet,
            grid: { stroke: () => palette.grid, width: 1, ...(log ? { filter: (u, splits) => this.decades(splits, which) } : {}) },
            ticks: { show: false },
            side: which === "x" ? 2 : 3,
            ...(which === "x" && this.now.ticksX ? { splits: () => this.now.ticksX } : {}),
            values: (u, splits) => splits.map((v) => (v === null ? null
                : log && !(which === "x" && this.now.ticksX) ? logTick(v) : (format || short)(v))),
            ...(which === "x" && this.now.ticksX ? { filter: (u, splits) => splits } : log ? { filter: (u, splits) => this.thinTicks(u, splits, which) } : {}),
        };
    }

    decades(splits, which) {
        if (which === "x" && this.now.ticksX) return splits;
        return splits.map((v) => (v !== null && logTick(v) !== null ? v : null));
    }

    // Of many decades every second, third, ... has a number.
    thinTicks(u, splits, which) {
        const tens = splits.filter((v) => v !== null && logTick(v) !== null);
        const room = which === "x" ? u.bbox.width / devicePixelRatio / 55 : u.bbox.height / devicePixelRatio / 26;
        const every = Math.ceil(tens.length / Math.max(room, 2));
        return splits.map((v) => (v !== null && tens.indexOf(v) % every === 0 && tens.includes(v) ? v : null));
    }

    series(line) {
        const few = line.points || line.x.length <= 2;
        return {
            facets: [{ scale: "x", auto: false }, { scale: "y", auto: false }],
            paths: line.x.length > 1 ? uPlot.paths.linear() : () => null,
            stroke: () => palette["c" + line.colour],
            width: line.thin ? 1 : 2,
            dash: DASHES[line.dash],
            alpha: line.thin ? 0.6 : 1,
            points: { show: () => few, paths: (u, i) => this.points(u, i), fill: () => palette["c" + line.colour] },
        };
    }

    points(u, i) {
        const path = new Path2D(), size = 3.5 * devicePixelRatio, line = this.lines[i - 1] || { x: [] };
        for (let k = 0; k < line.x.length; k++) {
            const x = u.valToPos(line.x[k], "x", true), y = u.valToPos(line.y[k], "y", true);
            path.moveTo(x + size, y);
            path.arc(x, y, size, 0, 2 * Math.PI);
        }
        return { stroke: path, fill: path, clip: null, flags: 3 };
    }

    make() {
        const width = this.host.clientWidth || 400, height = this.height();
        // uPlot has no charts without lines.
        const drawn = this.lines.length > 0 ? this.lines : [{ x: [], y: [], colour: 0, dash: 0 }];
        this.plot = new uPlot({
            mode: 2,
            width,
            height,
            padding: [12, 14, 0, 0],
            legend: { show: false },
            cursor: {
                points: { show: false },
                focus: { prox: -1 },
                dataIdx: () => null,
                drag: { x: true, y: true, setScale: false, uni: 20 },
            },
            scales: { x: this.scale("x"), y: this.scale("y") },
            axes: ["x", "y"].map((which) => ({ ...this.axis(which), show: this.lines.length > 0 })),
            series: [{}, ...drawn.map((line) => this.series(line))],
            hooks: {
                drawClear: [(u) => this.shade(u)],
                setCursor: [(u) => this.hover(u)],
                setSelect: [(u) => this.select(u)],
            },
        }, [null, ...drawn.map((line) => [line.x, line.y])], this.host);
        this.rescale();
        this.plot.over.addEventListener("dblclick", () => { this.zoom = null; this.rescale(); });
        this.plot.over.addEventListener("mouseleave", () => this.show(null));
        this.dot = element("div", { class: "dot", hidden: true });
        this.tip = element("div", { class: "tip", hidden: true });
        this.plot.over.append(this.dot, this.tip);
        this.host.dataset.lines = String(this.lines.length);
        if (this.lines.length === 0)
            this.plot.over.append(element("p", { class: "nothing" }, this.now.empty || "Nothing to draw on these axes."));
    }

    height() {
        return Math.round(Math.min(340, Math.max(250, (this.host.clientWidth || 400) * 0.62)));
    }

    rescale() {
        for (const which of ["x", "y"]) {
            const [min, max] = this.zoom?.[which] || this.range(which);
            this.plot.setScale(which, { min, max });
        }
    }

    resize() {
        if (this.plot && this.host.clientWidth > 0 && Math.abs(this.plot.width - this.host.clientWidth) > 1)
            this.plot.setSize({ width: this.host.clientWidth, height: this.height() });
    }

    paint() {
        if (!this.plot) return;
        // Colours of lines are kept with their paths.
        this.plot.series.forEach((s, i) => { if (i > 0) s._stroke = s._fill = null; });
        this.plot.redraw(true, true);
    }

    // Below this nothing is certain.
    shade(u) {
        const floor = this.now.floor, y = u.scales.y;
        if (!known(floor) || floor <= 0 || floor <= y.min) return;
        const top = u.valToPos(Math.min(floor, y.max), "y", true), { left, width, height } = u.bbox;
        u.ctx.save();
        u.ctx.fillStyle = palette.doubt;
        u.ctx.fillRect(left, top, width, u.bbox.top + height - top);
        u.ctx.restore();
    }

    select(u) {
        const { left, top, width, height } = u.select;
        if (width < 4 || height < 4) return;
        this.zoom = {
            x: [u.posToVal(left, "x"), u.posToVal(left + width, "x")],
            y: [u.posToVal(top + height, "y"), u.posToVal(top, "y")],
        };
        u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
        this.rescale();
    }

    hover(u) {
        const { left, top } = u.cursor;
        if (left < 0 || document.activeElement === this.host && this.byKey) return;
        let best = null, least = 60 * 60;
        this.lines.forEach((line, i) => {
            const value = u.posToVal(left, "x");
            let low = 0, high = line.x.length - 1;
            while (low < high) {
                const middle = (low + high) >> 1;
                if (line.x[middle] < value) low = middle + 1;
                else high = middle;
            }
            for (let k = Math.max(low - 1, 0); k <= low; k++) {
                const dx = u.valToPos(line.x[k], "x") - left, dy = u.valToPos(line.y[k], "y") - top;
                if (dx * dx + dy * dy < least) {
                    least = dx * dx + dy * dy;
                    best = [i, k];
                }
            }
        });
        this.show(best);
    }

    key(event) {
        const step = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0], Home: [0, -Infinity],
            End: [0, Infinity] }[event.key];
        this.build();
        if (event.key === "Escape") this.show(null);
        if (!step || this.lines.length === 0) return;
        event.preventDefault();
        this.byKey = true;
        const [line, point] = this.at || [0, step[1] ? -1 : 0];
        const i = (line + step[0] + this.lines.length) % this.lines.length, length = this.lines[i].x.length;
        this.show([i, Math.min(Math.max(point + step[1], 0), length - 1)], true);
    }

    describe(i, k) {
        const line = this.lines[i], { formatX, formatY } = this.now;
        const more = line.tell ? line.tell(line.x[k], line.y[k]) : "";
        return [line.label, `${this.now.x} ${(formatX || short)(line.x[k])}`,
            `${this.now.y} ${(formatY || short)(line.y[k])}`, more].filter(Boolean);
    }

    // at: [line, point] or null
    show(at, aloud = false) {
        this.at = at;
        if (!at) this.byKey = false;
        if (!this.plot || !this.tip) return;
        this.dot.hidden = this.tip.hidden = !at;
        if (!at) return;
        const [i, k] = at, line = this.lines[i], u = this.plot;
        const left = u.valToPos(line.x[k], "x"), top = u.valToPos(line.y[k], "y");
        const words = this.describe(i, k);
        Object.assign(this.dot.style, { left: left + "px", top: top + "px", background: palette["c" + line.colour] });
        this.tip.replaceChildren(element("b", {}, words[0]), ...words.slice(1).map((w) => element("div", {}, w)));
        const right = left > u.over.clientWidth / 2, low = top > u.over.clientHeight / 2;
        Object.assign(this.tip.style, {
            left: right ? "auto" : left + 12 + "px", right: right ? u.over.clientWidth - left + 12 + "px" : "auto",
            top: low ? "auto" : top + 12 + "px", bottom: low ? u.over.clientHeight - top + 12 + "px" : "auto",
        });
        if (aloud) this.readout.textContent = words.join(", ");
    }
}
