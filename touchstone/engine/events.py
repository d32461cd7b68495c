"""The framing of an event stream: bytes in, events out, whatever a network read cuts.

Lines end with LF, CR LF or CR and nothing else: U+2028, U+2029 and U+0085 inside data are data. Text is
UTF-8 whatever the headers say, and is decoded only once a line is whole.
"""

from __future__ import annotations

from typing import NamedTuple

_BOM = b"\xef\xbb\xbf"


class Event(NamedTuple):
    """One event. `name` is empty for the usual kind; `whole` is false for one the stream's end cut short."""

    name: str
    data: bytes
    whole: bool = True


class EventFramer:
    """Collects bytes and gives back the events they complete. `held` counts bytes of the unfinished event."""

    def __init__(self) -> None:
        self.held = 0
        self._pieces: list[bytes] = []
        self._after_cr = False
        self._at_start = True
        self._name = b""
        self._data: list[bytes] = []

    def feed(self, data: bytes) -> list[Event]:
        """The events completed by these bytes."""
        if self._after_cr and data:
            data = data.removeprefix(b"\n")
            self._after_cr = False
        if b"\r" in data:
            self._after_cr = data.endswith(b"\r")
            data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        self.held += len(data)
        if b"\n" not in data:
            if data:
                self._pieces.append(data)
            return []
        if self._pieces:
            data = b"".join((*self._pieces, data))
        lines = data.split(b"\n")
        rest = lines.pop()
        self._pieces = [rest] if rest else []
        return self._events(lines)

    def close(self) -> list[Event]:
        """What is left when the stream ends; a last event without its empty line is marked as not whole."""
        events = self._events([b"".join(self._pieces)] if self._pieces else [])
        self._pieces = []
        last = self._event()
        return events if last is None else [*events, last._replace(whole=False)]

    def _events(self, lines: list[bytes]) -> list[Event]:
        events = []
        for line in lines:
            if not line:
                event = self._event()
                if event is not None:
                    events.append(event)
            elif line.startswith(b"data: ") and not self._at_start:
                self._data.append(line[6:])
            else:
                self._field(line)
            self._at_start = False
        return events

    def _field(self, line: bytes) -> None:
        if self._at_start:
            line = line.removeprefix(_BOM)
        if line.startswith(b"{"):  # a bare JSON line between events: some servers report errors so
            self._data.append(line)
            return
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if name == b"data":
            self._data.append(value)
        elif name == b"event":
            self._name = value

    def _event(self) -> Event | None:
        name, data = self._name, self._data
        self.held = 0
        self._name, self._data = b"", []
        if not data:
            return None
        return Event(name.decode("utf-8", "replace"), data[0] if len(data) == 1 else b"\n".join(data))
