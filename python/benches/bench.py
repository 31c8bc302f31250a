"""The Python package side by side with others, in one run: `make bench-python`.

Prints rates and ratios, and asserts none of them. Each measurement is a process of its own; those
that are compared take turns, and the median counts. What is too slow for the whole capture reads
its first packets.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import textwrap
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
WORK = ROOT / "target" / "bench-python"

# The capture: one fast transfer and its acknowledgements, of each packet the headers.
CAPTURE = """
title = "Packets to read"
workload = {{ upload = "{megabytes} MB" }}
path = {{ rate = "1 Gbit/s", delay = "5 ms", queue = "2 MB", loss = "0.001 %" }}
client = {{ stack = "model:linux-6.18" }}
server = {{ stack = "model:linux-6.18" }}
sampling = {{ tcp_info = "1 s" }}
recording = {{ snaplen = "96 B" }}
limits = {{ trial = "600 s" }}
"""

TRIALS = """
title = "Trials to run"
workload = { upload = "100 kB" }
path = { rate = "20 Mbit/s", delay = "10 ms", loss = "1 %" }
client = { stack = "model:linux-6.18" }
server = { stack = "model:linux-6.18" }
"""

# What each reader makes: a frame with a row for each packet: time, ends, numbers, flags, length.
READERS = {
    "tcplab": """
        import polars as pl, tcplab
        trace = tcplab.trace(FILE, tables=["segments", "events"])
        frames = [pl.DataFrame(trace.segments), pl.DataFrame(trace.events)]
        print(trace.packets, [frame.height for frame in frames], file=sys.stderr)
    """,
    "tshark, pandas": """
        import io, subprocess, pandas
        fields = ["frame.time_epoch", "ip.src", "ip.dst", "tcp.srcport", "tcp.dstport", "tcp.seq",
                  "tcp.ack", "tcp.len", "tcp.flags", "tcp.window_size_value"]
        command = ["tshark", "-r", FILE, "-T", "fields", "-E", "separator=,"]
        for field in fields:
            command += ["-e", field]
        said = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        frame = pandas.read_csv(io.BytesIO(said.stdout), names=fields)
        print(len(frame), file=sys.stderr)
    """,
    "dpkt": """
        import dpkt, polars as pl
        rows = []
        with open(FILE, "rb") as file:
            for at, bytes_ in dpkt.pcapng.Reader(file):
                ip = dpkt.ip.IP(bytes_)
                tcp = ip.data
                rows.append((at, ip.src, ip.dst, tcp.sport, tcp.dport, tcp.seq, tcp.ack,
                             ip.len - 20 - tcp.off * 4, tcp.flags, tcp.win))
        print(pl.DataFrame(rows, orient="row").height, file=sys.stderr)
    """,
    "scapy": """
        import polars as pl
        from scapy.layers.inet import IP, TCP
        from scapy.utils import PcapNgReader
        rows = []
        for packet in PcapNgReader(FILE):
            ip, tcp = packet[IP], packet[TCP]
            rows.append((float(packet.time), ip.src, ip.dst, tcp.sport, tcp.dport, tcp.seq, tcp.ack,
                         ip.len - 20 - tcp.dataofs * 4, int(tcp.flags), tcp.window))
        print(pl.DataFrame(rows, orient="row").height, file=sys.stderr)
    """,
    "pyshark": """
        import polars as pl, pyshark
        rows = []
        for packet in pyshark.FileCapture(FILE, keep_packets=False):
            ip, tcp = packet.ip, packet.tcp
            rows.append((float(packet.sniff_timestamp), str(ip.src), str(ip.dst), int(tcp.srcport),
                         int(tcp.dstport), int(tcp.seq), int(tcp.ack), int(tcp.len),
                         int(tcp.flags, 16), int(tcp.window_size_value)))
        print(pl.DataFrame(rows, orient="row").height, file=sys.stderr)
    """,
}
# Of the slow ones, the first packets.
SLOW = {"scapy": 100_000, "pyshark": 10_000}
MODULES = {"dpkt": "dpkt", "scapy": "scapy", "pyshark": "pyshark"}


def seconds(command: list[str], **options: object) -> tuple[float, float]:
    """Seconds that a command takes, and the memory that it needs at most, MB."""
    began = time.monotonic()
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, **options)  # type: ignore[call-overload]
    said = child.stderr.read()
    _, status, used = os.wait4(child.pid, 0)
    took = time.monotonic() - began
    if status:
        raise SystemExit(f"{command[:3]} failed:\n{said.decode(errors='replace')}")
    return took, used.ru_maxrss / 1000


def python(code: str, file: Path) -> list[str]:
    """The command that runs a reader on a file."""
    return [sys.executable, "-c", f"import sys\nFILE = {str(file)!r}\n{textwrap.dedent(code)}"]


def command() -> str:
    """The `tcplab` command that is measured."""
    return os.environ.get("TCPLAB") or shutil.which("tcplab") or "tcplab"


def capture(packets: int) -> Path:
    """A capture of about so many packets, made once."""
    place = WORK / f"{packets}.pcapng"
    if not place.exists():
        print(f"making a capture of {packets:,} packets", file=sys.stderr)
        scenario = WORK / "packets.toml"
        # Every second segment is acknowledged.
        megabytes = packets * 2 / 3 * 1448 / 1e6
        scenario.write_text(CAPTURE.format(megabytes=round(megabytes)))
        runs = WORK / "runs"
        shutil.rmtree(runs, ignore_errors=True)
        run = [command(), "run", str(scenario), "--world", "sim", "--runs", str(runs), "--quiet"]
        subprocess.run(run, check=True, stdout=subprocess.DEVNULL)
        found = next(runs.glob("*/*/trials/*/client.pcapng"))
        found.rename(place)
        shutil.rmtree(runs)
    return place


def first(file: Path, packets: int) -> Path:
    """The first packets of a capture, as a file of its own."""
    place = file.with_name(f"{file.stem}-first-{packets}.pcapng")
    if not place.exists():
        subprocess.run(["editcap", "-r", str(file), str(place), f"1-{packets}"], check=True)
    return place


def read_packets(packets: int, rounds: int) -> None:
    """Packets to a frame: tcplab, what it takes the command to write Parquet, and others."""
    file = capture(packets)
    code = f"import tcplab; print(tcplab.trace({str(file)!r}).packets)"
    count = int(
        subprocess.run([sys.executable, "-c", code], check=True, capture_output=True).stdout
    )
    rates: dict[str, list[float]] = {}
    memory: dict[str, float] = {}
    for nth in range(rounds):
        for name, code in READERS.items():
            if name in MODULES and not has(MODULES[name]):
                continue
            # The slow ones take long enough to be measured once.
            if nth > 0 and name not in ("tcplab",):
                continue
            most = min(SLOW.get(name, count), count)
            took, used = seconds(python(code, first(file, most) if most < count else file))
            rates.setdefault(name, []).append(most / took)
            memory[name] = max(memory.get(name, 0), used)
        parquet = WORK / "parquet"
        shutil.rmtree(parquet, ignore_errors=True)
        took, used = seconds([command(), "trace", str(file), "--parquet", str(parquet)])
        rates.setdefault("tcplab trace --parquet", []).append(count / took)
        memory["tcplab trace --parquet"] = used
    print(
        f"\npackets of a capture to a frame, {count:,} packets ({file.stat().st_size / 1e6:.0f} MB)"
    )
    middle = {name: statistics.median(all_) for name, all_ in rates.items()}
    others = [name for name in middle if not name.startswith("tcplab")]
    for name, rate in sorted(middle.items(), key=lambda it: -it[1]):
        part = f"  (its first {SLOW[name]:,})" if SLOW.get(name, count) < count else ""
        print(f"  {name:24}{rate:12,.0f} packets/s{memory[name]:9,.0f} MB{part}")
    if others:
        fastest = max(others, key=lambda name: middle[name])
        print(f"  tcplab over {fastest}: {middle['tcplab'] / middle[fastest]:.1f}")
    print(
        f"  tcplab over `tcplab trace --parquet`: "
        f"{middle['tcplab'] / middle['tcplab trace --parquet']:.2f}"
    )


def has(module: str) -> bool:
    """Whether Python has it; says so where it has not."""
    found = subprocess.run([sys.executable, "-c", f"import {module}"], capture_output=True)
    if found.returncode:
        print(f"no {module} here: not measured", file=sys.stderr)
    return found.returncode == 0


def run_trials(trials: int, rounds: int) -> None:
    """Trials in virtual time from Python beside those of the command."""
    scenario = WORK / "trials.toml"
    scenario.write_text(TRIALS)
    runs = WORK / "runs"
    code = f"""
        import tcplab
        tcplab.run(tcplab.Scenario(FILE), world="sim", trials={trials}, directory={str(runs)!r},
                   progress=False)
    """
    times: dict[str, list[float]] = {"command": [], "Python": []}
    for nth in range(rounds):
        for name in list(times)[:: 1 - nth % 2 * 2]:
            shutil.rmtree(runs, ignore_errors=True)
            # What was written before is not to be written meanwhile.
            os.sync()
            by_command = [
                command(),
                "run",
                str(scenario),
                "--world",
                "sim",
                "--trials",
                str(trials),
                "--runs",
                str(runs),
                "--quiet",
            ]
            took, _ = seconds(by_command if name == "command" else python(code, scenario))
            times[name].append(took)
    shutil.rmtree(runs, ignore_errors=True)
    print(f"\n{trials:,} trials of 100 kB in virtual time")
    middle = {name: statistics.median(all_) for name, all_ in times.items()}
    for name, took in middle.items():
        print(f"  {name:24}{trials / took:12,.0f} trials/s")
    print(f"  Python over the command: {middle['command'] / middle['Python']:.2f}")


def import_time(rounds: int) -> None:
    """How long `import tcplab` takes beyond Python itself."""
    code = "import time; t = time.perf_counter(); import tcplab; print(time.perf_counter() - t)"
    found = [
        float(subprocess.run([sys.executable, "-c", code], check=True, capture_output=True).stdout)
        for _ in range(max(rounds, 5))
    ]
    print(f"\nimport tcplab: {statistics.median(found) * 1000:.1f} ms")


def dask_tasks(tasks: int) -> None:
    """What a task costs beside its work, on Dask with two workers and without any engine's help."""
    code = f"""
        import time
        from dask.distributed import Client, LocalCluster
        from tcplab._executors import completed, open_engine
        class Task:
            resources = {{}}
        def nothing(task, number, reasons): return {{}}
        if __name__ == "__main__":
            made = LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None)
            with made as cluster, Client(cluster) as client:
                engine = open_engine(client)
                for _ in completed(engine, nothing, (Task() for _ in range(100))): pass
                began = time.monotonic()
                for _ in completed(engine, nothing, (Task() for _ in range({tasks}))): pass
                print((time.monotonic() - began) / {tasks} * 1000)
    """
    if not has("distributed"):
        return
    said = subprocess.run(python(code, WORK), check=True, capture_output=True, text=True)
    print(f"\na task on Dask, two workers, {tasks:,} tasks: {float(said.stdout):.2f} ms each")


def main() -> None:
    """Runs all of it, or the parts that are named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "parts",
        nargs="*",
        default=["import", "packets", "trials", "dask"],
        help="import, packets, trials, dask (all)",
    )
    parser.add_argument("--packets", type=int, default=3_000_000, metavar="N")
    parser.add_argument("--trials", type=int, default=10_000, metavar="N")
    parser.add_argument("--rounds", type=int, default=3, metavar="N")
    given = parser.parse_args()
    WORK.mkdir(parents=True, exist_ok=True)
    if "import" in given.parts:
        import_time(given.rounds)
    if "packets" in given.parts:
        read_packets(given.packets, given.rounds)
    if "trials" in given.parts:
        run_trials(given.trials, given.rounds)
    if "dask" in given.parts:
        dask_tasks(2_000)


if __name__ == "__main__":
    main()
