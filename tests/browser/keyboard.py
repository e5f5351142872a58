"""keyboard.py BROWSER PAGE,WIDTH,light|dark...: pages without a mouse, in a browser without a screen. Tab comes to all that opens or scrolls, in the
order of the page, and leaves the page behind the last; what has the focus is outlined and on the screen; Enter and Space open and close;
arrows scroll; links to sections lead there. Letters stand out from what is behind them, on light screens and dark ones.
The browser is driven through its pipe: messages of JSON, each with a zero byte behind it."""
import json
import os
import subprocess
import sys
import tempfile

LEAST_CONTRAST = 4.5  # WCAG 2.1, 1.4.3 (AA)


class Browser:
    def __init__(self, program, folder):
        here_in, there_out = os.pipe()
        there_in, here_out = os.pipe()

        def pass_on():  # the browser reads from 3 and writes to 4
            spare = os.dup(there_in), os.dup(there_out)
            os.dup2(spare[0], 3)
            os.dup2(spare[1], 4)

        self.process = subprocess.Popen(
            [program, "--headless", "--no-sandbox", "--disable-gpu", "--disable-smooth-scrolling",
             "--remote-debugging-pipe", f"--user-data-dir={folder}/browser"],
            preexec_fn=pass_on, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(there_in)
        os.close(there_out)
        self.pipe_in, self.pipe_out, self.rest, self.count, self.session = here_in, here_out, b"", 0, {}
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = {"sessionId": self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]}

    def answer(self):
        while b"\0" not in self.rest:
            more = os.read(self.pipe_in, 65536)
            if not more:
                raise EOFError("the browser has ended")
            self.rest += more
        message, self.rest = self.rest.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, **params):
        self.count += 1
        message = {"id": self.count, "method": method, "params": params, **self.session}
        os.write(self.pipe_out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.answer()
            if answer.get("id") == self.count:
                return answer["result"]

    def show(self, url, width, scheme):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=800, deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.call("Page.navigate", url=url)
        self.value("new Promise(done => document.readyState === 'complete' ? done() : addEventListener('load', done))")

    def value(self, expression):
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise ValueError(answer["exceptionDetails"])
        return answer["result"].get("value")

    def press(self, key, code, text=None):
        down = {"text": text} if text else {}
        for what in ({"type": "keyDown", **down}, {"type": "keyUp"}):
            self.call("Input.dispatchKeyEvent", key=key, code=key if key != " " else "Space", windowsVirtualKeyCode=code, **what)


FOCUSED = """(() => {
    const here = document.activeElement, at = here.getBoundingClientRect(), style = getComputedStyle(here);
    const edge = 2; // of an outline
    return {place: here === document.body ? -1 : [...document.querySelectorAll('*')].indexOf(here), tag: here.tagName,
        outlined: style.outlineStyle !== 'none' && style.outlineWidth !== '0px', text: here.textContent.slice(0, 40),
        shown: at.bottom > edge && at.top < innerHeight - edge && at.right > edge && at.left < innerWidth - edge};
})()"""
# What a keyboard has to come to: links, what opens and is not within what is closed, and what scrolls (where nothing within has the focus).
WANTED = """[...document.querySelectorAll('a[href], summary, .scroll')].filter(one => one.checkVisibility({contentVisibilityAuto: true}) &&
    !(one.tagName === 'SUMMARY' ? one.parentNode.parentNode : one).closest('details:not([open])') &&
    (one.className !== 'scroll' || (one.scrollWidth > one.clientWidth && !one.querySelector('summary'))))
    .map(one => [...document.querySelectorAll('*')].indexOf(one))"""
CONTRASTS = """(() => {
    const style = getComputedStyle(document.documentElement);
    const light = name => { // relative luminance, as WCAG has it
        const digits = style.getPropertyValue('--' + name).trim().slice(1);
        const pairs = digits.length === 3 ? [...digits].map(digit => digit + digit) : digits.match(/../g);
        const [r, g, b] = pairs.map(pair => parseInt(pair, 16) / 255).map(c => c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const found = [];
    for (const letters of ['ink', 'soft', 'accent', 'bad'])
        for (const behind of ['back', 'memory', 'cache', 'tlb', 'shared', 'group']) {
            const two = [light(letters), light(behind)].sort((a, b) => b - a);
            found.push([letters, behind, (two[0] + 0.05) / (two[1] + 0.05)]);
        }
    return found;
})()"""
OPEN = "document.activeElement.parentNode.open"


def scrolls(browser):
    """Does what has the focus follow the arrows? It does so some frames after the key."""
    for _ in range(50):
        browser.press("ArrowRight", 39)
        if browser.value("new Promise(done => setTimeout(() => done(document.activeElement.scrollLeft > 0), 20))"):
            return True
    return False


def walk(browser, name, told):
    """Tab from the top to the end."""
    wanted, places = browser.value(WANTED), []
    while len(places) <= len(wanted) + 1:
        browser.press("Tab", 9)
        focused = browser.value(FOCUSED)
        if focused["place"] < 0 or focused["place"] in places:
            break
        places.append(focused["place"])
        for what in ("outlined", "shown"):
            if not focused[what]:
                told.append(f"{name}: {focused['tag']} '{focused['text']}' has the focus and is not {what}")
        if focused["tag"] == "DIV" and not scrolls(browser):
            told.append(f"{name}: arrows do not scroll '{focused['text']}'")
    if places != wanted:
        told.append(f"{name}: Tab comes to {places}, not to {wanted}")


def open_and_close(browser, name, told):
    if browser.value("(document.querySelector('summary') || document.body).focus(), document.activeElement.tagName") != "SUMMARY":
        return
    for key, code, text, wanted in (("Enter", 13, "\r", True), ("Enter", 13, "\r", False), (" ", 32, " ", True), (" ", 32, " ", False)):
        browser.press(key, code, text)
        if browser.value(OPEN) != wanted:
            told.append(f"{name}: the key {text!r} does not {'open' if wanted else 'close'}")


def follow_a_link(browser, name, told):
    if browser.value("(document.querySelector('nav a:last-child') || document.body).focus(), document.activeElement.tagName") != "A":
        return False
    browser.press("Enter", 13, "\r")
    if not browser.value("document.querySelector('section:last-of-type').getBoundingClientRect().top < innerHeight"):
        told.append(f"{name}: the last link does not lead to the last section")
    return True


def main():
    told, links = [], 0
    with tempfile.TemporaryDirectory() as folder:
        browser = Browser(sys.argv[1], folder)
        for name in sys.argv[2:]:
            page, width, scheme = name.split(",")
            browser.show(f"file://{os.path.abspath(page)}", int(width), scheme)
            walk(browser, name, told)
            open_and_close(browser, name, told)
            links += follow_a_link(browser, name, told)
            told += [f"{name}: {letters} on {behind} has a contrast of {contrast:.2f}"
                     for letters, behind, contrast in browser.value(CONTRASTS) if contrast < LEAST_CONTRAST]
        browser.call("Browser.close")
        browser.process.wait()
    if not links:
        told.append("no page has links to its sections")
    print("\n".join(told))
    return 1 if told else 0


if __name__ == "__main__":
    sys.exit(main())
