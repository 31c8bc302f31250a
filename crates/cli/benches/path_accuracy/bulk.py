"""Transfers in one direction, all at once, and probes that wait in the same queue.

    bulk.py near FLOWS SECONDS SEED
    bulk.py far

Runs in guests. The near end writes when it sent each probe into probes.bin, in ns since the Unix epoch,
and how many segments TCP retransmitted into retransmitted."""

import array
import random
import selectors
import socket
import struct
import sys
import time

FAR = "10.98.0.2"
PORT = 5000
PROBE_PORT = 9
PROBE_EVERY_NS = 10_000_000
PIECE = bytes(1 << 16)


def now():
    return time.clock_gettime_ns(time.CLOCK_REALTIME)


def connected():
    tcp = socket.create_connection((FAR, PORT))
    tcp.setblocking(False)
    return tcp


def retransmitted():
    with open("/proc/net/snmp") as file:
        names, values = [line.split() for line in file if line.startswith("Tcp:")]
    return values[names.index("RetransSegs")]


def near(flows, seconds, seed):
    chance = random.Random(seed)
    # The flows begin within the first second.
    begin = now() + 1_000_000_000
    begins = sorted(begin + chance.randrange(1_000_000_000) for _ in range(flows))
    end = begin + seconds * 1_000_000_000
    selector = selectors.DefaultSelector()
    probe = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sent = array.array("Q")
    next_probe = begin
    while (at := now()) < end:
        if begins and begins[0] <= at:
            begins.pop(0)
            selector.register(connected(), selectors.EVENT_WRITE)
        if next_probe <= at:
            sent.append(now())
            probe.sendto(struct.pack("<I", len(sent) - 1), (FAR, PROBE_PORT))
            next_probe += PROBE_EVERY_NS
        wait = min([next_probe, end, *begins[:1]]) - now()
        for key, _ in selector.select(max(wait, 0) / 1e9):
            key.fileobj.send(PIECE)
    with open("probes.bin", "wb") as file:
        sent.tofile(file)
    with open("retransmitted", "w") as file:
        file.write(retransmitted())


def far():
    selector = selectors.DefaultSelector()
    probes = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    probes.bind(("", PROBE_PORT))
    listener = socket.create_server(("", PORT))
    selector.register(probes, selectors.EVENT_READ)
    selector.register(listener, selectors.EVENT_READ)
    while True:
        for key, _ in selector.select():
            if key.fileobj is listener:
                selector.register(listener.accept()[0], selectors.EVENT_READ)
            elif not key.fileobj.recv(1 << 16) and key.fileobj is not probes:
                selector.unregister(key.fileobj)


if sys.argv[1] == "far":
    far()
near(*map(int, sys.argv[2:]))
