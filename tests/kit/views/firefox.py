"""A real Firefox for the tests: Debian's, driven by WebDriver BiDi, which it speaks itself."""

from __future__ import annotations

import asyncio
import base64
import json
import os
import re
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

LONGEST = 30
"""The seconds that an answer may take."""
SETTINGS = {
    "app.update.enabled": False,
    "browser.cache.disk.enable": False,
    "browser.download.alwaysOpenPanel": False,
    "browser.download.folderList": 2,  # browser.download.dir
    "browser.shell.checkDefaultBrowser": False,
    "dom.ipc.processCount": 1,
    "datareporting.policy.dataSubmissionEnabled": False,
    "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False,
    "security.sandbox.content.level": 0,  # a container may allow no sandbox
    "toolkit.telemetry.reportingpolicy.firstRun": False,
}
KEYS = {
    **{"Shift": "\ue008", "Control": "\ue009", "Alt": "\ue00a", "Space": " "},
    **{"Tab": "\ue004", "Enter": "\ue007", "Escape": "\ue00c", "End": "\ue010", "Home": "\ue011"},
    **{"ArrowLeft": "\ue012", "ArrowUp": "\ue013", "ArrowRight": "\ue014", "ArrowDown": "\ue015"},
}
FOUND = """function found(selector, root = document) {
  for (const one of root.querySelectorAll(selector)) if (one.checkVisibility()) return one;
  for (const { shadowRoot } of root.querySelectorAll("*")) {
    const inside = shadowRoot && found(selector, shadowRoot);
    if (inside) return inside;
  }
  return null;
}"""
"""The first visible element of a selector, in shadow roots too."""


class Firefox:
    """A process with one page; `wrong` is what its console said."""

    def __init__(self, folder: Path, **settings: Any) -> None:
        websocket = pytest.importorskip("tornado.websocket", reason="tornado isn't installed")
        program = shutil.which("firefox-esr")
        if program is None:
            pytest.skip("there is no firefox-esr")
        self.folder, self.number = folder, 0
        self.wrong: list[str] = []
        profile, self.downloads = folder / "profile", folder / "downloads"
        profile.mkdir()
        all_settings = SETTINGS | {"browser.download.dir": str(self.downloads)} | settings
        lines = [
            f"user_pref({json.dumps(key)}, {json.dumps(value)});\n"
            for key, value in all_settings.items()
        ]
        (profile / "user.js").write_text("".join(lines), encoding="utf-8")
        command = [program, "--headless", "--no-remote", "--profile", str(profile)]
        with (folder / "said").open("w") as said:
            self.process = subprocess.Popen(
                [*command, "--remote-debugging-port=0", "about:blank"],
                stdout=said,
                stderr=said,
                env=os.environ | {"HOME": str(folder)},
                start_new_session=True,
            )
        # In a thread of its own: Playwright's loop may run in this one.
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self.thread.start()
        try:
            address = f"{self._listens()}/session"
            self.connection = self._wait_for(websocket.websocket_connect, address)
            self.call("session.new", capabilities={})
            self.call("session.subscribe", events=["log.entryAdded"])
            self.page = self.call("browsingContext.getTree")["contexts"][0]["context"]
        except BaseException:
            self.close()
            raise

    def _listens(self) -> str:
        """The address that the process says."""
        end = time.monotonic() + 2 * LONGEST
        while True:
            ended = self.process.poll() is not None or time.monotonic() > end
            said = (self.folder / "said").read_text("utf-8", "replace")
            if listens := re.search(r"WebDriver BiDi listening on (\S+)\n", said):
                return listens[1]
            assert not ended, f"Firefox does not listen: {said}"
            time.sleep(0.05)

    def _wait_for(self, function: Callable[..., Any], *args: Any) -> Any:
        async def within() -> Any:
            return await asyncio.wait_for(function(*args), LONGEST)

        return asyncio.run_coroutine_threadsafe(within(), self.loop).result()

    def close(self) -> None:
        """End the process, its children too."""
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(10)
        with suppress(Exception):
            while self._wait_for(self.connection.read_message) is not None:
                pass
            self.loop.call_soon_threadsafe(self.connection.close)
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join(10)
        self.loop.close()

    def call(self, method: str, **parameters: Any) -> Any:
        """The result of a command of WebDriver BiDi."""
        return self._wait_for(self._answer, method, parameters)

    async def _answer(self, method: str, parameters: dict[str, Any]) -> Any:
        self.number += 1
        asked = {"id": self.number, "method": method, "params": parameters}
        await self.connection.write_message(json.dumps(asked))
        while (message := await self.connection.read_message()) is not None:
            answer = json.loads(message)
            if answer.get("method") == "log.entryAdded":
                self.wrong.append(answer["params"]["text"])
            elif answer.get("id") == self.number:
                assert answer["type"] == "success", answer
                return answer["result"]
        raise AssertionError("Firefox has ended the connection")

    def resize(self, width: int = 1280, height: int = 720) -> None:
        """Give the page a size, in pixels."""
        size = {"width": width, "height": height}
        self.call("browsingContext.setViewport", context=self.page, viewport=size)

    def open(self, address: str) -> None:
        """Open a page, and wait until it is loaded."""
        self.resize()
        self.call("browsingContext.navigate", context=self.page, url=address, wait="complete")

    def _called(self, function: str, *args: Any) -> Any:
        """The result of a function in the page, as WebDriver BiDi has it."""
        answer = self.call(
            "script.callFunction",
            functionDeclaration=function,
            arguments=[{"type": "string", "value": one} for one in args],
            awaitPromise=True,
            target={"context": self.page},
            userActivation=True,
        )
        assert answer["type"] == "success", answer["exceptionDetails"]["text"]
        return answer["result"]

    def evaluate(self, script: str, *args: Any) -> Any:
        """The value of an expression, or of a function for arguments; a promise's when it has one.

        `found(SELECTOR)` is a visible element.
        """
        called = f"({script})(...JSON.parse(args))" if args else f"({script})"
        text = f"async (args) => {{ {FOUND}\nreturn JSON.stringify(await {called}) ?? 'null'; }}"
        return json.loads(self._called(text, json.dumps(args))["value"])

    def until(self, test: str) -> None:
        """Wait until an expression holds."""
        end = time.monotonic() + LONGEST
        while not self.evaluate(f"Boolean({test})"):
            assert time.monotonic() < end, f"{test} does not hold"
            time.sleep(0.02)

    def text(self, selector: str) -> str:
        """The text that is read in an element."""
        self.until(f"found({json.dumps(selector)})")
        said: str = self.evaluate("selector => found(selector).innerText", selector)
        return said

    def click(self, selector: str) -> None:
        """Click the middle of an element, with a mouse."""
        self.until(f"found({json.dumps(selector)})")
        node = self._called(
            f"selector => {{ {FOUND}\nconst one = found(selector); "
            "one.scrollIntoView({ block: 'center' }); return one; }",
            selector,
        )
        origin = {"type": "element", "element": {"sharedId": node["sharedId"]}}
        mouse = [
            {"type": "pointerMove", "x": 0, "y": 0, "origin": origin},
            {"type": "pointerDown", "button": 0},
            {"type": "pointerUp", "button": 0},
        ]
        self._act({"type": "pointer", "id": "mouse", "actions": mouse})

    def press(self, *all_keys: str) -> None:
        """Press keys, one after another: letters, names of `KEYS`, or `Shift+Tab`."""
        actions = []
        for keys in all_keys:
            values = [KEYS.get(key, key) for key in (keys.split("+") if keys != "+" else keys)]
            actions += [{"type": "keyDown", "value": value} for value in values]
            actions += [{"type": "keyUp", "value": value} for value in reversed(values)]
        self._act({"type": "key", "id": "keyboard", "actions": actions})

    def _act(self, source: dict[str, Any]) -> None:
        self.call("input.performActions", context=self.page, actions=[source])

    def fill(self, selector: str, value: str) -> None:
        """Let a field have a value, as if somebody had typed or chosen it."""
        self.until(f"found({json.dumps(selector)})")
        self.evaluate(
            "(selector, value) => { const field = found(selector); field.value = value; "
            "for (const name of ['input', 'change']) "
            "field.dispatchEvent(new Event(name, { bubbles: true, composed: true })); }",
            selector,
            value,
        )

    def downloaded(self, ending: str) -> bytes:
        """The content of the downloaded file with an ending."""
        end = time.monotonic() + LONGEST
        while time.monotonic() < end:
            done = [path for path in self.downloads.glob(f"*{ending}") if path.stat().st_size]
            if done and not any(self.downloads.glob("*.part")):
                return done[0].read_bytes()
            time.sleep(0.05)
        raise AssertionError(f"no {ending} was downloaded")

    def screenshot(self) -> bytes:
        """The page as it is seen, a PNG."""
        shot = self.call("browsingContext.captureScreenshot", context=self.page)
        return base64.b64decode(shot["data"])
