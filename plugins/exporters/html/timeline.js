// SPDX-License-Identifier: Apache-2.0
// Timelines of the page: pan, zoom and look at what the exporter has added up.
(function () {
"use strict";

const makeRow = timelineData.makeRow, makePainter = timelinePaint.makePainter;
const {microseconds, make, makeButton, aria} = timelineWords;
const {ROW, OCTAVE, finestOf, zoom, jump, restore, measure} = timelineView;
const {recolour, draw} = timelineDraw;
const {reset, listen} = timelineInput;
const GAP = 5, GROUP = 24;

// What all functions of a timeline work on. `step` is the zoom, on the ladder of widthAt, and `first`
// the number of the first of the `columns` in view; the rest of time is in ticks, but `mark` in ns.
function makeState(figure) {
    const head = JSON.parse(figure.querySelector(".tl-data").textContent);
    const v = {
        figure, head, tick: head.tick, off: new Uint8Array(head.classes.length),
        painter: makePainter(head.classes.length),
        step: 0, first: 0, columns: 0, ratio: 1, wide: 0, pad: 0, finest: finestOf(head.span), widest: 0,
        mark: null, chosen: null, anchor: null, fingers: new Map(), drag: null,
        frame: 0, mapDirty: true, mapImage: null, hashTimer: 0,
        // `lanes` has the items by their number in the page.
        rows: [], items: [], lanes: [],
        draw: () => draw(v),
    };
    v.painter.off = v.off;
    return v;
}

function addElements(v) {
    const live = v.live = make("div", "tl-live");
    addBar(v, make("div", "tl-bar", live));
    v.map = make("canvas", "tl-map", live);
    v.axis = make("canvas", "tl-scale", live);
    const plot = v.plot = make("div", "tl-plot", live);
    v.tall = make("div", "tl-tall", plot);
    v.canvas = make("canvas", "tl-canvas", v.tall);
    v.tip = make("div", "tl-tip", live);
    v.spoken = make("p", "tl-spoken", live);
    const help = make("p", "tl-help", live, "Drag to move, wheel to zoom, shift and wheel to move, double click to zoom in. " +
        "Keys: \u2190 \u2192 move, + \u2212 zoom, Home and End, Esc the whole range; \u2191 \u2193 choose a row, N and P its next and previous interval.");
    v.tip.hidden = true;
    help.id = v.figure.id + "-help";
    plot.tabIndex = 0;
    aria(v.tip, {role: "tooltip"});
    aria(v.spoken, {live: "polite"});
    aria(plot, {role: "application", label: "timeline", describedby: help.id});
    aria(v.map, {hidden: true});
    aria(v.axis, {hidden: true});
}

function addBar(v, bar) {
    function button(text, label, act) {
        const b = makeButton(bar, text, act);
        b.title = label;
        aria(b, {label});
    }
    button("\u2212", "zoom out", () => zoom(v, OCTAVE / 2));
    button("+", "zoom in", () => zoom(v, -OCTAVE / 2));
    button("whole range", "show the whole range", () => reset(v));
    v.range = make("span", "tl-range", bar);
}

function addLane(v, lane) {
    if (lane.group)
        v.items.push({name: make("div", "tl-group", v.tall, lane.group), height: GROUP, rows: []});
    const item = {name: make("div", "tl-name", v.tall, lane.label), rows: [], label: lane.label,
                  height: lane.rows.length * (ROW + 1) - 1 + GAP};
    item.name.title = lane.label;
    for (const data of lane.rows) {
        const row = makeRow(data, v.head);
        row.item = item;
        row.within = item.rows.length * (ROW + 1);
        if (row.lost || row.finest.width) {
            item.name.title += row.lost ? ": left out to keep the page small"
                : ": added up over " + microseconds(row.finest.width * v.tick);
            item.name.classList.add("tl-coarse");
        }
        item.rows.push(row);
        v.rows.push(row);
    }
    v.items.push(item);
    v.lanes.push(item);
}

function makeTimeline(figure) {
    const v = makeState(figure);
    addElements(v);
    for (const lane of v.head.lanes)
        addLane(v, lane);
    listen(v);
    figure.insertBefore(v.live, figure.querySelector(".tl-static"));
    figure.classList.add("tl-on");
    const colours = () => recolour(v);
    colours();
    measure(v);
    restore(v);
    new ResizeObserver(() => measure(v)).observe(v.plot);
    new MutationObserver(colours).observe(document.documentElement, {attributes: true});
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", colours);
    window.addEventListener("hashchange", () => restore(v));
    return v;
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
    jump(timeline, Number(link.dataset.at));
});
})();
