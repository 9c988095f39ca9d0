"""Whether a measurement had the machine to itself."""

import os
import pathlib
import time

MOST_OTHER_LOAD = 0.1  # of one core
MOST_DISTURBED = 5  # rounds


class Disturbed(Exception):
    """Other programs ran beside a measurement."""


def busy_seconds() -> float:
    """Processor time that this machine has spent so far."""
    line = pathlib.Path("/proc/stat").read_text(encoding="utf-8").splitlines()[0]
    ticks = [int(x) for x in line.split()[1:9]]
    return (sum(ticks) - ticks[3] - ticks[4]) / os.sysconf("SC_CLK_TCK")


def other_load(seconds: float) -> float:
    """Cores that others use while this program sleeps."""
    before, begin = busy_seconds(), time.monotonic()
    time.sleep(seconds)
    return (busy_seconds() - before) / (time.monotonic() - begin)


def process_seconds(pid: int) -> float:
    """Processor time that a process has spent so far."""
    stat = pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    fields = stat.rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def check_alone(others: float, took: float) -> None:
    """Raises Disturbed when others used too much processor time; ticks are coarse: three are forgiven."""
    if others > MOST_OTHER_LOAD * took + 0.03:
        raise Disturbed(f"{others / took:.2f} cores were busy with other programs")
