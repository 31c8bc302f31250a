"""The command, run from Python."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from typing import Any

import facade  # noqa: F401 - skips where the compiled part is missing
import pytest

import tcplab
from tcplab._commands import find_command

needs_command = pytest.mark.skipif(
    find_command() is None, reason="the command tcplab is not installed"
)


@pytest.fixture
def discard() -> Iterator[str]:
    """The address of a server that reads and throws away."""

    def read(connection: socket.socket) -> None:
        with connection:
            while connection.recv(1 << 20):
                pass

    def serve(listener: socket.socket) -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=read, args=(connection,), daemon=True).start()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=serve, args=(listener,), daemon=True).start()
        yield f"127.0.0.1:{listener.getsockname()[1]}"


@needs_command
def test_the_path_to_a_target_is_tested(discard: str, tmp_path: Any) -> None:
    found = tcplab.rfc6349(target=discard, duration="500 ms", connections=1, directory=tmp_path)
    assert discard in found["of"]
    assert discard in str(found)


@pytest.mark.parametrize(
    ("name", "value"),
    [("path", "lte"), ("keys", {"rate": "1 Mbit/s"}), ("world", "sim"), ("download", True)],
)
def test_what_is_of_paths_has_no_meaning_with_a_target(name: str, value: Any) -> None:
    with pytest.raises(ValueError, match=f"{name} has no meaning with `target`"):
        tcplab.rfc6349(target="192.0.2.7:9", **{name: value})
