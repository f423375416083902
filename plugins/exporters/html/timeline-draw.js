// SPDX-License-Identifier: Apache-2.0
// Draws a timeline: its lanes with what lies over them, its axis, and the map of the whole range.
const timelineDraw = (function () {
"use strict";

const {source, merge} = timelineData;
const {axisStep, axisLabel, make} = timelineWords;
const {rgb, pixel, mix, outline, arrow, makePainter} = timelinePaint;
const {ROW, AXIS, MAP, widthAt, w, start, endOf, xOf, shown, changed} = timelineView;

// ---------------------------------------------------------------- colours

function recolour(v) {
    const probe = make("span", "", v.figure), painter = v.painter;
    const named = (name, other) => {
        probe.style.color = "var(" + name + "," + other + ")";
        return getComputedStyle(probe).color;
    };
    v.ink = named("--ink", "#222");
    v.soft = named("--ink-soft", "#666");
    v.paper = named("--paper", "#fff");
    v.line = named("--line", "#ccc");
    v.accent = named("--accent", "#06c");
    const page = rgb(v.paper);
    painter.paper = pixel(...page);
    painter.edge = mix(page, rgb(v.ink), 0.25);
    painter.ink = [];
    painter.colours = v.head.classes.map((cls, i) => {
        const c = rgb(named(cls.colour < 8 ? "--class-" + cls.colour : "--line", "#888"));
        const light = 0.3 * c[0] + 0.59 * c[1] + 0.11 * c[2] > 140;
        painter.ink[i] = light ? "#000" : "#fff";
        return [pixel(...c), cls.hatched ? mix(c, page, 0.6) : pixel(...c)];
    });
    probe.remove();
    v.mapDirty = true;
    changed(v, true);
}

// ---------------------------------------------------------------- lanes

function draw(v) {
    v.frame = 0;
    if (!v.columns)
        return;
    const t0 = start(v), width = w(v), ctx = v.canvas.getContext("2d");
    drawRows(v, ctx, t0, width);
    drawLabels(v, ctx);
    drawLines(v, ctx);
    drawGaps(v, ctx);
    drawChosen(v, ctx);
    drawAxis(v, t0, width);
    drawMap(v);
    const end = endOf(v), data = v.figure.dataset;
    v.range.textContent = shown(v, t0) + " … " + shown(v, end);
    // In ns.
    data.column = width * v.tick;
    data.from = Math.round(t0 * v.tick);
    data.to = Math.round(end * v.tick);
}

function drawRows(v, ctx, t0, width) {
    const {painter, ratio, pad} = v, h = Math.round(ROW * ratio);
    const scroll = Math.round(v.plot.scrollTop * ratio);
    painter.pixels.fill(painter.paper);
    painter.labels.length = 0;
    for (const row of v.rows) {
        const y = Math.round((row.item.y + row.within) * ratio) - scroll + pad;
        if (y >= 0 && y + h <= painter.height)
            painter.row(drawable(v, row, t0, width), t0, width, y, h, 44 * ratio);
    }
    ctx.putImageData(painter.image, 0, -pad);
    ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
}

function drawable(v, row, t0, width) {
    const p = source(row, t0, width, v.columns);
    // Between two zooms at which bins fit into columns, those on an edge are divided.
    return p.width && p.width < width && width % p.width ? merge([row], t0, width, v.columns, v.off.length) : p;
}

function write(ctx) {
    ctx.font = "11px system-ui, sans-serif";
    ctx.textBaseline = "middle";
}

function drawLabels(v, ctx) {
    const {head, painter, ratio} = v, labels = painter.labels;
    write(ctx);
    for (let i = 0; i < labels.length; i += 4) {
        const kind = labels[i + 3], x = labels[i + 1] / ratio + 4, room = labels[i + 2] / ratio - x - 2;
        const text = head.texts[head.kinds[2 * kind + 1]] || head.classes[head.kinds[2 * kind]].name;
        const fits = Math.floor(room / 5.5);
        ctx.fillStyle = painter.ink[head.kinds[2 * kind]];
        if (fits > 3 || text.length <= fits)
            ctx.fillText(text.length > fits ? text.slice(0, fits - 1) + "…" : text, x,
                         (labels[i] - v.pad) / ratio + ROW / 2 + 1, room);
    }
}

// ---------------------------------------------------------------- what lies over the lanes

function drawLines(v, ctx) {
    const end = xOf(v, v.head.span), height = v.canvas.height;
    ctx.fillStyle = v.line;
    // Where time ends.
    if (end < v.wide)
        ctx.fillRect(Math.round(end), 0, 1, height);
    ctx.fillStyle = v.soft;
    for (const m of v.head.marks)
        for (let y = 0, x = Math.round(xOf(v, m.at / v.tick)); x >= 0 && x < v.wide && y < height; y += 6)
            ctx.fillRect(x, y, 1, 2);
    if (v.mark !== null) {
        ctx.fillStyle = v.accent;
        ctx.fillRect(xOf(v, v.mark / v.tick) - 1, 0, 2, height);
    }
}

function drawGaps(v, ctx) {
    const {lanes, ink, paper} = v, x = (ns) => xOf(v, ns / v.tick), top = (i) => lanes[i].y - v.plot.scrollTop;
    for (const g of v.head.waits) {
        const x0 = x(g.from), x1 = x(g.to), y = top(g.lane);
        if (x1 < 0 || x0 > v.wide || x1 - x0 < 3)
            continue;
        outline(ctx, x0, x1, y, ROW, v.wide, g.cause, ink, paper);
        if (lanes[g.other])
            arrow(ctx, x1, y, x(g.at), top(g.other), ROW, ink, paper);
    }
}

function drawChosen(v, ctx) {
    if (!v.chosen)
        return;
    const {row, i} = v.chosen, p = row.finest, y = row.item.y + row.within - v.plot.scrollTop, x = xOf(v, p.start[i]);
    ctx.strokeStyle = v.ink;
    ctx.lineWidth = 2;
    if (i < p.n)
        ctx.strokeRect(x, y, Math.max(2, xOf(v, p.end[i]) - x), ROW);
    else
        ctx.strokeRect(0, y, v.wide, ROW);
}

// ---------------------------------------------------------------- the axis and the map

function drawAxis(v, t0, width) {
    const {head, ratio, wide} = v, ctx = v.axis.getContext("2d"), perPixel = width * ratio * v.tick;
    const stepNs = axisStep(perPixel * 95), from = head.from + t0 * v.tick;
    ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
    ctx.clearRect(0, 0, wide, AXIS);
    write(ctx);
    for (let k = Math.ceil(from / stepNs), x; (x = (k * stepNs - from) / perPixel) < wide; k++) {
        if (t0 + x * width * ratio > head.span)
            break;
        ctx.fillStyle = v.soft;
        ctx.fillRect(Math.round(x), AXIS - 5, 1, 5);
        const label = axisLabel(k * stepNs, stepNs), room = ctx.measureText(label).width;
        ctx.fillText(label, Math.min(x + 3, wide - room), AXIS / 2 - 1);
    }
    for (const m of head.marks) {
        const x = xOf(v, m.at / v.tick);
        ctx.fillStyle = m.at === v.mark ? v.accent : v.ink;
        ctx.beginPath();
        ctx.moveTo(x - 4, AXIS - 8);
        ctx.lineTo(x + 4, AXIS - 8);
        ctx.lineTo(x, AXIS - 1);
        ctx.fill();
    }
}

function paintMap(v, full) {
    const {rows, map, off} = v, {colours, edge, paper} = v.painter, small = makePainter(off.length);
    Object.assign(small, {off, colours, edge});
    small.resize(map.width, map.height);
    small.pixels.fill(paper);
    const together = Math.ceil(rows.length / (MAP / 3)), bands = Math.ceil(rows.length / together);
    const bandHeight = Math.floor(map.height / bands);
    for (let i = 0; i < bands; i++) {
        const some = rows.slice(i * together, (i + 1) * together);
        small.row(merge(some, 0, full, map.width, off.length), 0, full, i * bandHeight, bandHeight, Infinity);
    }
    v.mapImage = small.image;
    v.mapDirty = false;
}

function drawMap(v) {
    const {map, ratio} = v, ctx = map.getContext("2d"), full = widthAt(v.widest);
    if (v.mapDirty)
        paintMap(v, full);
    ctx.putImageData(v.mapImage, 0, 0);
    const from = start(v) / full, to = endOf(v) / full;
    ctx.fillStyle = v.ink;
    ctx.globalAlpha = 0.35;
    ctx.fillRect(0, 0, from, map.height);
    ctx.fillRect(to, 0, v.head.span / full - to, map.height);
    ctx.globalAlpha = 1;
    ctx.strokeStyle = v.accent;
    ctx.lineWidth = 2 * ratio;
    ctx.strokeRect(from, ratio, Math.max(3 * ratio, to - from), map.height - 2 * ratio);
}

return {recolour, draw};
})();
