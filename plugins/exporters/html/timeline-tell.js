// SPDX-License-Identifier: Apache-2.0
// Says what is in a place of a timeline: the words, where they appear, and what is chosen by keys.
const timelineTell = (function () {
"use strict";

const {firstAfter, source} = timelineData;
const make = timelineWords.make;
const {ROW, w, start, xOf, shown, lasting, clamp, changed} = timelineView;

// Y is in CSS pixels from the top of the plot's view.
function rowAt(v, y) {
    const at = y + v.plot.scrollTop;
    return v.rows.find((r) => at >= r.item.y + r.within && at < r.item.y + r.within + ROW);
}

function describe(v, row, column) {
    const t0 = start(v) + column * w(v), t1 = t0 + w(v), p = row.finest;
    const i = firstAfter(p, t0), within = (k) => Math.min(p.end[k], t1) - Math.max(p.start[k], t0);
    let n = 0, best = i;
    for (let k = i; k < p.n && p.start[k] < t1 && n < 1000; k++, n++)
        if (within(k) > within(best))
            best = k;
    if (n === 0)
        return null;
    if (!p.width && (n === 1 || p.end[best] - p.start[best] >= t1 - t0))
        return describeOne(v, row, best);
    return describeSums(v, row, t0, t1);
}

function describeSums(v, row, t0, t1) {
    const q = source(row, start(v), w(v), v.columns), sums = new Map();
    // Nothing finer than a bin is known.
    const bin = q.width && w(v) % q.width ? q.width : w(v);
    const from = Math.floor(t0 / bin) * bin, end = Math.ceil(t1 / bin) * bin, span = end - from;
    for (let k = firstAfter(q, from); k < q.n && q.start[k] < end; k++) {
        const within = Math.min(q.end[k], end) - Math.max(q.start[k], from);
        const ticks = q.ticks[k] < q.end[k] - q.start[k] ? q.ticks[k] : within;
        sums.set(q.cls[k], (sums.get(q.cls[k]) || 0) + ticks);
    }
    const lines = [row.item.label, shown(v, from) + ", " + lasting(v, span) + " in all"];
    for (const [cls, ticks] of sums)
        lines.push(v.head.classes[cls].name + ": " + (100 * ticks / span).toFixed(1) + "\u202f%, " + lasting(v, ticks));
    return lines;
}

function describeOne(v, row, i) {
    const head = v.head, p = row.finest, kind = p.kind[i], text = head.texts[head.kinds[2 * kind + 1]];
    const cls = head.classes[head.kinds[2 * kind]].name;
    const lines = [text === undefined ? cls : text, row.item.label + (text === undefined ? "" : ", " + cls),
                   "start " + shown(v, p.start[i]), "duration " + lasting(v, p.end[i] - p.start[i])];
    const from = p.start[i] * v.tick, to = p.end[i] * v.tick;
    for (const g of head.waits)
        if (v.lanes[g.lane] === row.item && from >= g.from && to <= g.to)
            lines.push(g.text);
    for (let k = 0; k < row.marks.length; k += 2) {
        const m = head.marks[row.marks[k + 1]];
        if (row.marks[k] === i && m)
            lines.push(m.rule + ": " + m.where);
    }
    return lines;
}

// X and y are CSS pixels from the plot's left and top.
function tell(v, lines, x, y) {
    const tip = v.tip;
    tip.hidden = !lines;
    if (!lines)
        return;
    tip.textContent = "";
    lines.forEach((text, i) => make("div", i ? "" : "tl-first", tip, text));
    const left = v.canvas.offsetLeft + v.plot.offsetLeft + x + 12;
    tip.style.left = Math.max(0, Math.min(left, v.live.clientWidth - tip.offsetWidth - 4)) + "px";
    tip.style.top = v.plot.offsetTop + y + 18 + "px";
}

// Moves the view to an interval that is not whole in it.
function follow(v, from, to) {
    const t0 = start(v), t1 = t0 + v.columns * w(v);
    if (from < t0 || to > t1)
        v.first = Math.round((from + Math.min(to - from, t1 - t0) / 2) / w(v) - v.columns / 2);
    clamp(v);
}

function choose(v, next) {
    v.chosen = next;
    tell(v, null);
    if (!next)
        return;
    const {row, i} = next, plot = v.plot, p = row.finest, y = row.item.y + row.within, from = p.start[i];
    if (y < plot.scrollTop || y + ROW > plot.scrollTop + plot.clientHeight)
        plot.scrollTop = y - plot.clientHeight / 2;
    let lines = [row.item.label], x = 0;
    if (i < p.n) {
        follow(v, from, p.end[i]);
        x = Math.max(0, xOf(v, from));
        lines = p.kind ? describeOne(v, row, i) : describe(v, row, Math.round(x * v.ratio)) || lines;
    }
    tell(v, lines, x, y - plot.scrollTop + 4);
    v.spoken.textContent = lines.join("; ");
    changed(v);
}

return {rowAt, describe, tell, choose};
})();
