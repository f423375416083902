#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Timelines in a real browser: test_timeline.py SAMPLE_PAGE TRACEMILL, the programs that write pages."""
import json
import os
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True  # nothing of a test stays among the sources
import browser

# What sample_page.c puts there, in ns.
SPAN_AT_LEAST, FIRST, SECOND, FINDING = 5_000_000, (0, 100_000), (1_100_000, 1_350_125), 1_100_000
HOSTILE = "</script><img src=x onerror=alert(1)>"
VIEW = "[+document.querySelector('figure.tl').dataset.from, +document.querySelector('figure.tl').dataset.to]"


def check(condition, *told):
    if not condition:
        raise AssertionError(" ".join(map(str, told)))


class Timeline:
    """A page with one timeline, open in the browser."""

    def __init__(self, b, path, **how):
        self.page = browser.Page(b, path, **how)
        self.page.wait("document.querySelector('figure.tl').dataset.to")
        self.left, self.top, self.width, self.height = self.page.box(".tl-canvas")
        self.whole = self.view()

    def view(self):
        self.page.frames()
        return self.page.value(VIEW)

    def x(self, ns):
        """Where a time is in the window."""
        page, (start, _) = self.page, self.view()
        return self.left + (ns - start) / page.value("document.querySelector('figure.tl').dataset.column * devicePixelRatio")

    def moved(self, before):
        self.page.wait("String(%s) !== '%s'" % (VIEW, ",".join(map(str, before))))
        return self.view()

    def end(self):
        check(not self.page.complaints, self.page.complaints)
        self.page.close()


def test_whole(b, pages):
    t = Timeline(b, pages["small"])
    check(t.whole[0] == 0 and t.whole[1] > SPAN_AT_LEAST, t.whole)
    check(t.page.value("getComputedStyle(document.querySelector('.tl-static')).display") == "none")
    t.end()


def test_zoom(b, pages):
    """The time under the pointer stays there, to a column."""
    t = Timeline(b, pages["small"])
    x, y = t.left + t.width * 0.4, t.top + 40
    at = t.view()[0] + (x - t.left) * t.page.value("document.querySelector('figure.tl').dataset.column * devicePixelRatio")
    view = t.whole
    for _ in range(6):
        t.page.wheel(x, y, -120)
        view = t.moved(view)
    check(view[1] - view[0] < (t.whole[1] - t.whole[0]) / 4, view, t.whole)
    check(abs(t.x(at) - x) <= 2, at, t.x(at), x)
    t.page.wheel(x, y, 120)
    out = t.moved(view)
    check(out[1] - out[0] > view[1] - view[0], view, out)
    t.page.click(x, y, count=2)
    check(t.moved(out)[1] - t.view()[0] < out[1] - out[0], "double click")
    t.page.click_on(".tl-bar button:nth-child(3)")
    t.page.wait("%s.join() === '%s'" % (VIEW, ",".join(map(str, t.whole))))
    t.end()


def test_pan(b, pages):
    t = Timeline(b, pages["small"])
    x, y = t.left + t.width / 2, t.top + 40
    t.page.wheel(x, y, -600)
    view = t.moved(t.whole)
    t.page.drag(x, y, x - 100, y)
    by = 100 * t.page.value("document.querySelector('figure.tl').dataset.column * devicePixelRatio")
    dragged = t.moved(view)
    check(abs(dragged[0] - view[0] - by) <= by / 100 + 1, view, dragged, by)
    t.page.wheel(x, y, -100, shift=True)
    back = t.moved(dragged)
    check(back[0] < dragged[0] and abs((back[1] - back[0]) - (dragged[1] - dragged[0])) <= 1, back, dragged)
    t.page.value("document.querySelector('.tl-map').scrollIntoView({block: 'center', behavior: 'instant'})")
    left, top, width, height = t.page.box(".tl-map")
    t.page.click(left + 5, top + height / 2)
    check(t.moved(back)[0] == 0, "the overview's left end", t.view())
    t.end()


def test_keys(b, pages):
    t = Timeline(b, pages["small"])
    t.page.value("document.querySelector('.tl-plot').focus()")
    for _ in range(3):
        t.page.key("+", "+")
    view = t.moved(t.whole)
    t.page.key("End")
    end = t.moved(view)
    check(abs(end[1] - t.whole[1]) <= 1, end, t.whole)
    t.page.key("ArrowLeft")
    left = t.moved(end)
    check(left[0] < end[0], left, end)
    t.page.key("Home")
    check(t.moved(left)[0] == 0)
    t.page.key("ArrowDown")
    for _ in range(2):
        t.page.key("n", "n")
    t.page.wait("document.querySelector('.tl-spoken').textContent.includes('250.125')")
    check(HOSTILE in t.page.value("document.querySelector('.tl-tip').textContent"), "the chosen interval's label")
    t.page.key("Escape")
    t.page.wait("%s.join() === '%s'" % (VIEW, ",".join(map(str, t.whole))))
    check(t.page.value("document.querySelector('.tl-tip').hidden"))
    t.end()


def test_hover(b, pages):
    t = Timeline(b, pages["small"])
    left, top, _, height = t.page.box(".tl-name")
    y = top + height / 2
    t.page.mouse("mouseMoved", t.x(sum(SECOND) / 2), y)
    text = t.page.wait("!document.querySelector('.tl-tip').hidden && document.querySelector('.tl-tip').innerText")
    check(text.split("\n") == [HOSTILE, "stream 7, B", "start 1\u202f100.000\u202fµs", "duration 250.125\u202fµs"],
          repr(text))
    t.page.mouse("mouseMoved", t.x(600_000), y)
    t.page.wait("document.querySelector('.tl-tip').hidden")
    left, top, _, height = t.page.box(".tl-name ~ .tl-name")
    t.page.mouse("mouseMoved", t.x(3_000_000), top + height / 2)
    t.page.wait("/ in all\\n[^]*: [0-9.]+.%, /.test(document.querySelector('.tl-tip').innerText)")
    t.end()


def pixels(t, ns, row):
    """[colour at the top, colour at the bottom] of a row's column; -1 where it is paper."""
    return t.page.value("""(() => {
        const c = document.querySelector('.tl-canvas'), y = document.querySelectorAll('.tl-name')[%d].offsetTop;
        const copy = new OffscreenCanvas(1, 18), g = copy.getContext('2d', {willReadFrequently: true});
        g.drawImage(c, -Math.floor((%f - %f) * devicePixelRatio), -y);
        return [2, 15].map(at => Array.from(g.getImageData(0, at, 1, 1).data.slice(0, 3)));
    })()""" % (row, t.x(ns), t.left))


def test_colours(b, pages):
    """Bars stand where their times are, in the colour of their class, in both themes."""
    for theme, paper in (("light", [255, 255, 255]), ("dark", [13, 17, 23])):
        t = Timeline(b, pages["small"], theme=theme)
        check(pixels(t, 50_000, 0) == [[0xE6, 0x9F, 0x00]] * 2, theme, pixels(t, 50_000, 0))
        check(pixels(t, 600_000, 0) == [paper] * 2, theme, pixels(t, 600_000, 0))
        check(pixels(t, 4_000_000, 0) == [[0x56, 0xB4, 0xE9]] * 2, theme)
        t.page.click_on(".tl-legend li:nth-child(3) button")
        t.page.frames()
        check(pixels(t, 4_000_000, 0) == [paper] * 2, "hidden by the legend", theme)
        t.end()
    t = Timeline(b, pages["small"])
    t.page.theme("dark")
    t.page.frames()
    check(pixels(t, 600_000, 0) == [[13, 17, 23]] * 2, "the theme changed while the page was open")
    t.end()


def test_link(b, pages):
    t = Timeline(b, pages["small"])
    t.page.click_on("a[data-timeline]")
    view = t.moved(t.whole)
    check(view[0] < FINDING < view[1] and view[1] - view[0] < (t.whole[1] - t.whole[0]) / 5, view)
    check(t.page.value("document.activeElement.className") == "tl-plot", "the timeline has the keyboard")
    fragment = t.page.wait("location.hash.includes('=') && location.hash")
    check(fragment.endswith("@%d" % FINDING), fragment)
    t.end()
    again = Timeline(b, pages["small"], fragment=fragment)
    check(all(abs(x - y) <= (view[1] - view[0]) / 15 for x, y in zip(again.whole, view)), again.whole, view)
    again.end()


def test_hostile(b, pages):
    """Text of a profile is text everywhere."""
    t = Timeline(b, pages["hostile"])
    check(t.page.value("document.images.length") == 0)
    check(HOSTILE in t.page.value("document.querySelector('.tl-plot').innerText"))
    t.end()


def test_without_script(b, pages):
    page = browser.Page(b, pages["small"], js=False)
    page.send("DOM.enable")
    root = page.send("DOM.getDocument")["root"]["nodeId"]

    def node(selector):
        return page.send("DOM.querySelector", nodeId=root, selector=selector)["nodeId"]

    height = page.send("DOM.getBoxModel", nodeId=node(".tl-static svg[role=img]"))["model"]["height"]
    check(height == 18, height)
    check(node(".tl-static path.tl-c1") and not node(".tl-live"))
    check(not page.complaints, page.complaints)
    page.close()


def test_narrow(b, pages):
    t = Timeline(b, pages["small"], width=400, scale=2)
    check(t.page.value("document.documentElement.scrollWidth") <= 400, "nothing is wider than the window")
    check(t.width > 340, t.width)
    t.end()


def test_touch(b, pages):
    """Two fingers that part zoom in."""
    t = Timeline(b, pages["small"], touch=True)
    x, y = t.left + t.width / 2, t.top + 40
    t.page.touch("touchStart", (x - 50, y), (x + 50, y))
    t.page.touch("touchMove", (x - 150, y), (x + 150, y))
    view = t.moved(t.whole)
    t.page.touch("touchEnd")
    check(view[1] - view[0] < (t.whole[1] - t.whole[0]) / 2, view)
    t.end()


def test_print(b, pages):
    t = Timeline(b, pages["small"])
    t.page.media("print")
    check(t.page.value("getComputedStyle(document.querySelector('.tl-static')).display") == "block")
    check(t.page.value("getComputedStyle(document.querySelector('.tl-live')).display") == "none")
    t.end()


def test_many(b, pages):
    """Intervals that did not fit: the page says to what resolution, and zooming beyond it works."""
    t = Timeline(b, pages["many"])
    check("added up over at most" in t.page.value("document.querySelector('figure.tl').innerText"))
    t.page.click_on(".tl-plot")
    view = t.whole
    for _ in range(24):
        t.page.key("+", "+")
        view = t.moved(view)
        at = t.left + t.width / 2
        t.page.mouse("mouseMoved", at, t.page.box(".tl-name ~ .tl-name")[1] + 9)
        t.page.frames()
        shares = t.page.value("document.querySelector('.tl-tip').innerText.match(/[0-9.]+(?=.%)/g)") or [0]
        check(sum(map(float, shares)) < 100.3, shares, view)
    check(view[1] - view[0] < 200_000, view)
    t.end()


EXACT = """(() => {
    const head = JSON.parse(document.querySelector('.tl-data').textContent);
    const row = timelineData.makeRow(head.lanes[1].rows[0], head), p = row.finest, columns = 8;
    let state = 7, levels = new Set();
    const random = n => ((state = (Math.imul(state, 1103515245) + 12345) >>> 0) >>> 8) % n;
    for (let round = 0; round < 400; round++) {
        const w = (16 + random(16)) * Math.pow(2, random(16) - 4);
        const t0 = random(Math.ceil(head.span / w)) * w, q = timelineData.source(row, t0, w, columns);
        const all = timelineData.merge([row], t0, w, columns, 64);
        levels.add(q.width);
        for (let c = 0; c < columns; c++) {
            const from = t0 + c * w, to = from + w, want = new Array(64).fill(0), got = new Array(64).fill(0);
            for (let i = 0; i < p.n; i++)
                want[p.cls[i]] += Math.max(0, Math.min(p.end[i], to) - Math.max(p.start[i], from));
            for (let i = timelineData.firstAfter(q, from); i < q.n && q.start[i] < to; i++)
                got[q.cls[i]] += q.ticks[i] < q.end[i] - q.start[i] ? q.ticks[i]
                    : Math.min(q.end[i], to) - Math.max(q.start[i], from);
            const merged = new Array(64).fill(0);
            for (let i = timelineData.firstAfter(all, from); i < all.n && all.start[i] < to; i++)
                merged[all.cls[i]] += all.ticks[i];
            if (String(want) !== String(got) || String(want) !== String(merged))
                return 'w ' + w + ', from ' + from + ', width ' + q.width + ': ' + got + ' or ' + merged + ' instead of ' + want;
        }
    }
    return levels.size;
})()"""


def test_exact(b, pages):
    """What a column shows is what its intervals fill, to the nanosecond, at every zoom."""
    t = Timeline(b, pages["small"])
    levels = t.page.value(EXACT)
    check(isinstance(levels, int) and levels > 4, levels)
    t.end()


def test_lanes(b, pages):
    """Lanes beyond the window's height: the wheel beside them, a drag and the keys reach them."""
    t = Timeline(b, pages["lanes"])
    check(t.page.value("document.querySelectorAll('.tl-name').length") == 403)
    check(t.height < 900, t.height)
    x, y = t.left + t.width / 2, t.top + t.height / 2
    t.page.drag(x, y, x, y - 200)
    t.page.wait("document.querySelector('.tl-plot').scrollTop === 200")
    t.page.value("document.querySelector('.tl-plot').scrollTop = 1e6")
    t.page.frames()
    left, top, _, height = t.page.box(".tl-name:last-of-type")
    t.page.mouse("mouseMoved", t.x(399_000 + 1_050_000), top + height / 2)
    text = t.page.wait("!document.querySelector('.tl-tip').hidden && document.querySelector('.tl-tip').innerText")
    check("notify\none of many\nstart 1\u202f399.000" in text, repr(text))
    t.end()


def test_report(b, pages):
    """A page of html.write, under its own policy of what may run."""
    t = Timeline(b, pages["report"])
    t.page.wheel(t.left + t.width / 2, t.top + 40, -600)
    view = t.moved(t.whole)
    check(view[1] - view[0] < t.whole[1] - t.whole[0], view)
    t.end()


def test_gaps(b, pages):
    """The largest gaps have a frame, and a list with links to them."""
    t = Timeline(b, pages["report"])
    waits = json.loads(t.page.value("document.querySelector('.tl-data').textContent"))["waits"]
    check(waits and any("at" in gap for gap in waits), waits)
    check(t.page.value("document.querySelectorAll('.tl-gaps li').length") == min(len(waits), 20), len(waits))
    t.page.click_on(".tl-gaps summary")
    t.page.click_on(".tl-gaps a")
    from_, to = t.moved(t.whole)
    check(from_ < (waits[0]["from"] + waits[0]["to"]) / 2 < to, (from_, to), waits[0])
    t.end()


TESTS = [test_whole, test_zoom, test_pan, test_keys, test_hover, test_colours, test_link, test_hostile,
         test_without_script, test_narrow, test_touch, test_print, test_many, test_exact, test_lanes,
         test_report, test_gaps]


PIPELINE = """
[trace]
use = kineto.read
path = ${args}
[overlap]
use = overlap
in.trace = trace
lanes = yes
[gaps]
use = gaps
in.trace = trace
lanes = yes
[page]
use = html.write
in = overlap, gaps
mark-gaps = 1us
path = %s
"""


def write_pages(program, tracemill, folder):
    pages = {"report": os.path.join(folder, "report.html")}
    pipeline = os.path.join(folder, "page.ini")
    with open(pipeline, "w", encoding="utf-8") as f:
        f.write(PIPELINE % pages["report"])
    sample = os.path.join(os.environ["TRACEMILL_TEST_SOURCE"], "tests/data/sample.json.gz")
    subprocess.run([tracemill, "run", pipeline, sample], check=True)
    for name, args in (("small", ["small"]), ("hostile", ["hostile"]), ("many", ["200000", "300000"]), ("lanes", ["lanes"])):
        pages[name] = os.path.join(folder, name + ".html")
        with open(pages[name], "wb") as f:
            subprocess.run([program, *args], stdout=f, check=True)
    return pages


def main():
    if not browser.find():
        print("1..0 # SKIP no Chromium; `etc/setup test` installs it")
        return
    print("1..%d" % len(TESTS), flush=True)
    failed = False
    with tempfile.TemporaryDirectory() as folder, browser.Browser() as b:
        pages = write_pages(sys.argv[1], sys.argv[2], folder)
        for number, test in enumerate(TESTS, 1):
            try:
                test(b, pages)
                print("ok %d %s" % (number, test.__name__), flush=True)
            except (AssertionError, browser.Broken) as e:
                failed = True
                print("not ok %d %s\n# %s" % (number, test.__name__, str(e).replace("\n", "\n# ")), flush=True)
    sys.exit(failed)


main()
