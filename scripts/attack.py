#!/usr/bin/env python3
"""Attacks tcplab with hostile scenarios, captures and scripts; prints tries and failures.

Usage: attack.py TCPLAB [NAME…]   (NAME: only the attacks whose names contain it)

Every attack makes its own files, has 30 s and 2 GiB of memory, and must end by itself with the exit
code that it names, say what it names, and quote nothing secret. A signal, a panic, a run over the time
and an allocation that fails are failures.
"""

import os
import resource
import struct
import subprocess
import sys
import tempfile
import time

SECONDS = 30
MEMORY = 2 << 30
SECRET = "root-secret-in-a-file"

MODELS = '[client]\nstack = "model:linux-6.18"\n[server]\nstack = "model:linux-6.18"\n'
UPLOAD = '[workload]\nupload = "1 kB"\n'


def scenario(path='rate = "5 Mbit/s"', workload=UPLOAD, repeat="trials = 1", more=""):
    return f'title = "t"\n[path]\n{path}\n[repeat]\n{repeat}\n{MODELS}{workload}{more}'


def nested(depth, times, steps):
    for _ in range(depth):
        steps = f"{{ repeat = {times}, steps = [{steps}] }}"
    return f"[workload]\nclient = [{steps}]\nserver = [\"read to end\"]\n"


def several(key, one, count):
    return f"{key} = [{', '.join([one] * count)}]"


def matrix(factors, levels):
    names = ", ".join(f"a{n} = {{}}" for n in range(levels))
    return "[matrix]\n" + "".join(f"v{n} = {{ {names} }}\n" for n in range(factors))


def dry_runs():
    """Name, scenario, exit codes, what is said."""
    rate = 'rate = "5 Mbit/s"\n'
    steps = ", ".join(f'{{ at = "{n + 1} ms", to = "2 Mbit/s" }}' for n in range(9_000))
    huge = 9_000_000_000_000_000_000
    yield "nested repeat", scenario(workload=nested(4, 250, '"cork on"')), [2], "at most 10000000"
    yield "deep repeat", scenario(workload=nested(5_000, 2, '"cork on"')), [2], "recurse"
    yield "repeat of no time", scenario(workload=nested(1, 9_000_000, '"cork on"')), [0], ""
    yield "8000 stages", scenario(several("stages", '{ delay = "1 ms" }', 8_000)), [2], "at most 64"
    yield "2^40 copies", scenario(several("stages", '{ duplicate = "100 %" }', 40)), [2], "copies"
    cross = several("cross", '{ rate = "1 Gbit/s", size = "40 B" }', 9_000)
    yield "9000 cross flows", scenario(rate + cross), [2], "at most 64"
    interruptions = several("interruption", '{ every = "2 s", lasting = "1 ms" }', 9_000)
    yield "9000 interruptions", scenario(rate + interruptions), [2], "at most 64"
    yield "interruption each 2 ns", scenario('interruption = { every = "2 ns", lasting = "1 ns" }'), [2], "1 ms"
    yield "trace of zeros", scenario('rate = { trace = "/dev/zero" }'), [2], "lies outside"
    yield "trace from a pipe", scenario('rate = { trace = "pipe" }'), [2], "named pipe"
    yield "trace is a directory", scenario('rate = { trace = "." }'), [2], "a directory"
    yield "trace from elsewhere", scenario('rate = { trace = "../secret" }'), [2], "lies outside"
    yield "trace by a link", scenario('rate = { trace = "link" }'), [2], "lies outside"
    yield "trace of a secret", scenario('rate = { trace = "own-secret" }'), [2], "line 1"
    yield "table of a secret", scenario('jitter = { table = "own-secret", scale = "1 ms" }'), [2], "line 1"
    yield "trace of 30 MB", scenario('rate = { trace = "large" }'), [2], "at most"
    yield "a million levels", scenario(more='[matrix]\n"workload.write_size" = ["1 B"' + ', "1 B"' * 99_999 + "]\n"), [2], ""
    yield "10^6 cases", scenario(more=matrix(6, 10)), [2], "1000000 combinations"
    yield "1000 cases of a long file", scenario(f'rate = {{ start = "1 Mbit/s", steps = [{steps}] }}', more=matrix(3, 10)), [2], "in all"
    yield "10^9 trials", scenario(repeat="trials = 1000000000"), [2], "99999"
    yield "10^9 warm-ups", scenario(repeat="warm_up = 1000000000"), [2], "99"
    yield "10^19 requests", scenario(workload=f'[workload]\nrequests = {{ count = {huge}, request = "1 B", response = "1 B" }}\n'), [2], "at most"
    yield "10^19 keystrokes", scenario(workload=f'[workload]\nkeystrokes = {{ count = {huge}, every = "0 s" }}\n'), [2], "at most"
    yield "10^18 bytes on an endless path", scenario("", '[workload]\nupload = "1000000000 GB"\n'), [0], ""
    yield "huge queue", scenario(rate + 'queue = "18446744073709551615 packets"'), [2], "out of range"
    yield "delay of centuries", scenario('delay = "18446744073 s"'), [0], ""
    yield "largest rate", scenario('rate = "18446744073709551615 bit/s"'), [0], ""
    yield "limit of centuries", scenario(more='[limits]\ntrial = "18446744073 s"\n'), [0], ""
    flows = "".join(f"[flow.f{n}]\ncount = 100\n" for n in range(30_000))
    yield "30000 flows", scenario(more=flows), [2], "32 flows"
    yield "deep list", scenario(more="x = " + "[" * 200_000 + "]" * 200_000), [2], ""
    yield "deep key", ".".join(["a"] * 400_000) + " = 1\n" + scenario(), [2], ""
    yield "scenario of 50 MB", scenario(more="#" + "x" * 50_000_000), [2], "at most 1 MB"
    yield "20000 claims", scenario(more='[[expect]]\nclaim = "a"\nmetric = "goodput"\nat_least = "1 bit/s"\n' * 10_000), [0], ""


def block(kind, body):
    body += b"\0" * (-len(body) % 4)
    length = struct.pack("<I", len(body) + 12)
    return struct.pack("<I", kind) + length + body + length


def captures():
    section = block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1))
    interface = block(1, struct.pack("<HHI", 1, 0, 0))
    yield "3 million interfaces", section + interface * 3_000_000, "more than 65536 interfaces"
    yield "a block of 4 GB", section + struct.pack("<II", 6, 0xFFFFFFFC) + bytes(100), "length"
    yield "section without end", section * 500_000, ""


def scripts():
    yield "20000 sockets", "0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n" * 20_000
    yield "deep parentheses", "0 close(" + "(" * 100_000 + "3" + ")" * 100_000 + ") = 0\n"
    yield "sleep of centuries", "+9000000000 close(3) = 0\n"
    yield "deep assertion", "0 %{ assert " + "(" * 100_000 + "1" + ")" * 100_000 + " }%\n"
    yield "shell file that runs itself", "`./loop.sh`\n0 close(3) = -1 EBADF (Bad file descriptor)\n"
    yield "shell file elsewhere", "`../secret`\n0 `../secret`\n"


def run(command, folder):
    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))

    began = time.monotonic()
    process = subprocess.Popen(
        command, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, preexec_fn=limit)
    try:
        said, _ = process.communicate(timeout=SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        return None, "", SECONDS
    return process.returncode, said.decode(errors="replace"), time.monotonic() - began


def verdict(code, said, codes, words):
    """Why the attack succeeded; nothing if it did not."""
    if code is None:
        return f"still running after {SECONDS} s"
    if code < 0 or "panicked at" in said:
        return f"crashed ({code}): {said[-200:]!r}"
    if SECRET in said:
        return "quotes a file that it should not"
    if code not in codes:
        return f"exit code {code}: {said[:300]!r}"
    if words not in said.replace("\n", " "):
        return f"does not say {words!r}: {said[:300]!r}"
    return None


def attacks(program, home):
    """Name, command, exit codes, what is said; the files are made when it is asked for."""
    def kept(name, content):
        with open(os.path.join(home, name), "wb") as file:
            file.write(content if isinstance(content, bytes) else content.encode())
        return name

    for name, text, codes, words in dry_runs():
        yield name, [program, "run", kept("a.toml", text), "--dry-run"], codes, words
    for name, place in [("scenario of zeros", "/dev/zero"), ("scenario from a pipe", "./pipe")]:
        yield name, [program, "run", place, "--dry-run"], [2], "not a regular file"
    yield "path from a pipe", [program, "path", "show", "./pipe"], [2], "not a regular file"
    for name, content, words in captures():
        yield name, [program, "trace", kept("a.pcapng", content)], [0, 1, 2], words
    for name, text in scripts():
        yield name, [program, "packetdrill", kept("a.pkt", text)], [0, 1, 2], ""
    yield "script from a pipe", [program, "packetdrill", "./pipe"], [2], "not a regular file"


def main():
    program, wanted = os.path.abspath(sys.argv[1]), sys.argv[2:]
    tries = failures = 0
    with tempfile.TemporaryDirectory() as above:
        home = os.path.join(above, "home")
        os.mkdir(home)
        for place in [os.path.join(above, "secret"), os.path.join(home, "own-secret")]:
            with open(place, "w", encoding="ascii") as file:
                file.write(f"{SECRET}\n")
        os.mkfifo(os.path.join(home, "pipe"))
        os.symlink("../secret", os.path.join(home, "link"))
        with open(os.path.join(home, "loop.sh"), "w", encoding="ascii") as file:
            file.write("./loop.sh\n" * 1_000)
        with open(os.path.join(home, "large"), "wb") as file:
            file.write(b"1\n" * 15_000_000)
        for name, command, codes, words in attacks(program, home):
            if wanted and not any(part in name for part in wanted):
                continue
            tries += 1
            code, said, took = run(command, home)
            why = verdict(code, said, codes, words)
            failures += why is not None
            print(f"{'FAILED' if why else 'ok':7} {took:5.1f} s  {name}{': ' + why if why else ''}", flush=True)
    print(f"{tries} tries, {failures} failures")
    return 1 if failures or not tries else 0


if __name__ == "__main__":
    sys.exit(main())
