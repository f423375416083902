#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A real browser for tests and pictures: Chromium without a window, driven over a pipe.

    browser.py screenshot PAGE.html OUT.png [--width 1200] [--height 900] [--theme light|dark]
                                            [--selector CSS] [--full] [--scale 1] [--no-js]

As a module: Browser starts one, Page opens a file in it and sends it what people do. Only Python's
own library is needed. Everything that a page says on the console, throws, or asks the network for is
kept in `page.complaints`; nothing of it is normal in a page that stands alone."""
import argparse
import base64
import fcntl
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

FLAGS = ["--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe", "--no-first-run",
         "--disable-extensions", "--disable-background-networking", "--disable-component-update",
         "--disable-dev-shm-usage", "--hide-scrollbars", "--force-color-profile=srgb", "--mute-audio"]


def find():
    """The browser's path, or None."""
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


class Broken(Exception):
    """The browser ended, or refused a command."""


class Browser:
    def __init__(self):
        self.profile = tempfile.TemporaryDirectory(prefix="pages-", ignore_cleanup_errors=True)
        to_child, self.out = os.pipe()
        self.back, from_child = os.pipe()
        # The browser reads commands from descriptor 3 and writes to 4; ours may have these numbers.
        high = [fcntl.fcntl(fd, fcntl.F_DUPFD, 10) for fd in (to_child, from_child)]

        def place():
            os.dup2(high[0], 3)
            os.dup2(high[1], 4)

        self.process = subprocess.Popen(
            [find(), *FLAGS, "--user-data-dir=" + self.profile.name, "about:blank"], preexec_fn=place,
            pass_fds=(3, 4), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for fd in (to_child, from_child, *high):
            os.close(fd)
        self.buffer, self.number, self.pages = b"", 0, {}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self.send("Browser.close")
        except (Broken, OSError):
            pass
        os.close(self.out)
        os.close(self.back)
        self.process.wait()
        self.profile.cleanup()

    def read(self):
        while b"\0" not in self.buffer:
            data = os.read(self.back, 1 << 16)
            if not data:
                raise Broken("the browser ended")
            self.buffer += data
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def send(self, method, session=None, **params):
        self.number += 1
        command = {"id": self.number, "method": method, "params": params}
        if session:
            command["sessionId"] = session
        data = json.dumps(command).encode() + b"\0"
        while data:
            data = data[os.write(self.out, data):]
        while True:
            answer = self.read()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise Broken("%s: %s" % (method, answer["error"]["message"]))
                return answer["result"]
            page = self.pages.get(answer.get("sessionId"))
            if page:
                page.event(answer["method"], answer["params"])


class Page:
    """A tab. theme: "light" or "dark"."""

    def __init__(self, browser, path, width=1200, height=900, theme="light", scale=1, js=True, touch=False,
                 fragment=""):
        self.browser, self.complaints, self.loaded = browser, [], False
        self.target = browser.send("Target.createTarget", url="about:blank")["targetId"]
        self.session = browser.send("Target.attachToTarget", targetId=self.target, flatten=True)["sessionId"]
        browser.pages[self.session] = self
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.send(domain + ".enable")
        self.send("Emulation.setScriptExecutionDisabled", value=not js)
        if touch:
            self.send("Emulation.setTouchEmulationEnabled", enabled=True, maxTouchPoints=2)
        self.theme(theme)
        self.size(width, height, scale)
        self.url = pathlib.Path(path).resolve().as_uri() + fragment
        self.go(self.url)

    def go(self, url):
        self.loaded = False
        self.send("Page.navigate", url=url)
        while not self.loaded:
            answer = self.browser.read()
            if answer.get("sessionId") == self.session and "method" in answer:
                self.event(answer["method"], answer["params"])

    def send(self, method, **params):
        return self.browser.send(method, self.session, **params)

    def event(self, method, params):
        if method == "Page.loadEventFired":
            self.loaded = True
        elif method == "Runtime.exceptionThrown":
            details = params["exceptionDetails"]
            self.complaints.append(details.get("exception", {}).get("description", details["text"]))
        elif method == "Runtime.consoleAPICalled":
            self.complaints.append("console: %s" % [a.get("value", a.get("description")) for a in params["args"]])
        elif method == "Log.entryAdded":
            self.complaints.append("log: " + params["entry"]["text"])
        elif method == "Page.javascriptDialogOpening":
            self.complaints.append("dialog: " + params["message"])
            self.browser.number += 1  # unanswered, it would stop the page
            os.write(self.browser.out, json.dumps(
                {"id": self.browser.number, "sessionId": self.session, "params": {"accept": True},
                 "method": "Page.handleJavaScriptDialog"}).encode() + b"\0")
        elif method == "Network.requestWillBeSent":
            url = params["request"]["url"]
            if not url.startswith(("file:", "data:", "about:")):
                self.complaints.append("request: " + url)

    def theme(self, name):
        self.send("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": name}])

    def media(self, name):
        self.send("Emulation.setEmulatedMedia", media=name)

    def size(self, width, height, scale=1):
        self.send("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=scale,
                  mobile=False)

    def value(self, expression):
        """What JavaScript's expression is, waiting for it if it is a promise."""
        result = self.send("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise Broken("%s: %s" % (expression, result["exceptionDetails"].get("exception", {}).get("description")))
        return result["result"].get("value")

    def wait(self, condition):
        """Until it is true, looking once a frame. The test's own time limit ends what never is."""
        return self.value("new Promise(done => { const look = () => { const x = (%s); "
                          "x ? done(x) : requestAnimationFrame(look); }; look(); })" % condition)

    def frames(self):
        """Until what was asked for is drawn."""
        self.value("new Promise(d => requestAnimationFrame(() => requestAnimationFrame(d)))")

    def box(self, selector):
        """[left, top, width, height] in the window."""
        return self.value("(() => { const b = document.querySelector(%s).getBoundingClientRect(); "
                          "return [b.left, b.top, b.width, b.height]; })()" % json.dumps(selector))

    def mouse(self, kind, x, y, **more):
        self.send("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def click(self, x, y, count=1):
        for n in range(1, count + 1):
            for kind in ("mousePressed", "mouseReleased"):
                self.mouse(kind, x, y, button="left", clickCount=n)

    def click_on(self, selector):
        self.value("document.querySelector(%s).scrollIntoView({block: 'center', behavior: 'instant'})" % json.dumps(selector))
        left, top, width, height = self.box(selector)
        self.click(left + width / 2, top + height / 2)

    def drag(self, x, y, to_x, to_y):
        self.mouse("mousePressed", x, y, button="left", clickCount=1)
        for share in (0.3, 0.7, 1):
            self.mouse("mouseMoved", x + (to_x - x) * share, y + (to_y - y) * share, button="left", buttons=1)
        self.mouse("mouseReleased", to_x, to_y, button="left", clickCount=1)

    def wheel(self, x, y, delta_y, shift=False):
        self.mouse("mouseWheel", x, y, deltaX=0, deltaY=delta_y, modifiers=8 if shift else 0)

    def touch(self, kind, *points):
        self.send("Input.dispatchTouchEvent", type=kind,
                  touchPoints=[{"x": x, "y": y, "id": i} for i, (x, y) in enumerate(points)])

    def key(self, key, text=None):
        for kind in ("keyDown", "keyUp"):
            more = {"text": text} if text and kind == "keyDown" else {}
            self.send("Input.dispatchKeyEvent", type=kind, key=key, **more)

    def screenshot(self, path, selector=None, full=False):
        more = {}
        if selector:
            left, top, width, height = self.box(selector)
            up = self.value("scrollY")
            more = {"clip": {"x": left, "y": top + up, "width": width, "height": height, "scale": 1},
                    "captureBeyondViewport": True}
        elif full:
            more = {"captureBeyondViewport": True}
            height = self.value("document.documentElement.scrollHeight")
            more["clip"] = {"x": 0, "y": 0, "width": self.value("innerWidth"), "height": height, "scale": 1}
        data = self.send("Page.captureScreenshot", format="png", **more)["data"]
        pathlib.Path(path).write_bytes(base64.b64decode(data))

    def close(self):
        self.browser.pages.pop(self.session)
        self.browser.send("Target.closeTarget", targetId=self.target)


def main():
    parser = argparse.ArgumentParser(description="Makes a picture of a page.")
    parser.add_argument("command", choices=["screenshot"])
    parser.add_argument("page")
    parser.add_argument("out")
    parser.add_argument("--width", type=int, default=1200, help="of the window, in CSS pixels")
    parser.add_argument("--height", type=int, default=900)
    parser.add_argument("--scale", type=float, default=1, help="pixels of the picture in a CSS pixel")
    parser.add_argument("--theme", choices=["light", "dark"], default="light")
    parser.add_argument("--selector", help="only the first element that this CSS selector finds")
    parser.add_argument("--full", action="store_true", help="the whole page, however long")
    parser.add_argument("--no-js", action="store_true", help="as it is without JavaScript")
    args = parser.parse_args()
    if not find():
        sys.exit("browser.py: no Chromium; on Debian: apt-get install chromium")
    if not os.path.isfile(args.page):
        sys.exit("browser.py: %s: no such file" % args.page)
    with Browser() as browser:
        page = Page(browser, args.page, args.width, args.height, args.theme, args.scale, js=not args.no_js)
        page.frames() if not args.no_js else None
        page.screenshot(args.out, args.selector, args.full)
        for complaint in page.complaints:
            print("browser.py: %s: %s" % (args.page, complaint), file=sys.stderr)


if __name__ == "__main__":
    main()
