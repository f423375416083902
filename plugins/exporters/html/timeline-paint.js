// SPDX-License-Identifier: Apache-2.0
// Pixels of timelines. A column is a whole number of bins, so that what it shows is exact.
const timelinePaint = (function () {
"use strict";

const firstAfter = timelineData.firstAfter;

// Any colour of CSS as [r, g, b].
function rgb(colour) {
    const probe = document.createElement("canvas").getContext("2d");
    probe.fillStyle = colour;
    probe.fillRect(0, 0, 1, 1);
    return probe.getImageData(0, 0, 1, 1).data;
}

const LITTLE = new Uint8Array(new Uint32Array([1]).buffer)[0] === 1;

function pixel(r, g, b) {
    return (LITTLE ? (255 << 24) | (b << 16) | (g << 8) | r
                   : (r << 24) | (g << 16) | (b << 8) | 255) >>> 0;
}

function mix(a, b, share) {
    return pixel(...[0, 1, 2].map((i) => Math.round(a[i] + (b[i] - a[i]) * share)));
}

// The band of pixels of the row that is being painted: a column is filled from below by what its classes
// are of it. Columns come in order.
function makeBand(painter, nClasses) {
    const sum = new Float64Array(nClasses), touched = new Uint8Array(nClasses);
    let n = 0, column = -1, out, top, height, w, shift;

    function begin(t0, width, y, rowHeight) {
        out = painter.pixels;
        top = y;
        height = rowHeight;
        w = width;
        shift = (t0 / w) % 7;
        column = -1;
    }
    // Heights are from the bottom.
    function bar(c, from, to, cls) {
        const [plain, line] = painter.colours[cls];
        let at = (top + height - 1 - from) * painter.columns + c;
        for (let y = from; y < to; y++, at -= painter.columns)
            out[at] = line !== plain && (c + shift + y) % 7 < 2 ? line : plain;
    }
    function endColumn() {
        let filled = 0, below = 0;
        for (let i = 0; i < n; i++) {
            const cls = touched[i];
            filled += sum[cls];
            sum[cls] = 0;
            // What is there is seen, however little it is.
            const above = Math.min(height, Math.max(Math.round(filled / w * height), below + 1));
            bar(column, below, above, cls);
            below = above;
        }
        n = 0;
    }
    function add(c, cls, ticks) {
        if (c !== column)
            endColumn();
        column = c;
        if (sum[cls] === 0) {
            let i = n++;
            for (; i > 0 && touched[i - 1] > cls; i--)
                touched[i] = touched[i - 1];
            touched[i] = cls;
        }
        sum[cls] += ticks;
    }
    function fill(from, to, cls) {
        const [plain, line] = painter.colours[cls];
        endColumn();
        if (line !== plain) {
            for (let c = from; c < to; c++)
                bar(c, 0, height, cls);
            return;
        }
        for (let y = top; y < top + height; y++)
            out.fill(plain, y * painter.columns + from, y * painter.columns + to);
    }
    // Bins wider than columns: nothing finer is known, so that all their columns look alike.
    function block(p, i, from, to) {
        let next = i + 1;
        while (next < p.n && p.start[next] === p.start[i])
            next++;
        for (let c = from; c < to; c++)
            for (let k = i; k < next; k++)
                if (!painter.off[p.cls[k]])
                    add(c, p.cls[k], p.ticks[k] / (p.end[k] - p.start[k]) * w);
        return next;
    }
    return {begin, add, fill, block, endColumn};
}

// Pixels of the lanes: each row is a band of them.
function makePainter(nClasses) {
    const painter = {colours: [], image: null, columns: 0, height: 0, labels: [], edges: new Int32Array(0)};
    const {begin, add, fill, block, endColumn} = makeBand(painter, nClasses);

    painter.resize = function (columns, rows) {
        painter.columns = columns;
        painter.height = rows;
        painter.image = new ImageData(columns, rows);
        painter.pixels = new Uint32Array(painter.image.data.buffer);
        painter.edges = new Int32Array(columns);
    };
    painter.row = function (p, t0, w, y, height, minLabel) {
        const columns = painter.columns, t1 = t0 + columns * w;
        let nEdges = 0;
        begin(t0, w, y, height);
        for (let i = firstAfter(p, t0); i < p.n && p.start[i] < t1;) {
            const cls = p.cls[i], start = Math.max(p.start[i], t0) - t0, end = Math.min(p.end[i], t1) - t0;
            const first = Math.floor(start / w), last = Math.ceil(end / w) - 1;
            if (p.width > w && p.ticks[i] < p.end[i] - p.start[i]) {
                i = block(p, i, Math.ceil(start / w), last + 1);
                continue;
            }
            if (painter.off[cls]) {
                i++;
                continue;
            }
            if (first === last) {
                add(first, cls, Math.min(end - start, p.ticks[i]));
            } else {
                add(first, cls, (first + 1) * w - start);
                if (last > first + 1)
                    fill(first + 1, last, cls);
                add(last, cls, end - last * w);
            }
            if (p.kind && last - first >= 4) {
                if (p.start[i] >= t0)
                    painter.edges[nEdges++] = first;
                if (last - first >= minLabel)
                    painter.labels.push(y, first, last, p.kind[i]);
            }
            i++;
        }
        endColumn();
        // Neighbours of one class are told apart.
        for (let e = 0; e < nEdges; e++)
            for (let r = y; r < y + height; r++)
                painter.pixels[r * columns + painter.edges[e]] = painter.edge;
    };
    return painter;
}

// Around a gap, with its cause where there is room beside its label.
function outline(ctx, x0, x1, y, height, wide, cause, ink, paper) {
    ctx.strokeStyle = ink;
    ctx.lineWidth = 1.5;
    ctx.strokeRect(x0 + 0.75, y + 0.75, x1 - x0 - 1.5, height - 1.5);
    const room = ctx.measureText(cause).width + 8, from = Math.max(x0, 0), to = Math.min(x1, wide);
    if (to - from < 3 * room)
        return;
    const left = (from + to - room) / 2;
    ctx.fillStyle = paper;
    ctx.fillRect(left, y + 2, room, height - 4);
    ctx.fillStyle = ink;
    ctx.fillText(cause, left + 4, y + height / 2 + 1);
}

// From a row to another; seen on every colour.
function arrow(ctx, x0, y0, x1, y1, height, ink, paper) {
    const up = y1 < y0, from = up ? y0 : y0 + height, to = up ? y1 + height : y1, back = up ? 7 : -7;
    for (const [style, width] of [[paper, 4], [ink, 1.5]]) {
        ctx.strokeStyle = style;
        ctx.lineWidth = width;
        ctx.beginPath();
        ctx.moveTo(x0, from);
        ctx.lineTo(x1, to);
        ctx.moveTo(x1 - 4, to + back);
        ctx.lineTo(x1, to);
        ctx.lineTo(x1 + 4, to + back);
        ctx.stroke();
    }
}

return {rgb, pixel, mix, outline, arrow, makePainter};
})();
