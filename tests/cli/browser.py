"""A headless Chromium with one page, driven through its debugging pipe: no server, no port, no library.

Every request the page makes is seen, and every line of its console.
"""
import json
import os
import shutil
import subprocess
import tempfile
import time

PROGRAM = os.environ.get("CHROMIUM") or next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
PATIENCE = 120  # seconds: ends what hangs, however busy the machine


class Browser:
    def __init__(self):
        self.home = tempfile.mkdtemp(prefix="bda-browser-")
        from_us, self.out = os.pipe()
        self.incoming, to_us = os.pipe()

        def connect():  # the pipe is expected at 3 and 4
            first, second = os.dup(from_us), os.dup(to_us)
            os.dup2(first, 3)
            os.dup2(second, 4)

        self.process = subprocess.Popen(
            [PROGRAM, "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking",
             "--disable-component-update", "--no-first-run", "--disable-dev-shm-usage", "--hide-scrollbars",
             "--remote-debugging-pipe", "--user-data-dir=" + self.home, "about:blank"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, close_fds=False, preexec_fn=connect)
        os.close(from_us)
        os.close(to_us)
        os.set_blocking(self.incoming, False)
        self.buffer = b""
        self.number = 0
        self.console, self.requests, self.events = [], [], []
        target = next(t for t in self.call("Target.getTargets")["targetInfos"] if t["type"] == "page")
        self.session = self.call("Target.attachToTarget", targetId=target["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(domain + ".enable")

    session = None

    def call(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.receive()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]

    def receive(self):
        end = time.monotonic() + PATIENCE
        while b"\0" not in self.buffer:
            try:
                part = os.read(self.incoming, 1 << 20)
            except BlockingIOError:
                if time.monotonic() > end:
                    raise TimeoutError("the browser does not answer") from None
                time.sleep(0.005)
                continue
            if not part:
                raise RuntimeError("the browser is gone")
            self.buffer += part
        text, self.buffer = self.buffer.split(b"\0", 1)
        message = json.loads(text)
        self.note(message)
        return message

    def note(self, message):
        method, of = message.get("method"), message.get("params", {})
        if method == "Network.requestWillBeSent":
            self.requests.append(of["request"]["url"])
        elif method == "Runtime.exceptionThrown":
            self.console.append(of["exceptionDetails"].get("exception", {}).get("description", str(of)))
        elif method == "Runtime.consoleAPICalled":
            self.console.append(" ".join(str(a.get("value", a.get("description"))) for a in of["args"]))
        elif method == "Log.entryAdded":
            self.console.append(of["entry"]["text"])
        elif method == "Page.loadEventFired":
            self.events.append("load")

    def size(self, width, height):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def media(self, scheme="light", media=""):
        self.call("Emulation.setEmulatedMedia", media=media,
                  features=[{"name": "prefers-color-scheme", "value": scheme}])

    def open(self, path):
        self.events.clear()
        self.call("Page.navigate", url="file://" + os.path.abspath(path))
        while "load" not in self.events:
            self.receive()

    def run(self, script):
        """The value of a JavaScript expression, promises awaited."""
        result = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError(result["exceptionDetails"].get("exception", {}).get("description", str(result)))
        return result["result"].get("value")

    def settle(self):
        self.run("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 50))))")

    def move(self, x, y):
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def press(self, key, code=0):
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code)

    def picture(self, path, whole=False):
        import base64
        data = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))

    def pdf(self):
        import base64
        return base64.b64decode(self.call("Page.printToPDF", printBackground=True)["data"])

    def close(self):
        try:
            self.session = None
            self.call("Browser.close")
        except (RuntimeError, TimeoutError, OSError):
            self.process.kill()
        self.process.wait()
        os.close(self.out)
        os.close(self.incoming)
        shutil.rmtree(self.home, ignore_errors=True)
