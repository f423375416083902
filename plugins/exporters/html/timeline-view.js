// SPDX-License-Identifier: Apache-2.0
// What a timeline shows: which columns of time, how wide they are, and how it came to be so.
//
// `v` is the state of one timeline, see makeState in timeline.js. A column of pixels (of the screen's,
// not of CSS) is w = m·2^j ticks wide, m from 16 to 31, and begins at a multiple of w: a whole number
// of bins, so that its sums are exact at every zoom.
const timelineView = (function () {
"use strict";

const microseconds = timelineWords.microseconds;
const ROW = 18, AXIS = 22, MAP = 30, NAMES = 190, NARROW = 640;
// Steps of the ladder of zooms in a doubling.
const OCTAVE = 16;

function widthAt(step) {
    const j = Math.floor(step / OCTAVE);
    return (OCTAVE + step - OCTAVE * j) * Math.pow(2, j);
}

function finestOf(span) {
    let finest = -16 * OCTAVE;
    // So that all times of columns are exact.
    while (span / widthAt(finest) > Math.pow(2, 50))
        finest++;
    return finest;
}

const w = (v) => widthAt(v.step);
const start = (v) => v.first * w(v);
const endOf = (v) => Math.min(start(v) + v.columns * w(v), v.head.span);
const nsOf = (v, t) => BigInt(Math.round(t * v.tick));
const xOf = (v, t) => (t - start(v)) / w(v) / v.ratio;

// A time as the reports count it, and a length of time.
const shown = (v, t) => microseconds(BigInt(v.head.from) + nsOf(v, t));
const lasting = (v, t) => microseconds(nsOf(v, t));

function clamp(v) {
    v.step = Math.max(v.finest, Math.min(v.step, v.widest));
    const last = Math.max(0, Math.ceil(v.head.span / w(v)) - v.columns);
    v.first = Math.max(0, Math.min(v.first, last));
}

function changed(v, quiet) {
    clamp(v);
    if (!v.frame)
        v.frame = requestAnimationFrame(v.draw);
    if (!quiet) {
        clearTimeout(v.hashTimer);
        v.hashTimer = setTimeout(share, 300, v);
    }
}

// ---------------------------------------------------------------- moving and zooming

function zoomAt(v, column, steps) {
    // Turn by turn the same time stays in the column: a column's rounding does not add up.
    if (!v.anchor || v.anchor.column !== column || v.anchor.first !== v.first)
        v.anchor = {column, t: start(v) + column * w(v)};
    v.step += steps;
    clamp(v);
    v.first = Math.round(v.anchor.t / w(v) - column);
    changed(v);
    v.anchor.first = v.first;
}

function zoom(v, steps) {
    zoomAt(v, Math.round(v.columns * 0.5), steps);
}

function pan(v, n) {
    v.first += Math.round(n);
    changed(v);
}

// From and to are ticks.
function show(v, from, to, quiet) {
    for (v.step = v.finest; v.step < v.widest && w(v) * v.columns < to - from;)
        v.step++;
    v.first = Math.floor(from / w(v));
    changed(v, quiet);
}

function jump(v, ns) {
    const t = ns / v.tick;
    measure(v);
    v.mark = ns;
    const span = Math.min(w(v) * v.columns, v.head.span / 20);
    show(v, t - span / 2, t + span / 2);
    v.plot.focus({preventScroll: true});
    v.figure.scrollIntoView({block: "nearest"});
}

// ---------------------------------------------------------------- the page's address

function share(v) {
    const at = v.mark === null ? "" : "@" + v.mark;
    const place = v.step === v.widest && !at ? ""
        : "=" + Math.round(start(v) * v.tick) + "-" + Math.round(endOf(v) * v.tick) + at;
    try {
        history.replaceState(null, "", "#" + v.figure.id + place);
    } catch (e) {
        // A page that may not change its address works all the same.
    }
}

function restore(v) {
    const match = /^#([a-z0-9-]+)=(\d+)-(\d+)(?:@(\d+))?$/.exec(location.hash);
    if (!match || match[1] !== v.figure.id)
        return;
    v.mark = match[4] === undefined ? null : Number(match[4]);
    show(v, Number(match[2]) / v.tick, Number(match[3]) / v.tick, true);
    v.figure.scrollIntoView({block: "nearest"});
}

// ---------------------------------------------------------------- sizes

// Puts lanes and groups one below another.
function stack(v, narrow) {
    let total = 0;
    for (const item of v.items) {
        const above = narrow && item.label !== undefined ? 15 : 0;
        item.y = total + above;
        item.name.style.top = total + "px";
        total += item.height + above;
    }
    v.live.classList.toggle("tl-narrow", narrow);
    v.tall.style.height = total + "px";
}

function size(v, c, names, height) {
    c.style.marginLeft = names + "px";
    c.style.width = v.wide + "px";
    c.style.height = height + "px";
    c.width = Math.round(v.wide * v.ratio);
    c.height = Math.round(height * v.ratio);
}

function measure(v) {
    const width = v.plot.clientWidth, canvas = v.canvas;
    if (!width)
        return;
    const narrow = width < NARROW, names = narrow ? 0 : NAMES;
    const t = start(v), end = t + v.columns * w(v), whole = !v.columns || v.step === v.widest;
    v.ratio = window.devicePixelRatio || 1;
    stack(v, narrow);
    v.wide = width - names;
    v.columns = Math.max(1, Math.round(v.wide * v.ratio));
    for (v.widest = v.finest; widthAt(v.widest) * v.columns < v.head.span;)
        v.widest++;
    size(v, v.map, names, MAP);
    size(v, v.axis, names, AXIS);
    size(v, canvas, names, v.plot.clientHeight);
    v.pad = Math.ceil(ROW * v.ratio);
    v.painter.resize(canvas.width, canvas.height + 2 * v.pad);
    v.columns = canvas.width;
    v.mapDirty = true;
    if (whole)
        v.step = v.widest;
    else
        show(v, t, end, true);
    changed(v, true);
}

return {ROW, AXIS, MAP, OCTAVE, widthAt, finestOf, w, start, endOf, xOf, shown, lasting, clamp, changed, zoomAt, zoom,
        pan, jump, restore, measure};
})();
