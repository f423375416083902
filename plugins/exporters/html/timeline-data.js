// SPDX-License-Identifier: Apache-2.0
// What the exporter has added up, as rows with levels of detail.
//
// Time is in ticks from the timeline's start. Bins have a power of two of ticks.
const timelineData = (function () {
"use strict";

// See levels.h.
function numbersOf(base64) {
    const text = atob(base64);
    let at = 0;
    return {
        more: () => at < text.length,
        next() {
            let value = 0, unit = 1, byte;
            do {
                byte = text.charCodeAt(at++);
                value += (byte & 127) * unit;
                unit *= 128;
            } while (byte > 127);
            return value;
        },
    };
}

// Pieces of a row in order of time: `ticks` of [start, end) are filled by cls. Fewer ticks than the
// length only in a bin.
function pieces(room) {
    return {n: 0, start: new Float64Array(room), end: new Float64Array(room),
            ticks: new Float64Array(room), cls: new Uint8Array(room), width: 0};
}

function push(p, start, end, ticks, cls) {
    if (p.n === p.start.length) {
        for (const column of ["start", "end", "ticks", "cls", "kind"]) {
            if (!p[column])
                continue;
            const more = new p[column].constructor(2 * p.n + 64);
            more.set(p[column]);
            p[column] = more;
        }
    }
    p.start[p.n] = start;
    p.end[p.n] = end;
    p.ticks[p.n] = ticks;
    p.cls[p.n++] = cls;
}

function readExact(base64, kinds) {
    const numbers = numbersOf(base64), p = pieces(base64.length >> 2);
    p.kind = new Uint32Array(p.start.length);
    for (let end = 0; numbers.more();) {
        const start = end + numbers.next();
        end = start + numbers.next();
        const kind = numbers.next();
        push(p, start, end, end - start, kinds[2 * kind]);
        p.kind[p.n - 1] = kind;
    }
    return p;
}

function readBins(base64, width) {
    const numbers = numbersOf(base64), p = pieces(base64.length >> 2);
    p.width = width;
    for (let bin = 0; numbers.more();) {
        const head = numbers.next(), cls = numbers.next(), amount = numbers.next();
        const run = head % 2 ? amount : 1;
        bin += Math.floor(head / 2);
        push(p, bin * width, (bin + run) * width, head % 2 ? run * width : amount, cls);
        bin += run - 1;
    }
    return p;
}

// The same over bins of `width`, a multiple of the width that p has; see levels.c.
function addUp(p, width) {
    const sums = pieces(p.n + 64), ticks = new Float64Array(64), touched = [];
    let bin = -1;
    sums.width = width;
    function whole(start, end, cls) {
        const last = sums.n - 1;
        if (last >= 0 && sums.cls[last] === cls && sums.end[last] === start &&
            sums.ticks[last] === start - sums.start[last]) {
            sums.end[last] = end;
            sums.ticks[last] = end - sums.start[last];
        } else {
            push(sums, start, end, end - start, cls);
        }
    }
    function endBin() {
        touched.sort((a, b) => a - b);
        for (const cls of touched) {
            if (ticks[cls] === width)
                whole(bin * width, (bin + 1) * width, cls);
            else
                push(sums, bin * width, (bin + 1) * width, ticks[cls], cls);
            ticks[cls] = 0;
        }
        touched.length = 0;
    }
    function part(b, cls, n) {
        if (b !== bin)
            endBin();
        bin = b;
        if (ticks[cls] === 0)
            touched.push(cls);
        ticks[cls] += n;
    }
    for (let i = 0; i < p.n; i++) {
        const start = p.start[i], end = p.end[i], cls = p.cls[i];
        const first = Math.floor(start / width), last = Math.ceil(end / width) - 1;
        if (first === last) {
            part(first, cls, p.ticks[i]);
            continue;
        }
        part(first, cls, (first + 1) * width - start);
        if (last > first + 1) {
            endBin();
            whole((first + 1) * width, last * width, cls);
        }
        part(last, cls, end - last * width);
    }
    endBin();
    return sums;
}

// A row with all its levels of detail: finest, and sums over wider and wider bins.
function makeRow(data, head) {
    const finest = data.exact !== undefined ? readExact(data.exact, head.kinds)
                 : data.bins !== undefined ? readBins(data.bins, data.width) : pieces(0);
    const row = {finest, levels: [], marks: data.marks || [], lost: !data.exact && !data.bins};
    let width = finest.width;
    if (!width)
        for (width = 1; width * finest.n < head.span;)
            width *= 2;
    for (let from = finest; from.n > 200 && width < 2 * head.span; width *= 2) {
        if (width > from.width)
            from = addUp(from, width);
        row.levels.push(from);
    }
    return row;
}

// The first piece that ends after it.
function firstAfter(p, time) {
    let low = 0, high = p.n;
    while (low < high) {
        const middle = (low + high) >> 1;
        if (p.end[middle] > time)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

// What a row is drawn from: each interval where these are few, else the widest bins of which columns
// are made.
function source(row, t0, w, columns) {
    const p = row.finest, t1 = t0 + w * columns;
    if (!p.width && firstAfter(p, t1) - firstAfter(p, t0) < 2 * columns)
        return p;
    let best = p;
    for (const level of row.levels)
        if (w % level.width === 0)
            best = level;
    return best;
}

// Several rows as one: of each column, the mean of what their classes fill.
function merge(rows, t0, w, columns, classes) {
    const sums = new Float64Array(columns * classes), p = pieces(columns);
    for (const row of rows) {
        const q = source(row, t0, w, columns);
        for (let i = firstAfter(q, t0); i < q.n && q.start[i] < t0 + columns * w; i++) {
            const start = q.start[i] - t0, end = q.end[i] - t0, whole = q.ticks[i] === end - start;
            for (let c = Math.max(0, Math.floor(start / w)); c * w < end && c < columns; c++) {
                const part = Math.min(end, (c + 1) * w) - Math.max(start, c * w);
                sums[c * classes + q.cls[i]] += whole ? part : q.ticks[i] * part / (end - start);
            }
        }
    }
    for (let k = 0; k < sums.length; k++) {
        const c = Math.floor(k / classes);
        if (sums[k])
            push(p, t0 + c * w, t0 + (c + 1) * w, sums[k] / rows.length, k % classes);
    }
    return p;
}

return {makeRow, firstAfter, source, merge};
})();
