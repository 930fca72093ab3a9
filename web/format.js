"use strict";
// Numbers as people read them, and small helpers for the document.

function element(tag, attributes, ...children) {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {})) {
        if (name === "class") node.className = value;
        else if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
        else if (typeof value === "boolean") node.toggleAttribute(name, value);
        else node.setAttribute(name, value);
    }
    for (const child of children.flat()) if (child !== null && child !== undefined) node.append(child);
    return node;
}

const known = (x) => x !== null && x !== undefined && Number.isFinite(x);

// Three digits: 0.00123, 12.3, 1.2e-7
function short(x) {
    if (!known(x)) return "–";
    if (x === 0) return "0";
    const size = Math.abs(x);
    if (size >= 1e5 || size < 1e-3) return x.toExponential(2).replace(/\.?0+e/, "e").replace("e+", "e");
    return String(Number(x.toPrecision(3)));
}

function count(x) {
    return known(x) ? Math.round(x).toLocaleString("en-US").replace(/,/g, "\u202f") : "–";
}

function bytes(x) {
    if (!known(x)) return "–";
    let unit = 0;
    const names = ["B", "kB", "MB", "GB", "TB"];
    while (Math.abs(x) >= 999.5 && unit < names.length - 1) { x /= 1000; unit++; }
    return short(x) + " " + names[unit];
}

function seconds(x) {
    if (!known(x)) return "–";
    if (x !== 0 && Math.abs(x) < 0.1) return short(x * 1000) + " ms";
    return x >= 5400 ? short(x / 3600) + " h" : short(x) + " s";
}

const percent = (x) => (known(x) ? (100 * x).toFixed(x < 0.0995 ? 1 : 0) + " %" : "–");
const exponent = (k) => "10" + String(k).replace("-", "⁻").replace(/\d/g, (d) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[d]);

// Ticks of logarithmic axes: powers of ten, and plain numbers where there is less than a decade between them.
function logTick(x) {
    const k = Math.log10(x);
    if (Math.abs(k - Math.round(k)) > 1e-6) return null;
    return k >= -2 && k <= 4 ? String(Number(x.toPrecision(3))) : exponent(Math.round(k));
}

// rows: [[heading, value, ...]]; head: the first row
function tableOf(caption, head, rows, textColumns = 0) {
    const cell = (value, i) => (i === 0 ? element("th", { scope: "row" }, value)
        : element("td", i <= textColumns ? { class: "text" } : {}, value));
    return element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
        element("table", {}, element("caption", { class: "hidden-text" }, caption),
            element("thead", {}, element("tr", {}, head.map((h, i) =>
                element("th", { scope: "col", class: i <= textColumns ? "text" : "" }, h)))),
            element("tbody", {}, rows.map((row) => element("tr", {}, row.map(cell))))));
}
