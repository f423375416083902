// SPDX-License-Identifier: Apache-2.0
// What people do with a timeline: wheel, mouse, fingers, keys, the map and the legend.
const timelineInput = (function () {
"use strict";

const firstAfter = timelineData.firstAfter, {makeButton, aria} = timelineWords;
const {OCTAVE, widthAt, w, start, changed, zoomAt, zoom, pan} = timelineView;
const {rowAt, describe, tell, choose} = timelineTell;

const leftOf = (c) => c.getBoundingClientRect().left;
const columnOf = (v, event) => Math.floor((event.clientX - leftOf(v.canvas)) * v.ratio);

function reset(v) {
    v.step = v.widest;
    v.first = 0;
    v.mark = null;
    choose(v, null);
    changed(v);
}

function wheel(v, event) {
    const column = columnOf(v, event), turn = event.deltaY || event.deltaX;
    const size = Math.max(1, Math.round(Math.abs(turn) / (event.deltaMode ? 0.5 : 16)));
    if (column < 0 || event.ctrlKey && !event.deltaY)
        return;
    if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
        pan(v, (event.deltaX || event.deltaY) * v.ratio);
    } else {
        if (turn > 0 && v.step >= v.widest)
            // There is nothing to zoom out to: the page scrolls.
            return;
        zoomAt(v, column, turn > 0 ? size : -size);
    }
    tell(v, null);
    event.preventDefault();
}

// ---------------------------------------------------------------- mouse and fingers

function begin(v) {
    const [a, b] = v.fingers.values();
    v.drag = {x: a.clientX, y: a.clientY, scroll: v.plot.scrollTop, first: v.first, step: v.step,
              apart: b ? Math.abs(a.clientX - b.clientX) : 0};
}

function hover(v, event) {
    const box = v.canvas.getBoundingClientRect(), y = event.clientY - box.top, row = rowAt(v, y);
    tell(v, row ? describe(v, row, columnOf(v, event)) : null, event.clientX - box.left, y);
}

function drag(v, event) {
    const from = v.drag;
    v.fingers.set(event.pointerId, event);
    tell(v, null);
    const [a, b] = v.fingers.values();
    if (b && from.apart > 0) {
        const apart = Math.max(1, Math.abs(a.clientX - b.clientX));
        const column = columnOf(v, {clientX: (a.clientX + b.clientX) / 2});
        zoomAt(v, column, from.step + Math.round(Math.log2(from.apart / apart) * OCTAVE) - v.step);
        return;
    }
    v.first = from.first - Math.round((event.clientX - from.x) * v.ratio);
    if (event.pointerType === "mouse")
        v.plot.scrollTop = from.scroll - (event.clientY - from.y);
    changed(v);
}

function listenToPointers(v) {
    const {canvas, fingers} = v;
    canvas.onpointerdown = (event) => {
        if (event.button)
            return;
        canvas.setPointerCapture(event.pointerId);
        fingers.set(event.pointerId, event);
        begin(v);
    };
    canvas.onpointermove = (event) => (fingers.has(event.pointerId) ? drag : hover)(v, event);
    canvas.onpointerup = canvas.onpointercancel = (event) => {
        fingers.delete(event.pointerId);
        if (fingers.size)
            begin(v);
    };
    canvas.onpointerleave = () => tell(v, null);
    canvas.ondblclick = (event) => zoomAt(v, columnOf(v, event), event.shiftKey ? OCTAVE : -OCTAVE);
}

// ---------------------------------------------------------------- keys

function select(v, by) {
    const rows = v.rows, n = v.chosen ? rows.indexOf(v.chosen.row) + by : 0;
    if (rows.length)
        choose(v, {row: rows[Math.max(0, Math.min(n, rows.length - 1))], i: Infinity});
}

function next(v, by) {
    const chosen = v.chosen, row = chosen ? chosen.row : v.rows[0], p = row.finest;
    const i = chosen && chosen.i < p.n ? chosen.i + by : firstAfter(p, start(v));
    if (p.n)
        choose(v, {row, i: Math.max(0, Math.min(i, p.n - 1))});
}

function press(v, event) {
    const far = v.columns * (event.shiftKey ? 0.5 : 0.1);
    const zoomIn = () => zoom(v, -OCTAVE / 2), zoomOut = () => zoom(v, OCTAVE / 2);
    const keys = {
        ArrowLeft: () => pan(v, -far), ArrowRight: () => pan(v, far),
        ArrowUp: () => select(v, -1), ArrowDown: () => select(v, 1),
        "+": zoomIn, "=": zoomIn, "-": zoomOut, "_": zoomOut,
        Home: () => pan(v, -v.first), End: () => pan(v, Infinity), Escape: () => reset(v),
        n: () => next(v, 1), p: () => next(v, -1),
    };
    const act = !event.ctrlKey && !event.metaKey && !event.altKey && keys[event.key];
    if (!act)
        return;
    act();
    event.preventDefault();
}

// ---------------------------------------------------------------- the map and the legend

function grab(v, event) {
    const map = v.map, full = widthAt(v.widest), go = (e) => {
        const t = (e.clientX - leftOf(map)) * v.ratio * full;
        v.first = Math.round(t / w(v) - v.columns / 2);
        changed(v);
    };
    map.setPointerCapture(event.pointerId);
    map.onpointermove = go;
    map.onpointerup = map.onpointercancel = () => { map.onpointermove = null; };
    go(event);
}

// Makes a class of the legend a button that takes it out of the picture.
function addSwitch(v, key, i) {
    const b = makeButton(null, undefined, () => {
        v.off[i] = v.off[i] ? 0 : 1;
        aria(b, {pressed: !v.off[i]});
        v.mapDirty = true;
        changed(v, true);
    });
    aria(b, {pressed: true});
    b.append(...key.childNodes);
    key.append(b);
}

function listen(v) {
    const plot = v.plot;
    plot.addEventListener("wheel", (event) => wheel(v, event), {passive: false});
    listenToPointers(v);
    plot.onscroll = () => changed(v, true);
    plot.onblur = () => {
        choose(v, null);
        changed(v, true);
    };
    plot.onkeydown = (event) => press(v, event);
    v.map.onpointerdown = (event) => grab(v, event);
    v.figure.querySelectorAll(".tl-legend li").forEach((key, i) => addSwitch(v, key, i));
}

return {reset, listen};
})();
