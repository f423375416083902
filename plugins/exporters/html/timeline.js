// SPDX-License-Identifier: Apache-2.0
// Timelines of the page: pan, zoom and look at what the exporter has added up.
//
// A column of pixels (of the screen's, not of CSS) is w = m·2^j ticks wide, m from 16 to 31, and
// begins at a multiple of w: a whole number of bins, so that its sums are exact at every zoom.
(function () {
"use strict";

const {makeRow, firstAfter, source, merge} = timelineData;
const {microseconds, axisStep, axisLabel, make} = timelineWords;
const {rgb, pixel, mix, outline, arrow, makePainter} = timelinePaint;
const ROW = 18, GAP = 5, GROUP = 24, AXIS = 22, MAP = 30, NAMES = 190, NARROW = 640;
const OCTAVE = 16, FINEST = -16 * OCTAVE; // steps of the ladder of zooms in a doubling

// ---------------------------------------------------------------- a timeline

function widthAt(step) {
    const j = Math.floor(step / OCTAVE);
    return (OCTAVE + step - OCTAVE * j) * Math.pow(2, j);
}

function makeTimeline(figure) {
    const head = JSON.parse(figure.querySelector(".tl-data").textContent);
    const tick = head.tick, off = new Uint8Array(head.classes.length);
    const keys = Array.from(figure.querySelectorAll(".tl-legend li"));
    const painter = makePainter(head.classes.length);
    let step = 0, first = 0, columns = 0, ratio = 1, wide = 0, mark = null, chosen = null, frame = 0;
    let widest = 0, mapDirty = true, hashTimer = 0, anchor = null;
    painter.off = off;
    let finest = FINEST;
    while (head.span / widthAt(finest) > Math.pow(2, 50)) // so that all times of columns are exact
        finest++;

    // ------------------------------------------------ elements
    const live = make("div", "tl-live");
    const bar = make("div", "tl-bar", live);
    const range = make("span", "tl-range");
    const map = make("canvas", "tl-map", live), axis = make("canvas", "tl-scale", live);
    const plot = make("div", "tl-plot", live), tall = make("div", "tl-tall", plot);
    const canvas = make("canvas", "tl-canvas", tall);
    const tip = make("div", "tl-tip", live), spoken = make("p", "tl-spoken", live);
    const help = make("p", "tl-help", live, "Drag to move, wheel to zoom, shift and wheel to move, double click to zoom in. " +
        "Keys: \u2190 \u2192 move, + \u2212 zoom, Home and End, Esc the whole range; \u2191 \u2193 choose a row, N and P its next and previous interval.");
    tip.hidden = true;
    tip.setAttribute("role", "tooltip");
    spoken.setAttribute("aria-live", "polite");
    help.id = figure.id + "-help";
    plot.tabIndex = 0;
    plot.setAttribute("role", "application");
    plot.setAttribute("aria-label", "timeline");
    plot.setAttribute("aria-describedby", help.id);
    map.setAttribute("aria-hidden", "true");
    axis.setAttribute("aria-hidden", "true");
    function button(text, label, act) {
        const b = make("button", "", bar, text);
        b.type = "button";
        b.title = label;
        b.setAttribute("aria-label", label);
        b.addEventListener("click", act);
    }
    button("\u2212", "zoom out", () => zoom(0.5, OCTAVE / 2));
    button("+", "zoom in", () => zoom(0.5, -OCTAVE / 2));
    button("whole range", "show the whole range", reset);
    bar.appendChild(range);

    const rows = [], items = [], lanes = []; // lanes: items by their number in the page
    let total = 0;
    for (const lane of head.lanes) {
        if (lane.group)
            items.push({name: make("div", "tl-group", tall, lane.group), height: GROUP, rows: []});
        const item = {name: make("div", "tl-name", tall, lane.label), rows: [], label: lane.label,
                      height: lane.rows.length * (ROW + 1) - 1 + GAP};
        item.name.title = lane.label;
        for (const data of lane.rows) {
            const row = makeRow(data, head);
            row.item = item;
            row.within = item.rows.length * (ROW + 1);
            if (row.lost || row.finest.width) {
                item.name.title += row.lost ? ": left out to keep the page small"
                    : ": added up over " + microseconds(row.finest.width * tick);
                item.name.classList.add("tl-coarse");
            }
            item.rows.push(row);
            rows.push(row);
        }
        items.push(item);
        lanes.push(item);
    }

    // ------------------------------------------------ the view
    const w = () => widthAt(step);
    const start = () => first * w();
    const nsOf = (t) => BigInt(Math.round(t * tick));
    const shown = (t) => microseconds(BigInt(head.from) + nsOf(t)); // as the reports count

    function clamp() {
        step = Math.max(finest, Math.min(step, widest));
        const last = Math.max(0, Math.ceil(head.span / w()) - columns);
        first = Math.max(0, Math.min(first, last));
    }
    function changed(quiet) {
        clamp();
        if (!frame)
            frame = requestAnimationFrame(draw);
        if (!quiet) {
            clearTimeout(hashTimer);
            hashTimer = setTimeout(share, 300);
        }
    }
    function zoomAt(column, steps) {
        // Turn by turn the same time stays in the column: a column's rounding does not add up.
        if (!anchor || anchor.column !== column || anchor.first !== first)
            anchor = {column, t: start() + column * w()};
        step += steps;
        clamp();
        first = Math.round(anchor.t / w() - column);
        changed();
        anchor.first = first;
    }
    function zoom(place, steps) { zoomAt(Math.round(columns * place), steps); }
    function pan(n) {
        first += Math.round(n);
        changed();
    }
    function reset() {
        step = widest;
        first = 0;
        mark = null;
        choose(null);
        changed();
    }
    function show(from, to, quiet) { // ticks
        const most = widest;
        for (step = finest; step < most && widthAt(step) * columns < to - from;)
            step++;
        first = Math.floor(from / w());
        changed(quiet);
    }
    function jump(at) { // ns
        const t = at / tick;
        measure();
        mark = at;
        const span = Math.min(w() * columns, head.span / 20);
        show(t - span / 2, t + span / 2);
        plot.focus({preventScroll: true});
        figure.scrollIntoView({block: "nearest"});
    }
    function share() {
        const to = Math.min(start() + columns * w(), head.span);
        const place = step === widest && mark === null ? ""
            : "=" + Math.round(start() * tick) + "-" + Math.round(to * tick) + (mark === null ? "" : "@" + mark);
        try {
            history.replaceState(null, "", "#" + figure.id + place);
        } catch (e) {
            // A page that may not change its address works all the same.
        }
    }
    function restore() {
        const match = /^#([a-z0-9-]+)=(\d+)-(\d+)(?:@(\d+))?$/.exec(location.hash);
        if (!match || match[1] !== figure.id)
            return;
        mark = match[4] === undefined ? null : Number(match[4]);
        show(Number(match[2]) / tick, Number(match[3]) / tick, true);
        figure.scrollIntoView({block: "nearest"});
    }

    // ------------------------------------------------ sizes and colours
    function size(c, width, height) {
        c.style.width = width + "px";
        c.style.height = height + "px";
        c.width = Math.round(width * ratio);
        c.height = Math.round(height * ratio);
    }
    function measure() {
        const width = plot.clientWidth;
        if (!width)
            return;
        const narrow = width < NARROW, names = narrow ? 0 : NAMES;
        const t = start(), end = t + columns * w(), whole = !columns || step === widest;
        ratio = window.devicePixelRatio || 1;
        total = 0;
        for (const item of items) {
            const above = narrow && item.label !== undefined ? 15 : 0;
            item.y = total + above;
            item.name.style.top = total + "px";
            total += item.height + above;
        }
        live.classList.toggle("tl-narrow", narrow);
        tall.style.height = total + "px";
        wide = width - names;
        columns = Math.max(1, Math.round(wide * ratio));
        for (widest = finest; widthAt(widest) * columns < head.span;)
            widest++;
        for (const c of [map, axis, canvas])
            c.style.marginLeft = names + "px";
        size(map, wide, MAP);
        size(axis, wide, AXIS);
        size(canvas, wide, plot.clientHeight);
        const pad = Math.ceil(ROW * ratio);
        painter.resize(canvas.width, canvas.height + 2 * pad);
        columns = canvas.width;
        mapDirty = true;
        if (whole)
            step = widest;
        else
            show(t, end, true);
        changed(true);
    }
    let ink, soft, paper, line, accent;
    function recolour() {
        const probe = make("span", "", figure);
        const named = (name, other) => {
            probe.style.color = "var(" + name + "," + other + ")";
            return getComputedStyle(probe).color;
        };
        ink = named("--ink", "#222");
        soft = named("--ink-soft", "#666");
        paper = named("--paper", "#fff");
        line = named("--line", "#ccc");
        accent = named("--accent", "#06c");
        const page = rgb(paper);
        painter.paper = pixel(...page);
        painter.edge = mix(page, rgb(ink), 0.25);
        painter.ink = [];
        painter.colours = head.classes.map((cls, i) => {
            const c = rgb(named(cls.colour < 8 ? "--class-" + cls.colour : "--line", "#888"));
            const light = 0.3 * c[0] + 0.59 * c[1] + 0.11 * c[2] > 140;
            painter.ink[i] = light ? "#000" : "#fff";
            return [pixel(...c), cls.hatched ? mix(c, page, 0.6) : pixel(...c)];
        });
        probe.remove();
        mapDirty = true;
        changed(true);
    }

    // ------------------------------------------------ drawing
    function draw() {
        frame = 0;
        if (!columns)
            return;
        const t0 = start(), width = w(), pad = Math.ceil(ROW * ratio), h = Math.round(ROW * ratio);
        const scroll = Math.round(plot.scrollTop * ratio), ctx = canvas.getContext("2d");
        painter.pixels.fill(painter.paper);
        painter.labels.length = 0;
        for (const row of rows) {
            const y = Math.round((row.item.y + row.within) * ratio) - scroll + pad;
            if (y >= 0 && y + h <= painter.height)
                painter.row(drawable(row, t0, width), t0, width, y, h, 44 * ratio);
        }
        ctx.putImageData(painter.image, 0, -pad);
        ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
        drawLabels(ctx, pad);
        drawLines(ctx, t0, width);
        drawAxis(t0, width);
        drawMap(t0, width);
        const end = Math.min(t0 + columns * width, head.span);
        range.textContent = shown(t0) + " … " + shown(end);
        figure.dataset.column = width * tick; // ns
        figure.dataset.from = Math.round(t0 * tick);
        figure.dataset.to = Math.round(end * tick);
    }
    function drawable(row, t0, width) {
        const p = source(row, t0, width, columns);
        // Between two zooms at which bins fit into columns, those on an edge are divided.
        return p.width && p.width < width && width % p.width ? merge([row], t0, width, columns, off.length) : p;
    }
    function drawLabels(ctx, pad) {
        const labels = painter.labels;
        ctx.font = "11px system-ui, sans-serif";
        ctx.textBaseline = "middle";
        for (let i = 0; i < labels.length; i += 4) {
            const kind = labels[i + 3], x = labels[i + 1] / ratio + 4, room = labels[i + 2] / ratio - x - 2;
            const text = head.texts[head.kinds[2 * kind + 1]] || head.classes[head.kinds[2 * kind]].name;
            const fits = Math.floor(room / 5.5);
            ctx.fillStyle = painter.ink[head.kinds[2 * kind]];
            if (fits > 3 || text.length <= fits)
                ctx.fillText(text.length > fits ? text.slice(0, fits - 1) + "…" : text, x,
                             (labels[i] - pad) / ratio + ROW / 2 + 1, room);
        }
    }
    const xOf = (t) => (t - start()) / w() / ratio;
    function drawLines(ctx, t0, width) {
        const end = head.span;
        ctx.fillStyle = line;
        if (xOf(end) < wide) // where time ends
            ctx.fillRect(Math.round(xOf(end)), 0, 1, canvas.height);
        for (const m of head.marks) {
            ctx.fillStyle = soft;
            for (let y = 0, x = Math.round(xOf(m.at / tick)); x >= 0 && x < wide && y < canvas.height; y += 6)
                ctx.fillRect(x, y, 1, 2);
        }
        if (mark !== null) {
            ctx.fillStyle = accent;
            ctx.fillRect(xOf(mark / tick) - 1, 0, 2, canvas.height);
        }
        drawGaps(ctx);
        if (chosen) {
            const p = chosen.row.finest, y = chosen.row.item.y + chosen.row.within - plot.scrollTop;
            ctx.strokeStyle = ink;
            ctx.lineWidth = 2;
            if (chosen.i < p.n)
                ctx.strokeRect(xOf(p.start[chosen.i]), y, Math.max(2, xOf(p.end[chosen.i]) - xOf(p.start[chosen.i])), ROW);
            else
                ctx.strokeRect(0, y, wide, ROW);
        }
    }
    function drawGaps(ctx) {
        for (const g of head.waits) {
            const x0 = xOf(g.from / tick), x1 = xOf(g.to / tick), y = lanes[g.lane].y - plot.scrollTop;
            if (x1 < 0 || x0 > wide || x1 - x0 < 3)
                continue;
            outline(ctx, x0, x1, y, ROW, wide, g.cause, ink, paper);
            if (lanes[g.other])
                arrow(ctx, x1, y, xOf(g.at / tick), lanes[g.other].y - plot.scrollTop, ROW, ink, paper);
        }
    }
    function drawAxis(t0, width) {
        const ctx = axis.getContext("2d"), perPixel = width * ratio * tick;
        const stepNs = axisStep(perPixel * 95), from = head.from + t0 * tick;
        ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
        ctx.clearRect(0, 0, wide, AXIS);
        ctx.font = "11px system-ui, sans-serif";
        ctx.textBaseline = "middle";
        for (let k = Math.ceil(from / stepNs), x; (x = (k * stepNs - from) / perPixel) < wide; k++) {
            if (t0 + x * width * ratio > head.span)
                break;
            ctx.fillStyle = soft;
            ctx.fillRect(Math.round(x), AXIS - 5, 1, 5);
            const label = axisLabel(k * stepNs, stepNs), room = ctx.measureText(label).width;
            ctx.fillText(label, Math.min(x + 3, wide - room), AXIS / 2 - 1);
        }
        for (const m of head.marks) {
            const x = xOf(m.at / tick);
            ctx.fillStyle = m.at === mark ? accent : ink;
            ctx.beginPath();
            ctx.moveTo(x - 4, AXIS - 8);
            ctx.lineTo(x + 4, AXIS - 8);
            ctx.lineTo(x, AXIS - 1);
            ctx.fill();
        }
    }
    let mapImage = null;
    function drawMap(t0, width) {
        const ctx = map.getContext("2d"), full = widthAt(widest);
        if (mapDirty) {
            const small = makePainter(head.classes.length);
            small.off = off;
            small.colours = painter.colours;
            small.edge = painter.edge;
            small.resize(map.width, map.height);
            small.pixels.fill(painter.paper);
            const together = Math.ceil(rows.length / (MAP / 3)), bands = Math.ceil(rows.length / together);
            const bandHeight = Math.floor(map.height / bands);
            for (let i = 0; i < bands; i++) {
                const some = rows.slice(i * together, (i + 1) * together);
                small.row(merge(some, 0, full, map.width, off.length), 0, full, i * bandHeight, bandHeight, Infinity);
            }
            mapImage = small.image;
            mapDirty = false;
        }
        ctx.putImageData(mapImage, 0, 0);
        const from = t0 / full, to = Math.min(t0 + columns * width, head.span) / full;
        ctx.fillStyle = ink;
        ctx.globalAlpha = 0.35;
        ctx.fillRect(0, 0, from, map.height);
        ctx.fillRect(to, 0, head.span / full - to, map.height);
        ctx.globalAlpha = 1;
        ctx.strokeStyle = accent;
        ctx.lineWidth = 2 * ratio;
        ctx.strokeRect(from, ratio, Math.max(3 * ratio, to - from), map.height - 2 * ratio);
    }

    // ------------------------------------------------ what is where
    function rowAt(y) { // CSS pixels from the top of the plot's view
        const at = y + plot.scrollTop;
        return rows.find((r) => at >= r.item.y + r.within && at < r.item.y + r.within + ROW);
    }
    function describe(row, column) {
        const t0 = start() + column * w(), t1 = t0 + w(), p = row.finest, name = row.item.label;
        const i = firstAfter(p, t0);
        let n = 0, best = i;
        for (let k = i; k < p.n && p.start[k] < t1 && n < 1000; k++, n++)
            if (Math.min(p.end[k], t1) - Math.max(p.start[k], t0) > Math.min(p.end[best], t1) - Math.max(p.start[best], t0))
                best = k;
        if (n === 0)
            return null;
        if (!p.width && (n === 1 || p.end[best] - p.start[best] >= t1 - t0))
            return describeOne(row, best);
        const q = source(row, start(), w(), columns), sums = new Map();
        // Nothing finer than a bin is known.
        const bin = q.width && w() % q.width ? q.width : w();
        const from = Math.floor(t0 / bin) * bin, end = Math.ceil(t1 / bin) * bin, span = end - from;
        for (let k = firstAfter(q, from); k < q.n && q.start[k] < end; k++) {
            const within = Math.min(q.end[k], end) - Math.max(q.start[k], from);
            const ticks = q.ticks[k] < q.end[k] - q.start[k] ? q.ticks[k] : within;
            sums.set(q.cls[k], (sums.get(q.cls[k]) || 0) + ticks);
        }
        const lines = [name, shown(from) + ", " + microseconds(nsOf(span)) + " in all"];
        for (const [cls, ticks] of sums)
            lines.push(head.classes[cls].name + ": " + (100 * ticks / span).toFixed(1) + "\u202f%, " + microseconds(nsOf(ticks)));
        return lines;
    }
    function describeOne(row, i) {
        const p = row.finest, kind = p.kind[i], text = head.texts[head.kinds[2 * kind + 1]];
        const cls = head.classes[head.kinds[2 * kind]].name;
        const lines = [text === undefined ? cls : text, row.item.label + (text === undefined ? "" : ", " + cls),
                       "start " + shown(p.start[i]), "duration " + microseconds(nsOf(p.end[i] - p.start[i]))];
        const from = p.start[i] * tick, to = p.end[i] * tick;
        for (const g of head.waits)
            if (lanes[g.lane] === row.item && from >= g.from && to <= g.to)
                lines.push(g.text);
        for (let k = 0; k < row.marks.length; k += 2)
            if (row.marks[k] === i && head.marks[row.marks[k + 1]])
                lines.push(head.marks[row.marks[k + 1]].rule + ": " + head.marks[row.marks[k + 1]].where);
        return lines;
    }
    function tell(lines, x, y) { // CSS pixels from the plot's left and top
        tip.hidden = !lines;
        if (!lines)
            return;
        tip.textContent = "";
        lines.forEach((text, i) => make("div", i ? "" : "tl-first", tip, text));
        const left = canvas.offsetLeft + plot.offsetLeft + x + 12;
        tip.style.left = Math.max(0, Math.min(left, live.clientWidth - tip.offsetWidth - 4)) + "px";
        tip.style.top = plot.offsetTop + y + 18 + "px";
    }
    function choose(next) {
        chosen = next;
        tell(null);
        if (!next)
            return;
        const p = next.row.finest, y = next.row.item.y + next.row.within;
        if (y < plot.scrollTop || y + ROW > plot.scrollTop + plot.clientHeight)
            plot.scrollTop = y - plot.clientHeight / 2;
        let lines = [next.row.item.label];
        if (next.i < p.n) {
            const from = p.start[next.i], to = p.end[next.i], t0 = start(), t1 = t0 + columns * w();
            if (from < t0 || to > t1)
                first = Math.round((from + Math.min(to - from, t1 - t0) / 2) / w() - columns / 2);
            clamp();
            lines = p.kind ? describeOne(next.row, next.i) : describe(next.row, Math.max(0, Math.round(xOf(from) * ratio))) || lines;
        }
        tell(lines, Math.max(0, next.i < p.n ? xOf(p.start[next.i]) : 0), y - plot.scrollTop + 4);
        spoken.textContent = lines.join("; ");
        changed();
    }

    // ------------------------------------------------ what people do
    const columnOf = (event) => Math.floor((event.clientX - canvas.getBoundingClientRect().left) * ratio);
    plot.addEventListener("wheel", (event) => {
        const inside = columnOf(event) >= 0, turn = event.deltaY || event.deltaX;
        const size = Math.max(1, Math.round(Math.abs(turn) / (event.deltaMode ? 0.5 : 16)));
        if (!inside || event.ctrlKey && !event.deltaY)
            return;
        if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
            pan((event.deltaX || event.deltaY) * ratio);
        } else {
            if (turn > 0 && step >= widest)
                return; // nothing to zoom out to: the page scrolls
            zoomAt(columnOf(event), turn > 0 ? size : -size);
        }
        tell(null);
        event.preventDefault();
    }, {passive: false});
    const fingers = new Map();
    let drag = null;
    function begin() {
        const xs = Array.from(fingers.values());
        drag = {x: xs[0].clientX, y: xs[0].clientY, scroll: plot.scrollTop, first, step,
                apart: xs.length > 1 ? Math.abs(xs[0].clientX - xs[1].clientX) : 0};
    }
    canvas.addEventListener("pointerdown", (event) => {
        if (event.button)
            return;
        canvas.setPointerCapture(event.pointerId);
        fingers.set(event.pointerId, event);
        begin();
    });
    canvas.addEventListener("pointermove", (event) => {
        if (!fingers.has(event.pointerId)) {
            const box = canvas.getBoundingClientRect(), y = event.clientY - box.top, row = rowAt(y);
            tell(row ? describe(row, columnOf(event)) : null, event.clientX - box.left, y);
            return;
        }
        fingers.set(event.pointerId, event);
        tell(null);
        const xs = Array.from(fingers.values());
        if (xs.length > 1 && drag.apart > 0) {
            const apart = Math.max(1, Math.abs(xs[0].clientX - xs[1].clientX));
            const middle = (xs[0].clientX + xs[1].clientX) / 2;
            zoomAt(columnOf({clientX: middle}), drag.step + Math.round(Math.log2(drag.apart / apart) * OCTAVE) - step);
            return;
        }
        first = drag.first - Math.round((event.clientX - drag.x) * ratio);
        if (event.pointerType === "mouse")
            plot.scrollTop = drag.scroll - (event.clientY - drag.y);
        changed();
    });
    for (const name of ["pointerup", "pointercancel"])
        canvas.addEventListener(name, (event) => {
            fingers.delete(event.pointerId);
            if (fingers.size)
                begin();
        });
    canvas.addEventListener("pointerleave", () => tell(null));
    canvas.addEventListener("dblclick", (event) => zoomAt(columnOf(event), event.shiftKey ? OCTAVE : -OCTAVE));
    plot.addEventListener("scroll", () => changed(true));
    plot.addEventListener("blur", () => {
        choose(null);
        changed(true);
    });
    plot.addEventListener("keydown", (event) => {
        const at = chosen ? rows.indexOf(chosen.row) : -1;
        const select = (n) => rows.length && choose({row: rows[Math.max(0, Math.min(n, rows.length - 1))], i: Infinity});
        const next = (by) => {
            const row = chosen ? chosen.row : rows[0], p = row.finest;
            const i = chosen && chosen.i < p.n ? chosen.i + by : firstAfter(p, start());
            if (p.n)
                choose({row, i: Math.max(0, Math.min(i, p.n - 1))});
        };
        const keys = {
            ArrowLeft: () => pan(-columns * (event.shiftKey ? 0.5 : 0.1)),
            ArrowRight: () => pan(columns * (event.shiftKey ? 0.5 : 0.1)),
            ArrowUp: () => select(at < 0 ? 0 : at - 1),
            ArrowDown: () => select(at + 1),
            "+": () => zoom(0.5, -OCTAVE / 2), "=": () => zoom(0.5, -OCTAVE / 2), "-": () => zoom(0.5, OCTAVE / 2), "_": () => zoom(0.5, OCTAVE / 2),
            Home: () => pan(-first), End: () => pan(Infinity), Escape: reset,
            n: () => next(1), p: () => next(-1),
        };
        const act = !event.ctrlKey && !event.metaKey && !event.altKey && keys[event.key];
        if (!act)
            return;
        act();
        event.preventDefault();
    });
    map.addEventListener("pointerdown", (event) => {
        const full = widthAt(widest), go = (e) => {
            const t = (e.clientX - map.getBoundingClientRect().left) * ratio * full;
            first = Math.round(t / w() - columns / 2);
            changed();
        };
        map.setPointerCapture(event.pointerId);
        map.onpointermove = go;
        map.onpointerup = map.onpointercancel = () => { map.onpointermove = null; };
        go(event);
    });
    keys.forEach((key, i) => {
        const b = make("button", "", null);
        b.type = "button";
        b.setAttribute("aria-pressed", "true");
        while (key.firstChild)
            b.appendChild(key.firstChild);
        key.appendChild(b);
        b.addEventListener("click", () => {
            off[i] = off[i] ? 0 : 1;
            b.setAttribute("aria-pressed", off[i] ? "false" : "true");
            mapDirty = true;
            changed(true);
        });
    });

    // ------------------------------------------------ begin
    figure.insertBefore(live, figure.querySelector(".tl-static"));
    figure.classList.add("tl-on");
    recolour();
    measure();
    restore();
    new ResizeObserver(measure).observe(plot);
    new MutationObserver(recolour).observe(document.documentElement, {attributes: true});
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", recolour);
    window.addEventListener("hashchange", restore);
    return {jump};
}

const timelines = new Map();
for (const figure of document.querySelectorAll("figure.tl"))
    timelines.set(figure.id, makeTimeline(figure));
document.addEventListener("click", (event) => {
    const link = event.target.closest && event.target.closest("a[data-timeline]");
    const timeline = link && timelines.get(link.dataset.timeline);
    if (!timeline)
        return;
    event.preventDefault();
    timeline.jump(Number(link.dataset.at));
});
})();
