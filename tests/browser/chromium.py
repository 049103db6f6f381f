"""Chromium without a window, driven through chromedriver's HTTP interface (W3C WebDriver) by Python alone."""
import contextlib
import json
import re
import shutil
import subprocess
import time
import urllib.error
import urllib.request

# Elements that stick out of the window, and are not inside one that scrolls by itself.
WIDE_ELEMENTS = """
const scrolls = e => e && e !== document.body && (getComputedStyle(e).overflowX === 'auto' || scrolls(e.parentElement));
return [...document.querySelectorAll('body *')]
  .filter(e => e.getBoundingClientRect().right > innerWidth + 1 && !scrolls(e.parentElement))
  .map(e => e.tagName + ' ' + e.textContent.slice(0, 60));"""

# Contrast of texts with what is behind them (WCAG 2.1, 1.4.3), below 4.5.
FAINT_TEXTS = """
const channels = text => text.match(/[\\d.]+/g).map(Number);
const light = c => { c /= 255; return c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4; };
const luminance = c => 0.2126 * light(c[0]) + 0.7152 * light(c[1]) + 0.0722 * light(c[2]);
const behind = e => {
  for (; e; e = e.parentElement) {
    const c = channels(getComputedStyle(e).backgroundColor);
    if (c.length === 3 || c[3] === 1) return c;
  }
  return [255, 255, 255];
};
const opacity = e => e ? Number(getComputedStyle(e).opacity) * opacity(e.parentElement) : 1;
const faint = [];
for (const e of document.querySelectorAll('h1, h2, p, li, dt, dd, td, th, pre, caption, figcaption, summary, text')) {
  const back = behind(e), share = opacity(e), style = getComputedStyle(e);
  const front = channels(e.tagName === 'text' ? style.fill : style.color).slice(0, 3)
    .map((c, i) => share * c + (1 - share) * back[i]);
  const [low, high] = [luminance(front), luminance(back)].sort((a, b) => a - b);
  if ((high + 0.05) / (low + 0.05) < 4.5) faint.push(e.tagName + ' ' + e.textContent.slice(0, 40));
}
return faint;"""


def missing():
    """What is not installed, as a sentence; empty where nothing is missing."""
    absent = [name for name in ("chromium", "chromedriver") if shutil.which(name) is None]
    return f"{' and '.join(absent)} not found; apt install chromium chromium-driver" if absent else ""


class Browser:
    """One page at a time, at a width and in light or dark."""

    def __init__(self, driver_address):
        options = {"binary": shutil.which("chromium"),
                   "args": ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                            "--disable-background-networking", "--no-first-run"]}
        capabilities = {"browserName": "chrome", "goog:chromeOptions": options,
                        "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"}}
        self.address = driver_address
        created = self.call("POST", "/session", {"capabilities": {"alwaysMatch": capabilities}})
        self.address += "/session/" + created["sessionId"]

    def call(self, method, path, body=None):
        data = json.dumps(body if body is not None else {}).encode() if method == "POST" else None
        request = urllib.request.Request(self.address + path, data, {"Content-Type": "application/json"}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=120) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise RuntimeError(json.load(error)["value"]["message"]) from None

    def command(self, name, **parameters):
        """A command of Chromium's own protocol."""
        return self.call("POST", "/goog/cdp/execute", {"cmd": name, "params": parameters})

    def open(self, path, width, dark=False, height=900):
        self.command("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.command("Emulation.setEmulatedMedia",
                     features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        self.messages()
        self.call("POST", "/url", {"url": f"file://{path}"})

    def run(self, script):
        """What a script in the page returns."""
        return self.call("POST", "/execute/sync", {"script": script, "args": []})

    def messages(self):
        """What the console has said since it was asked last."""
        return self.call("POST", "/se/log", {"type": "browser"})

    def requests(self):
        """Addresses that the page has asked for since it was asked last."""
        events = [json.loads(entry["message"])["message"] for entry in self.call("POST", "/se/log", {"type": "performance"})]
        return [event["params"]["request"]["url"] for event in events if event["method"] == "Network.requestWillBeSent"]

    def screenshot(self):
        """The whole page as a PNG, in base64."""
        size = self.command("Page.getLayoutMetrics")["cssContentSize"]
        return self.picture(0, 0, size["width"], size["height"])

    def picture(self, x, y, width, height):
        """A part of the page as a PNG, in base64."""
        return self.command("Page.captureScreenshot", captureBeyondViewport=True,
                            clip={"x": x, "y": y, "width": width, "height": height, "scale": 1})["data"]


@contextlib.contextmanager
def browser():
    """A browser that ends with the block."""
    driver = subprocess.Popen([shutil.which("chromedriver"), "--port=0"], stdout=subprocess.PIPE, text=True)
    opened = None
    try:
        port = None
        while port is None:
            line = driver.stdout.readline()
            if not line:
                raise RuntimeError("chromedriver ended before it said its port")
            found = re.search(r"started successfully on port (\d+)", line)
            port = found and found.group(1)
        for attempt in range(50):
            try:
                opened = Browser(f"http://127.0.0.1:{port}")
                break
            except urllib.error.URLError:
                if attempt == 49:
                    raise
                time.sleep(0.1)
        yield opened
    finally:
        if opened is not None:
            with contextlib.suppress(Exception):
                opened.call("DELETE", "")
        driver.terminate()
        driver.wait()
        driver.stdout.close()
