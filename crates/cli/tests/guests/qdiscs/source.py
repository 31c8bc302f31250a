"""Sends the packets of plan.json through queueing disciplines, one case after the other.

    source.py DEVICE

Runs in a guest. DEVICE-stamps.bin receives when each packet was sent, in ns since the Unix epoch: no
time passes between that and its arrival at the queueing discipline."""

import array
import json
import os
import socket
import struct
import subprocess
import sys
import time

FAR = ("10.98.0.2", 9)
IP_AND_UDP = 28
ECT_0 = 2
SO_SNDBUFFORCE = 32
TABLES = "/tmp/tables"
# Longer than any queue here takes to empty.
DRAIN_S = 5
# PIE first looks at its queue half a second after it was made.
SETTLE_NS = 1_000_000_000


def now():
    return time.clock_gettime_ns(time.CLOCK_REALTIME)


def run(command):
    table = command.get("table")
    if table:
        os.makedirs(TABLES, exist_ok=True)
        with open(f"{TABLES}/{table['name']}.dist", "w") as file:
            file.write(" ".join(map(str, table["values"])))
    tables = {"TC_LIB_DIR": TABLES} if table else {}
    subprocess.run(command["words"], check=True, env=os.environ | tables)


def opened(flow, is_ect):
    udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    udp.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    udp.setsockopt(socket.SOL_SOCKET, SO_SNDBUFFORCE, 1 << 24)
    udp.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, ECT_0 if is_ect else 0)
    udp.bind(("", 20000 + flow))
    return udp


def send(number, packets, stamps):
    sockets = {}
    start = now() + SETTLE_NS
    for index, (at, size, flow, is_ect) in enumerate(packets):
        key = flow, is_ect
        if key not in sockets:
            sockets[key] = opened(flow, is_ect)
        wait = start + at - now()
        if wait > 0:
            time.sleep(wait / 1e9)
        # Three times, so that one wrong bit leaves it readable.
        name = struct.pack("<HI", number, index) * 3
        payload = name + bytes(size - IP_AND_UDP - len(name))
        stamps.append(now())
        sockets[key].sendto(payload, FAR)
    for udp in sockets.values():
        udp.close()


def main(device):
    with open("/proc/self/timerslack_ns", "w") as file:
        file.write("1")
    stamps = array.array("Q")
    with open("plan.json") as file:
        cases = json.load(file)
    for number, case in enumerate(cases):
        if case["device"] != device:
            continue
        for command in case["setup"]:
            run(command)
        send(number, case["packets"], stamps)
        time.sleep(DRAIN_S)
        for command in case["undo"]:
            run(command)
    with open(f"{device}-stamps.bin", "wb") as file:
        stamps.tofile(file)


main(sys.argv[1])
