"""A real browser: the system's Chromium without a window, spoken to over two pipes.

    with Browser() as browser:
        seen = browser.open(path, Look(width=390, dark=True))
        seen.console, seen.requests, browser.evaluate("document.title"), browser.screenshot()

Chromium's DevTools protocol is JSON messages ended by a zero byte; over pipes it needs neither a port nor a
library.
"""

from __future__ import annotations

import base64
import fcntl
import json
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self

PROGRAMS = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")
INSTALL = "Install it: apt install chromium (Debian, Ubuntu), or brew install --cask chromium (macOS)."

_FLAGS = (
    "--headless=new", "--remote-debugging-pipe", "--no-first-run", "--disable-gpu", "--hide-scrollbars",
    "--disable-background-networking", "--disable-component-update", "--disable-default-apps",
    "--disable-extensions", "--disable-sync", "--disable-dev-shm-usage", "--force-color-profile=srgb",
    "--no-sandbox",  # what is opened are our own files, and as root there is no sandbox to be had
)  # fmt: skip

_LAUNCH = """
import os, sys
os.dup2(int(sys.argv[1]), 3)
os.dup2(int(sys.argv[2]), 4)
os.execv(sys.argv[3], sys.argv[3:])
"""
"""The browser reads its orders from descriptor 3 and answers on 4."""

_SHOWN = """selector => {
  const found = document.querySelector(selector);
  found.scrollIntoView({block: "center", behavior: "instant"});
  const box = found.getBoundingClientRect();
  return {x: box.x + 20, y: box.y + box.height / 2};
}"""
"""Brings an element into view and tells where."""


@dataclass(frozen=True)
class Look:
    """How a page is looked at. `height` counts for what is laid out, screenshots show the whole page."""

    width: int = 1200
    height: int = 900
    dark: bool = False
    phone: bool = False
    printed: bool = False


@dataclass
class Seen:
    """What the browser said while a page was open: console and log messages, requested addresses, dialogs.

    `blocked` are addresses that the page's own policy kept it from.
    """

    console: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)
    blocked: list[str] = field(default_factory=list)
    dialogs: list[str] = field(default_factory=list)


def chromium() -> str | None:
    """The system's Chromium; null where there is none."""
    return next((found for name in PROGRAMS if (found := shutil.which(name))), None)


class Browser:
    """One running Chromium with one tab."""

    def __init__(self) -> None:
        program = chromium()
        if program is None:
            raise FileNotFoundError(f"no Chromium on PATH. {INSTALL}")
        self._home = tempfile.TemporaryDirectory(prefix="touchstone-browser-", ignore_cleanup_errors=True)
        orders, self._to = os.pipe()
        from_them, answers = os.pipe()
        # Out of the way of the two numbers the browser wants them under.
        ends = [fcntl.fcntl(end, fcntl.F_DUPFD, 10) for end in (orders, answers)]
        flags = (*_FLAGS, f"--user-data-dir={self._home.name}", "about:blank")
        self._process = subprocess.Popen(
            [sys.executable, "-c", _LAUNCH, *map(str, ends), program, *flags],
            pass_fds=ends,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for end in (orders, answers, *ends):
            os.close(end)
        self._from = os.fdopen(from_them, "rb", buffering=0)
        self._pending, self._number = b"", 0
        self._session: str | None = None
        self._events: list[dict[str, Any]] = []
        self._start()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the browser."""
        self._session = None
        try:
            self._send("Browser.close", {})
            self._process.wait(timeout=10)
        except (OSError, subprocess.TimeoutExpired):
            self._process.kill()
            self._process.wait()
        os.close(self._to)
        self._from.close()
        self._home.cleanup()

    def open(self, page: Path, look: Look | None = None) -> Seen:
        """Open a file and wait until it has loaded; what was said and asked for on the way."""
        self._look(look or Look())
        self._events.clear()
        self.call("Page.navigate", url=page.resolve().as_uri())
        self._until("Page.loadEventFired")
        self._drawn()
        return self._seen()

    def evaluate(self, script: str) -> Any:
        """A script's value, as JSON; a promise is waited for."""
        told = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in told, told["exceptionDetails"]
        return told["result"].get("value")

    def click(self, selector: str) -> None:
        """Click the first element a selector finds, as a person would, and wait until that is drawn."""
        place = self.evaluate(f"({_SHOWN})({json.dumps(selector)})")
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, button="left", clickCount=1, **place)
        self._drawn()

    def screenshot(self, height_max: int | None = None, top: float = 0) -> bytes:
        """The page as PNG: all of it, or so many pixels from `top` on."""
        size = self.call("Page.getLayoutMetrics")["cssContentSize"]
        left = size["height"] - top
        height = left if height_max is None else min(left, height_max)
        clip = {"x": 0, "y": top, "width": size["width"], "height": height, "scale": 1}
        told = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=True, clip=clip)
        return base64.b64decode(told["data"])

    def pdf(self) -> bytes:
        """The page as it would be printed."""
        told = self.call("Page.printToPDF", printBackground=True, preferCSSPageSize=True)
        return base64.b64decode(told["data"])

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """One order and its answer; events on the way are kept."""
        number = self._send(method, parameters)
        while True:
            message = self._receive()
            if message.get("id") == number:
                assert "error" not in message, f"{method}: {message['error']}"
                result: dict[str, Any] = message["result"]
                return result
            self._heard(message)

    def _start(self) -> None:
        targets = self.call("Target.getTargets")["targetInfos"]
        (tab,) = [target for target in targets if target["type"] == "page"]
        attached = self.call("Target.attachToTarget", targetId=tab["targetId"], flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def _look(self, look: Look) -> None:
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=look.width,
            height=look.height,
            deviceScaleFactor=1,
            mobile=look.phone,
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if look.dark else "light"}
        self.call("Emulation.setEmulatedMedia", media="print" if look.printed else "", features=[scheme])

    def _drawn(self) -> None:
        self.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def _until(self, method: str) -> None:
        while not any(event["method"] == method for event in self._events):
            self._heard(self._receive())

    def _heard(self, message: dict[str, Any]) -> None:
        if "method" not in message:
            return
        self._events.append(message)
        if message["method"] == "Page.javascriptDialogOpening":
            self._send("Page.handleJavaScriptDialog", {"accept": False})

    def _seen(self) -> Seen:
        seen = Seen()
        asked: dict[str, str] = {}
        for event in self._events:
            told = event["params"]
            match event["method"]:
                case "Runtime.consoleAPICalled":
                    seen.console.append(" ".join(str(arg.get("value")) for arg in told["args"]))
                case "Runtime.exceptionThrown":
                    seen.console.append(told["exceptionDetails"]["text"])
                case "Log.entryAdded":
                    seen.console.append(told["entry"]["text"])
                case "Network.requestWillBeSent":
                    asked[told["requestId"]] = told["request"]["url"]
                case "Network.loadingFailed" if told.get("blockedReason") == "csp":
                    seen.blocked.append(asked.pop(told["requestId"]))
                case "Page.javascriptDialogOpening":
                    seen.dialogs.append(told["message"])
        seen.requests.extend(asked.values())
        return seen

    def _send(self, method: str, parameters: dict[str, Any]) -> int:
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session is not None:
            message["sessionId"] = self._session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self._to, data) :]
        return self._number

    def _receive(self) -> dict[str, Any]:
        while b"\0" not in self._pending:
            more = self._from.read(1 << 20)
            if not more:
                raise ConnectionError(f"the browser ended (exit {self._process.poll()})")
            self._pending += more
        line, _, self._pending = self._pending.partition(b"\0")
        message: dict[str, Any] = json.loads(line)
        return message
