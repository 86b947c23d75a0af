"""Chromium without a window, driven by its own protocol over two pipes. SPDX-License-Identifier: Apache-2.0"""
import fcntl
import json
import os
import pathlib
import select
import shutil
import subprocess
import tempfile
import time

SECONDS = 60
KEYS = {"ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40, "Home": 36, "End": 35, "PageUp": 33, "PageDown": 34, "Tab": 9}


class Browser:
    """One tab. `errors` collects what scripts throw, `requests` every address that is asked for."""

    def __init__(self):
        program = shutil.which("chromium")
        assert program, "chromium is not installed; tools/packages lists it"
        self.folder = tempfile.mkdtemp()
        to_read, self.to_write = os.pipe()
        self.from_read, from_write = os.pipe()
        # Chromium reads from descriptor 3 and writes to 4, whatever those are here.
        inside = fcntl.fcntl(to_read, fcntl.F_DUPFD, 20), fcntl.fcntl(from_write, fcntl.F_DUPFD, 20)
        self.process = subprocess.Popen(
            [program, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--remote-debugging-pipe",
             "--disable-background-networking", "--disable-component-update", "--user-data-dir=" + self.folder, "about:blank"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, pass_fds=(3, 4),
            preexec_fn=lambda: (os.dup2(inside[0], 3), os.dup2(inside[1], 4)))
        for descriptor in (to_read, from_write, *inside):
            os.close(descriptor)
        self.waiting, self.events, self.last = b"", [], 0
        self.errors, self.requests, self.session = [], [], None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network"):
            self.call(domain + ".enable")

    def close(self):
        os.close(self.to_write)
        self.process.terminate()
        self.process.wait(SECONDS)
        os.close(self.from_read)
        shutil.rmtree(self.folder, ignore_errors=True)

    def _receive(self, deadline: float) -> dict:
        while b"\0" not in self.waiting:
            ready, _, _ = select.select([self.from_read], [], [], max(0.0, deadline - time.monotonic()))
            assert ready, "chromium gave no answer in time"
            data = os.read(self.from_read, 1 << 16)
            assert data, f"chromium ended with {self.process.wait(SECONDS)}"
            self.waiting += data
        message, self.waiting = self.waiting.split(b"\0", 1)
        message = json.loads(message)
        if message.get("method") == "Runtime.exceptionThrown":
            self.errors.append(message["params"]["exceptionDetails"])
        if message.get("method") == "Network.requestWillBeSent":
            self.requests.append(message["params"]["request"]["url"])
        return message

    def call(self, method: str, **parameters):
        self.last += 1
        message = {"id": self.last, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.to_write, json.dumps(message).encode() + b"\0")
        deadline = time.monotonic() + SECONDS
        while (answer := self._receive(deadline)).get("id") != self.last:
            self.events.append(answer.get("method"))
        assert "error" not in answer, answer
        return answer["result"]

    def open(self, path: pathlib.Path):
        self.events.clear()
        self.call("Page.navigate", url=path.resolve().as_uri())
        deadline = time.monotonic() + SECONDS
        while "Page.loadEventFired" not in self.events:
            self.events.append(self._receive(deadline).get("method"))

    def value(self, expression: str):
        """What a JavaScript expression gives, as plain data."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def key(self, name: str):
        code = {"key": name, "code": name, "windowsVirtualKeyCode": KEYS[name]}
        self.call("Input.dispatchKeyEvent", type="keyDown", **code)
        self.call("Input.dispatchKeyEvent", type="keyUp", **code)

    def point(self, x: float, y: float):
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def tap(self, x: float, y: float):
        self.call("Input.dispatchTouchEvent", type="touchStart", touchPoints=[{"x": x, "y": y}])
        self.call("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])

    def phone(self, width: int, height: int):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=2, mobile=True)
        self.call("Emulation.setTouchEmulationEnabled", enabled=True)

    def dark(self, on: bool):
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if on else "light"}])

    def screenshot(self) -> str:
        """A PNG in base64."""
        return self.call("Page.captureScreenshot")["data"]
