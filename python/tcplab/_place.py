"""Where a data set lies: a directory, NFS, or object storage by fsspec.

A file of a place is never half there: on a file system it is written under a temporary name and
moved; an object store shows an object when it is complete.
"""

from __future__ import annotations

import itertools
import json
import os
import shutil
import tempfile
import uuid
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

from tcplab._core import TcplabError

__all__ = ["Place", "as_json", "file_system", "is_remote", "matching", "open_place", "remote_file"]

TEMPORARY = "_tmp"
"""Below a place: files that are being written. Readers of Parquet skip names with `_`."""

FAILED = "_failed"
"""Below a place: why tasks failed."""

OBJECT_STORES = frozenset({"s3", "gs", "abfs", "az", "oss", "oci"})
"""Of these protocols of fsspec, directories are buckets with objects, whose names may have `/`."""

AT_ONCE = 500
"""So many small objects are asked for together."""


class Place(Protocol):
    """Files below one directory or prefix, by relative names with `/`."""

    @property
    def name(self) -> str:
        """The directory or URL."""
        ...

    def read(self, name: str) -> bytes:
        """A file's content.

        Raises:
            FileNotFoundError: There is none.
        """
        ...

    def read_all(self, names: Iterable[str]) -> Iterator[bytes]:
        """The contents of many small files, in their order, without waiting for each."""
        ...

    def write(self, name: str, content: bytes) -> None:
        """Makes or replaces a file, at once."""
        ...

    def create(self, name: str, content: bytes) -> bool:
        """Makes a file that is not there, at once.

        Returns:
            Whether it was made here; of several writers one makes it. What is there stays.
        """
        ...

    def files(self, below: str) -> Iterator[tuple[str, int]]:
        """Name and size in bytes of each file below a directory; none if that does not exist."""
        ...

    def remove(self, name: str) -> None:
        """Removes a file, if it is there."""
        ...

    def path(self, name: str) -> str:
        """A file as other programs name it: path or URL."""
        ...

    def moved_in(self, name: str) -> AbstractContextManager[str]:
        """A local path to write to; what is there at the end becomes the file, at once."""
        ...


def is_remote(name: str) -> bool:
    """Whether a name is a URL, which needs fsspec."""
    return "://" in name


def open_place(name: str | os.PathLike[str]) -> Place:
    """The place with this name.

    Args:
        name: A directory, which is made on the first write, or a URL that fsspec knows
            (`s3://bucket/prefix`, `gs://…`). Credentials come from fsspec's configuration and
            the environment of each worker; they are never sent.

    Raises:
        TcplabError: fsspec, or its part for this kind of storage, is not installed.
    """
    text = os.fspath(name)
    return RemotePlace(text) if is_remote(text) else LocalPlace(text)


class LocalPlace:
    """A directory."""

    def __init__(self, directory: str) -> None:
        self.directory = Path(directory).absolute()
        self.name = str(self.directory)

    def read(self, name: str) -> bytes:
        """A file's content."""
        return (self.directory / name).read_bytes()

    def read_all(self, names: Iterable[str]) -> Iterator[bytes]:
        """The contents of files."""
        return map(self.read, names)

    def write(self, name: str, content: bytes) -> None:
        """Makes or replaces a file."""
        with self.moved_in(name) as temporary:
            Path(temporary).write_bytes(content)

    def create(self, name: str, content: bytes) -> bool:
        """Makes a file that is not there."""
        target = self.directory / name
        temporary = self._temporary(target)
        try:
            temporary.write_bytes(content)
            try:
                os.link(temporary, target)
            except FileExistsError:
                return False
            except OSError:
                # A file system without links.
                with suppress(FileExistsError), target.open("xb") as file:
                    file.write(content)
                    return True
                return False
            return True
        finally:
            temporary.unlink(missing_ok=True)

    def files(self, below: str) -> Iterator[tuple[str, int]]:
        """Name and size of each file below."""
        waiting = [self.directory / below]
        while waiting:
            directory = waiting.pop()
            try:
                entries = sorted(os.scandir(directory), key=lambda entry: entry.name)
            except (FileNotFoundError, NotADirectoryError):
                continue
            for entry in entries:
                if entry.is_dir():
                    waiting.append(Path(entry.path))
                    continue
                with suppress(FileNotFoundError):
                    relative = os.path.relpath(entry.path, self.directory)
                    yield relative.replace(os.sep, "/"), entry.stat().st_size

    def remove(self, name: str) -> None:
        """Removes a file, if it is there."""
        (self.directory / name).unlink(missing_ok=True)

    def path(self, name: str) -> str:
        """The file's path."""
        return str(self.directory / name)

    @contextmanager
    def moved_in(self, name: str) -> Iterator[str]:
        """A path on the same file system, moved to `name` at the end."""
        target = self.directory / name
        temporary = self._temporary(target)
        try:
            yield str(temporary)
            os.replace(temporary, target)
        finally:
            temporary.unlink(missing_ok=True)

    def _temporary(self, target: Path) -> Path:
        """A new name for what becomes a file; both directories are there then."""
        temporary = self.directory / TEMPORARY / f"{uuid.uuid4().hex}{target.suffix}"
        temporary.parent.mkdir(parents=True, exist_ok=True)
        target.parent.mkdir(parents=True, exist_ok=True)
        return temporary


class RemotePlace:
    """A prefix of an object store, or anything else that fsspec reaches."""

    def __init__(self, url: str) -> None:
        self.name = url.rstrip("/")
        self.system, self.root = file_system(self.name)
        # Other workers write here too: a listing must never come from memory.
        self.system.use_listings_cache = False

    def _full(self, name: str) -> str:
        return f"{self.root}/{name}"

    def read(self, name: str) -> bytes:
        """An object's content."""
        content: bytes = self.system.cat_file(self._full(name))
        return content

    def read_all(self, names: Iterable[str]) -> Iterator[bytes]:
        """The contents of objects, many at once where the store allows that."""
        rest = iter(names)
        while paths := [self._full(name) for name in itertools.islice(rest, AT_ONCE)]:
            # `cat` would take names with `[`, `*` or `?` for patterns.
            found: list[bytes | Exception] = self.system.cat_ranges(paths, None, None)
            for content in found:
                if isinstance(content, Exception):
                    raise content
                yield content

    def write(self, name: str, content: bytes) -> None:
        """Makes or replaces an object by one put."""
        self._put(name, lambda full: self.system.pipe_file(full, content))

    def create(self, name: str, content: bytes) -> bool:
        """Makes an object that is not there, by one conditional put where the store has that."""
        if self.system.exists(self._full(name)):
            return False
        try:
            self._put(name, lambda full: self.system.pipe_file(full, content, mode="create"))
        except FileExistsError:
            return False
        except TypeError:
            # A file system of fsspec that knows no conditions.
            self.write(name, content)
        return True

    def files(self, below: str) -> Iterator[tuple[str, int]]:
        """Name and size of each object below."""
        self.system.invalidate_cache()
        try:
            found: dict[str, Any] = self.system.find(self._full(below), detail=True)
        except FileNotFoundError:
            return
        start = len(self.root.rstrip("/")) + 1
        for name, info in sorted(found.items()):
            yield name[start:], int(info.get("size") or 0)

    def remove(self, name: str) -> None:
        """Removes an object, if it is there."""
        with suppress(FileNotFoundError):
            self.system.rm_file(self._full(name))

    def path(self, name: str) -> str:
        """The object's URL."""
        return f"{self.name}/{name}"

    @contextmanager
    def moved_in(self, name: str) -> Iterator[str]:
        """A local temporary file, put in one piece at the end."""
        with tempfile.TemporaryDirectory(prefix="tcplab-") as directory:
            temporary = os.path.join(directory, os.path.basename(name))
            yield temporary
            self._put(name, lambda full: self.system.put_file(temporary, full))

    def _is_object_store(self) -> bool:
        protocol = self.system.protocol
        protocols = (protocol,) if isinstance(protocol, str) else protocol
        return not OBJECT_STORES.isdisjoint(protocols)

    def _put(self, name: str, put: Callable[[str], object]) -> None:
        """Puts an object; makes its directory where there are such things."""
        full = self._full(name)
        try:
            put(full)
        except FileNotFoundError:
            bucket = full.split("/")[0]
            # To make a bucket is its owner's decision; a misspelt one is a mistake.
            if self._is_object_store() and not self.system.exists(bucket):
                raise TcplabError(
                    f"{self.name}: there is no bucket {bucket}\n  try: make it, or correct its name"
                ) from None
            self.system.makedirs(full.rsplit("/", 1)[0], exist_ok=True)
            put(full)


def file_system(url: str) -> tuple[Any, str]:
    """The file system of fsspec for a URL, and the path there."""
    try:
        fsspec: Any = import_module("fsspec")
    except ModuleNotFoundError:
        raise TcplabError(
            f"{url} needs fsspec, which is not installed\n  try: pip install fsspec"
        ) from None
    try:
        system, path = fsspec.core.url_to_fs(url)
    except (ImportError, ValueError) as error:
        raise TcplabError(f"{url}: {error}") from None
    return system, path.rstrip("/")


@contextmanager
def remote_file(url: str) -> Iterator[str]:
    """A file of object storage as a local file, which is removed afterwards.

    Yields:
        Its path; the name ends as the URL does.
    """
    system, path = file_system(url)
    directory = tempfile.mkdtemp(prefix="tcplab-")
    try:
        local = os.path.join(directory, path.rsplit("/", 1)[-1] or "capture")
        system.get_file(path, local)
        yield local
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def matching(pattern: str) -> list[tuple[str, int, str]]:
    """Remote files that a URL with `*`, `?` or `**` means.

    Returns:
        Of each, in order: URL, size in bytes (0 if unknown), and what changes with its content.
    """
    system, path = file_system(pattern)
    if any(sign in path for sign in "*?["):
        found = system.glob(path, detail=True)
    elif system.isdir(path):
        found = system.find(path, detail=True)
    else:
        found = {path: system.info(path)}
    result = []
    for name, info in sorted(found.items()):
        if info.get("type") == "directory":
            continue
        marks = (
            "ETag",
            "etag",
            "md5Hash",
            "content_md5",
            "LastModified",
            "updated",
            "mtime",
            "CRC",
        )
        mark = next((str(info[key]) for key in marks if info.get(key)), "")
        result.append((_url_like(pattern, path, name, system), int(info.get("size") or 0), mark))
    return result


def _url_like(pattern: str, path: str, name: str, system: Any) -> str:
    """The URL of a file that a pattern means, with the pattern's host and chain.

    Args:
        pattern: A URL that fsspec knows: `zip://*.pcap::s3://bucket/day.zip`.
        path: Its path in the file system: `*.pcap`.
        name: The path of the file there: `a.pcap`.
        system: The file system.
    """
    links = pattern.split("::")
    # Those before have no path, such as `simplecache::`.
    at = next(at for at, link in enumerate(links) if "://" in link)
    link = links[at].rstrip("/") if path else links[at]
    is_end = link.endswith(path)
    links[at] = link.removesuffix(path) + name if is_end else system.unstrip_protocol(name)
    return "::".join(links)


def as_json(value: object) -> bytes:
    """A value as the places keep it: ASCII, since a file name may be no UTF-8."""
    return (json.dumps(value, sort_keys=True) + "\n").encode()
