#!/usr/bin/env python3
"""Attacks tcplab with hostile scenarios, captures, recordings, scripts and options; prints tries and
failures.

Usage: attack.py TCPLAB [NAME…]   (NAME: only the attacks whose names contain it)

Every attack makes its own files, has 30 s and 2 GiB of memory, and must end by itself with the exit
code that it names, say what it names, and quote nothing secret. A signal, a panic, a run over the time,
an allocation that fails, and output that steers a terminal are failures; so is more memory than the
attack names. What cannot be tried here is said and counted.
"""

import csv
import gzip
import io
import json
import os
import resource
import shutil
import signal
import stat
import struct
import subprocess
import sys
import tempfile
import time
import unicodedata
from typing import Callable, NamedTuple, Optional

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


class Attack(NamedTuple):
    name: str
    command: list
    """Arguments of tcplab; what is behind `ahead`."""
    codes: list = [0, 1, 2]
    says: str = ""
    """Part of what is printed."""
    most: int = MEMORY >> 20
    """Resident memory, MB."""
    check: Optional[Callable[[str], Optional[str]]] = None
    """Why the attack succeeded, by what was printed and left."""
    ahead: list = []
    """A command that runs tcplab."""
    seconds: float = SECONDS
    until: Optional[float] = None
    """Seconds until Ctrl-C, for what ends with it alone."""


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
    idle, long = '[workload]\nidle = { lasting = "100 h" }\n', '[limits]\ntrial = "200 h"\n'
    often = 'interruption = { up = "1 ms", lasting = "1 ns" }'
    yield "10^9 interruptions at random", scenario(often, idle, more=long), [2], "at most 1000000"
    quick = 'burst = "1 GB"\nrate = { start = "1 bit/s", steps = [{ at = "1 ns", to = "2 bit/s" }], repeat = "2 ns" }'
    yield "rate that repeats each 2 ns", scenario(quick, idle, more=long), [0], ""
    ramp = 'rate = { start = "0 bit/s", steps = [{ at = "0 s", to = "1 bit/s", over = "800000 h" }] }'
    yield "ramp of a century", scenario(ramp), [0], "cannot end in time"
    yield "PIE each ns", scenario(rate + 'queue = { pie = { update = "1 ns", burst = "1 h" } }'), [2], "100 µs"
    yield "PIE with a burst of years", scenario(rate + 'queue = { pie = { burst = "90000 h" } }', idle, more=long), [0], ""
    rare = 'cross = { rate = "1 bit/s", size = "65535 B", on = "1 us", off = "1 us" }'
    yield "cross traffic on for 1 us", scenario(rate + rare), [2], "give at least"
    wireless = 'wifi = { standard = "g", rate = "54 Mbit/s", error = "100 %", retries = 4294967295 }'
    yield "2^32 retries", scenario(wireless), [2], "255 at most"
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


# Clears the screen in 7 and 8 bits, renames the window, turns the line.
HOSTILE = "\x1b[2J\x9b2J\x1b]0;own\x07\u202e<script>alert(1)</script>"
OBEYED = set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def obeyed(text):
    """Characters that a terminal obeys."""
    return sorted({c for c in text if c in OBEYED or unicodedata.category(c) == "Cc" and c not in "\n\t"})


def option(code, body):
    return struct.pack("<HH", code, len(body)) + body + b"\0" * (-len(body) % 4)


def packet(source, destination, ports, seq, ack, flags, data=b""):
    """A packet without checksums, between IPv6 addresses if they are bytes; a SYN offers what common hosts offer."""
    options = b"\x02\x04\x05\xb4\x04\x02\x01\x03\x03\x07\0\0" if flags & 2 else b""
    length = 20 + len(options)
    tcp = struct.pack(">HHIIBBHHH", *ports, seq, ack, length << 2, flags, 64_000, 0, 0) + options
    if isinstance(source, bytes):
        return struct.pack(">IHBB", 6 << 28, length + len(data), 6, 64) + source + destination + tcp + data
    whole = 20 + length + len(data)
    return struct.pack(">BBHHHBBHII", 0x45, 0, whole, 0, 0x4000, 64, 6, 0, source, destination) + tcp + data


def pcap(frames):
    yield struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65_535, 101)
    for number, frame in enumerate(frames):
        micros = 1_700_000_000_000_000 + number * 20
        yield struct.pack("<IIII", *divmod(micros, 1_000_000), len(frame), len(frame)) + frame


def ipv6(number):
    return struct.pack(">IIQ", 0x20010DB8, 0, number * 0x9E3779B97F4A7C15 % 2**64)


def lone_over_ipv6(count):
    for number in range(count):
        yield packet(ipv6(number + 1), ipv6(0), (40_000 + number % 1_000, 443), number * 2_654_435_761 % 2**31, 0, 2)


def flood(count, is_answered):
    """So many SYNs; answered, with a request and an answer, each connection stays open."""
    there, asked = 0xC0000201, b"x" * 100
    for number in range(count):
        here, port, seq = 0x0A000000 + number, 40_000 + number % 1_000, number * 2_654_435_761 % 2**31
        forward, back = (here, there, (port, 443)), (there, here, (443, port))
        yield packet(*forward, seq, 0, 2)
        if is_answered:
            yield packet(*back, 7, seq + 1, 0x12)
            yield packet(*forward, seq + 1, 8, 0x18, asked)
            yield packet(*back, 8, seq + 101, 0x18, asked)
            yield packet(*forward, seq + 101, 108, 0x10)


def named_capture():
    """A pcapng whose every text is hostile."""
    text = HOSTILE.encode()
    section = block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1) + b"".join(option(n, text) for n in (1, 2, 3, 4)))
    interface = block(1, struct.pack("<HHI", 101, 0, 0) + b"".join(option(n, text) for n in (1, 2, 3)))
    blocks = [section, interface]
    for number, frame in enumerate(flood(3, True)):
        body = struct.pack("<IIIII", 0, 0, 1_000 * number, len(frame), len(frame)) + frame
        blocks.append(block(6, body + b"\0" * (-len(body) % 4) + option(1, text)))
    return b"".join(blocks)


def texts(kept):
    name = kept("named.pcapng", named_capture())
    for line in ["", "-c 0", "-c 0 --listing", "-c 0 --ladder", "--all", "--jsonl", "--csv /dev/stdout", "--filter port==443"]:
        yield Attack(f"escapes in a capture {line}", ["trace", name, *line.split()])
    yield Attack("escapes in states", ["states", name, "-c", "0"])
    kept("a\x1b[2J\x9b.pcapng", named_capture())
    for command in [["trace", "a\x1b[2J\x9b.pcapng"], ["trace", "missing\x1b[2J\x9b"], ["run", "\x1b[2J"], ["\x1b[2J"],
                    ["--\x9b2J"], ["trace", name, "--filter", "host \x1b[2J"], ["path", "show", "\x1b[2J"],
                    ["load", "http://\x1b[2J/"], ["export", name, "--table", "\x1b[2J"]]:
        yield Attack(f"escapes typed: {command!r}", command)
    text = "".join(c if " " <= c <= "~" and c not in '"\\' else f"\\u{ord(c):04x}" for c in HOSTILE)
    levels = f'[matrix]\nv = {{ "{text}" = {{}}, "=1+1" = {{ "workload.upload" = "2 kB" }} }}\n'
    titled = scenario(more=levels).replace('"t"', f'"{text}"')
    yield Attack("escapes in names of a scenario", ["run", kept("n.toml", titled), "--dry-run"], [0])
    yield Attack("escapes in a key", ["run", kept("k.toml", scenario(more=f'[limits]\n"{text}" = 1\n')), "--dry-run"], [2])
    yield Attack("escapes in a broken file", ["run", kept("b.toml", f'title = "{HOSTILE}\n'), "--dry-run"], [2])
    yield Attack("escapes in a script", ["packetdrill", kept("e.pkt", f"+0 {HOSTILE}ioctl(3, 4, 5) = 0\n")])


def floods(kept):
    """100,000 connections; docs/trace-measured.md has what they cost. Half a million packets take a debug
    build some time."""
    count = 100_000
    live = kept("live.pcap", b"".join(pcap(flood(count, True))))
    lone = kept("lone.pcap", b"".join(pcap(flood(count, False))))
    yield Attack("100000 live connections", ["trace", live, "--top", "1"], [0], "", 200, seconds=120)
    yield Attack("100000 live connections, JSON Lines", ["trace", live, "--jsonl"], [0], "", 200, seconds=120)
    yield Attack("100000 live connections, 64 MB", ["trace", live, "--top", "1", "--memory", "64MB"], [0], "", 130, seconds=120)
    yield Attack("100000 lone SYNs", ["trace", lone, "--top", "1"], [0], "", 120, seconds=120)
    yield Attack("100000 lone SYNs, JSON Lines", ["trace", lone, "--jsonl"], [0], "", 120, per_connection(count, 2_000), seconds=120)
    for output in ["--json=/dev/null", "--html=/dev/null"]:
        yield Attack(f"100000 lone SYNs, {output}", ["trace", lone, output], [0], "", 250, seconds=240)
    lone = kept("lone6.pcap", b"".join(pcap(lone_over_ipv6(count))))
    yield Attack("100000 lone IPv6 SYNs", ["trace", lone, "--top", "1"], [0], "", 120, seconds=120)


def per_connection(count, most):
    def check(said):
        bytes_each = len(said) // count
        return f"{bytes_each} bytes a connection" if bytes_each > most else None
    return check


def bombs(kept):
    """Little that unfolds to much."""
    start = b"".join(pcap([]))
    section = block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1))
    zeros = gzip.compress(bytes(50_000_000), 9)
    yield Attack("gzip: empty records", ["trace", kept("r.pcap.gz", gzip.compress(start) + zeros)], most=200)
    endless = section + struct.pack("<II", 0x0BAD, 0x7FFFFFFC)
    yield Attack("gzip: a block of 2 GB", ["trace", kept("l.pcapng.gz", gzip.compress(endless) + zeros * 20)], most=200)
    once = gzip.compress(gzip.compress(gzip.compress(start + bytes(50_000_000))))
    yield Attack("gzip in gzip in gzip", ["trace", kept("g.gz", once)], most=200)
    if shutil.which("zstd"):
        for window in ["27", "31"]:
            packed = subprocess.run(["zstd", "-q", "--ultra", f"--long={window}", "-c"], input=endless + bytes(300_000_000),
                                    stdout=subprocess.PIPE, check=True).stdout
            # Each window is filled only as far as there is data.
            yield Attack(f"zstd: a window of 2^{window} bytes", ["trace", kept(f"z{window}.zst", packed)], most=400)
    else:
        yield "zstd(1) is not installed: no attack with it"


def filters():
    deep = 20_000
    for name, text in [
        ("parentheses", "(" * deep + "port 1" + ")" * deep), ("open ones", "(" * deep), ("negations", "not " * deep + "port 1"),
        ("conjunctions", "port 1" + " and port 1" * (deep // 2)), ("alternating", "not (port 1 and " * (deep // 8) + "port 2" + ")" * (deep // 8)),
        ("giant port", "port 99999999999999999999"), ("giant net", "net 0.0.0.0/4294967297"), ("giant time", "time 1e999..1e9999"),
        ("negative time", "time -1..-2"), ("no number", "time nan..inf"),
    ]:
        yield Attack(f"filter: {name}", ["trace", "named.pcapng", "--filter", text], [0, 2], "", 200)


def giants(kept, port):
    """Flags of 10^9 and more; `port` is that of an echo server."""
    many, more = "1000000000", "18446744073709551615"
    echo = f"echo://127.0.0.1:{port}"
    for flags in [["-c", many], ["-c", many, "--rate", "1"], ["--rate", many], ["--rate", more], ["--threads", many], ["--size", many, "--requests", "1"],
                  ["--requests", more], ["--timeout", "1000000000s"], ["--warm-up", "1000000000s"], ["--bulk", "upload", "-c", many]]:
        duration = [] if "--requests" in flags else ["--duration", "1s"]
        yield Attack(f"load {' '.join(flags)}", ["load", echo, "-q", *flags, *duration], [0, 1, 2, 130], "", 1_500, until=8)
    designs = ["prefork", "thread-pool", "epoll", "io-uring"]
    for flags in [*(["--design", design, "--workers", many] for design in designs), ["--connections", many], ["--connections", more], ["--backlog", many],
                  ["--idle-timeout", "1000000000s"], ["--request-timeout", "18446744073s"], ["--drain-timeout", "1000000000s"]]:
        yield Attack(f"server {' '.join(flags)}", ["server", *flags], [0, 2, 130], "", 500, until=2)
    small = kept("small.toml", scenario())
    for flags in [["--jobs", many], ["--trials", many], ["--trials", more], ["--spin", "1000000000s"], ["--trial", many], ["--seed", more]]:
        yield Attack(f"run {' '.join(flags)}", ["run", small, "--world", "sim", *flags], [0, 2], "", 500)
    for flags in [["--top", many], ["--top", more], ["-c", more], ["-c", "0", "--listing", "--from", "1000000000000s"], ["--memory", "1B"], ["--memory", more]]:
        yield Attack(f"trace {' '.join(flags)}", ["trace", "named.pcapng", *flags], [0, 2], "", 200)
    yield Attack("advise for giants", ["advise", "--rtt", "1000000000 s", "--rate", "18446744073709551615 bit/s", "--no-trials"], [0, 2], "", 200)


def few_processes(program, home, port):
    """A user who may have one process, threads counted; root has no such limit."""
    place = os.path.join(home, "few")
    os.mkdir(place)
    shutil.copy(program, os.path.join(place, "tcplab"))
    ahead = ["prlimit", "--nproc=1:1"]
    if os.geteuid() == 0:
        user = (1 << 20) + os.getpid()
        ahead = ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups", *ahead]
        for folder in [os.path.dirname(home), home, place]:
            os.chmod(folder, 0o755)
        os.chown(place, user, user)
    ahead = ["env", "-C", place, *ahead]
    own = os.path.join(place, "tcplab")
    try:
        able = subprocess.run([*ahead, own, "--version"], capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        able = False
    if not able:
        yield "setpriv(1) or prlimit(1) is not installed or not allowed: no attack with one process"
        return
    with open(os.path.join(place, "small.toml"), "w", encoding="utf-8") as file:
        file.write(scenario())
    remedy = "`ulimit -u`"
    for line in ["run small.toml --world sim", "server", "server --design thread-pool", "server --design prefork", f"load echo://127.0.0.1:{port} --bulk upload --duration 1s -q"]:
        yield Attack(f"one process: {line}", line.split(), [2], remedy, ahead=[*ahead, own])


def recordings(program, home, kept):
    """What a run leaves; then the same with giant numbers, and hostile texts."""
    kept("own.toml", scenario(more='[matrix]\nv = { "=1+1" = {}, "@cmd" = { "workload.upload" = "2 kB" } }\n'))

    def modes(_):
        for folder, _, names in os.walk(os.path.join(home, "runs", "own")):
            for name in names:
                mode = stat.S_IMODE(os.stat(os.path.join(folder, name)).st_mode)
                if name.endswith((".pcapng", ".jsonl")) and mode != 0o600:
                    return f"{name} has mode {mode:o}"
            if os.path.basename(folder) == "trials" and stat.S_IMODE(os.stat(folder).st_mode) & 0o077:
                return "others may list the trials"
        return None

    yield Attack("modes of a run", ["run", "own.toml", "--world", "sim"], [0, 1], check=modes)
    runs = os.path.join(home, "runs", "own")
    if not os.path.isdir(runs):
        return
    run_folder = os.path.join(runs, sorted(os.listdir(runs))[-1])
    trials = os.path.join(run_folder, "trials")
    trial = os.path.join(trials, sorted(os.listdir(trials))[0])

    def formulas(said):
        cells = [cell for row in csv.reader(io.StringIO(said)) for cell in row]
        if not any("1+1" in cell for cell in cells):
            return "the name is not there"
        bad = [cell for cell in cells if cell[:1] in ("=", "@", "+", "-") and not number(cell)]
        return f"a formula: {bad[0]!r}" if bad else None

    yield Attack("formulas in CSV", ["export", run_folder, "--table", "trials", "-o", "-", "--format", "csv"], [0], check=formulas)

    def private(_):
        mode = stat.S_IMODE(os.stat(os.path.join(home, "copy.pcapng")).st_mode)
        return None if mode == 0o600 else f"mode {mode:o}"

    yield Attack("mode of a copy", ["trace", "named.pcapng", "--annotate", "copy.pcapng"], [0], check=private)
    for folder, of_run in [(run_folder, True), (trial, False)]:
        for name in sorted(os.listdir(folder)):
            place = os.path.join(folder, name)
            if not name.endswith((".json", ".jsonl", ".csv")) or not os.path.isfile(place):
                continue
            with open(place, encoding="utf-8") as file:
                original = file.read()
            for what, value in [("giant", 10**400), ("large", 2**64 - 1), ("negative", -(2**63)), ("huge", 1.7e308), ("text", HOSTILE)]:
                with open(place, "w", encoding="utf-8") as file:
                    file.write(edited(name, original, value))
                lines = [["report", run_folder], ["compare", run_folder, "--by", "v"]] if of_run else [["replay", trial], ["states", trial], ["export", trial, "--table", "samples", "-o", "-"]]
                for line in lines:
                    yield Attack(f"{name} with {what} values: {line[0]}", line, most=500)
            with open(place, "w", encoding="utf-8") as file:
                file.write(original)


def edited(name, text, value):
    """All numbers, or for a text all strings, replaced."""
    if name.endswith(".csv"):
        rows = list(csv.reader(io.StringIO(text)))
        is_text = isinstance(value, str)
        out = io.StringIO()
        csv.writer(out).writerows(rows[:1] + [[str(value) if number(cell) != is_text else cell for cell in row] for row in rows[1:]])
        return out.getvalue()
    lines = text.splitlines() if name.endswith(".jsonl") else [text]
    return "\n".join(json.dumps(replaced(json.loads(line), value)) for line in lines) + "\n"


def replaced(document, value):
    if isinstance(document, dict):
        return {key: replaced(item, value) for key, item in document.items()}
    if isinstance(document, list):
        return [replaced(item, value) for item in document]
    is_number = isinstance(document, (int, float)) and not isinstance(document, bool)
    kind = isinstance(document, str) if isinstance(value, str) else is_number
    return value if kind else document


def number(cell):
    try:
        float(cell)
    except ValueError:
        return False
    return True


def run(attack, program, folder):
    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))

    began = time.monotonic()
    command = [*(attack.ahead or [program]), *attack.command]
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(
            command, cwd=folder, stdin=subprocess.DEVNULL, stdout=said, stderr=subprocess.STDOUT, preexec_fn=limit)
        # A process may end before its memory is looked at.
        code, peak = None, 0
        is_asked = False
        while (took := time.monotonic() - began) < attack.seconds:
            peak = high_water(process.pid) or peak
            ended, status = os.waitpid(process.pid, os.WNOHANG)
            if ended:
                process.returncode = code = os.waitstatus_to_exitcode(status)
                break
            if attack.until and took > attack.until and not is_asked:
                is_asked = True
                process.send_signal(signal.SIGINT)
            time.sleep(0.005)
        else:
            process.kill()
            process.wait()
        said.seek(0)
        return code, said.read().decode(errors="replace"), peak, time.monotonic() - began


def high_water(pid):
    """The most resident memory of a process since its exec, MB. That of wait4(2) counts what its parent had
    when it was forked, too."""
    try:
        with open(f"/proc/{pid}/status") as status:
            return next((int(line.split()[1]) >> 10 for line in status if line.startswith("VmHWM")), None)
    except OSError:
        return None


def verdict(attack, code, said, peak):
    """Why the attack succeeded; nothing if it did not."""
    if code is None:
        return f"still running after {attack.seconds} s"
    if code < 0 or "panicked" in said:
        return f"crashed ({code}): {said[-300:]!r}"
    if SECRET in said:
        return "quotes a file that it should not"
    if code not in attack.codes:
        return f"exit code {code}: {said[:300]!r}"
    if attack.says not in said.replace("\n", " "):
        return f"does not say {attack.says!r}: {said[:300]!r}"
    if steers := obeyed(said):
        return f"a terminal obeys {steers!r}"
    if peak > attack.most:
        return f"{peak} MB of memory, more than {attack.most}"
    return attack.check(said) if attack.check else None


def attacks(program, home, port):
    """The attacks, and texts about what cannot be tried; files are made when it is asked for."""
    def kept(name, content):
        with open(os.path.join(home, name), "wb") as file:
            file.write(content if isinstance(content, bytes) else content.encode())
        return name

    for name, text, codes, words in dry_runs():
        yield Attack(name, ["run", kept("a.toml", text), "--dry-run"], codes, words)
    for name, place in [("scenario of zeros", "/dev/zero"), ("scenario from a pipe", "./pipe")]:
        yield Attack(name, ["run", place, "--dry-run"], [2], "not a regular file")
    yield Attack("path from a pipe", ["path", "show", "./pipe"], [2], "not a regular file")
    for name, content, words in captures():
        yield Attack(name, ["trace", kept("a.pcapng", content)], says=words)
    for name, text in scripts():
        yield Attack(name, ["packetdrill", kept("a.pkt", text)])
    yield Attack("script from a pipe", ["packetdrill", "./pipe"], [2], "not a regular file")
    yield from texts(kept)
    yield from filters()
    yield from giants(kept, port)
    yield from few_processes(program, home, port)
    yield from bombs(kept)
    yield from floods(kept)
    yield from recordings(program, home, kept)


def furnish(above):
    """The folder for attacks, with what several of them name."""
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
    return home


def main():
    program, wanted = os.path.abspath(sys.argv[1]), sys.argv[2:]
    tries = failures = 0
    untried = []
    with tempfile.TemporaryDirectory() as above, subprocess.Popen(
            [program, "server", "--json"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE) as server:
        try:
            home = furnish(above)
            port = json.loads(server.stdout.readline())["listening"].rsplit(":", 1)[1]
            for attack in attacks(program, home, port):
                if isinstance(attack, str):
                    untried.append(attack)
                    continue
                if wanted and not any(part in attack.name for part in wanted):
                    continue
                tries += 1
                code, said, peak, took = run(attack, program, home)
                why = verdict(attack, code, said, peak)
                failures += why is not None
                print(f"{'FAILED' if why else 'ok':7} {took:5.1f} s {peak:5} MB  {attack.name}{': ' + why if why else ''}", flush=True)
        finally:
            server.terminate()
    for text in untried:
        print(f"SKIPPED: {text}")
    print(f"{tries} tries, {failures} failures, {len(untried)} skipped")
    return 1 if failures or not tries else 0


if __name__ == "__main__":
    sys.exit(main())
