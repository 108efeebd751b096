"""What the protocol scanner costs, alone: throughput on ordinary text, time and memory on hostile input.

    python tests/bench/bench_scan.py           the table; exit status 1 if a bar is missed
    python tests/bench/bench_scan.py --quick   a tenth of the input, one round, for a look

Each input is scanned in a process of its own, in reads of 64 KB as a pipe gives them, so that peak memory is the
scanner's. Times are CPU time, medians of the rounds. The floor is the least that a scanner has to do, measured in turn
with it: look for the sign, and count lines.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from typing import NamedTuple

MEGABYTE = 1_000_000
READ = 65536
ROUNDS = 7

PROSE = (
    "The scanner looks for the marker in each read and never decodes what it passes over; it keeps the last line.\n"
    "    if (total === expected && items.length == 3) { return final(summary); }  // retry at the end\n"
    "| column | other | `a = b` | https://example.com/?q=1&end=2 |\n"
)
CHINESE = "替换 src/utils/date.ts 中全部 4 处 moment 调用，新增插件；进度 3/12，无报错。（下一步：读取并替换）\n"
BLOCK = (
    "===CHECKPOINT {}===\nphase: 实施\ndone: [替换 src/api/time.ts]\nnext: [src/components/Timer.tsx]\n"
    "state_ref: [progress={}/12]\nrollback_hint: [回退到 C6，git checkout src/api/time.ts]\n===END===\n"
)


class Input(NamedTuple):
    """Text to scan: how it is generated, and the bar, either a minimum in MB/s or a maximum in seconds for 100 MB."""

    reads: Callable[[int], Iterator[bytes]]
    megabytes_per_second: float = 0
    seconds: float = 0


def repeated(unit: bytes, before: bytes = b"") -> Callable[[int], Iterator[bytes]]:
    """Repeat the unit, in reads that each begin at a different position of it."""

    def reads(size: int) -> Iterator[bytes]:
        text = before + unit * (max(size // 16, READ) // len(unit) + 1)
        for start in range(0, size, READ):
            position = start % (len(text) - READ + 1)
            yield text[position : position + READ]

    return reads


def numbered(form: str, filler: str = "") -> Callable[[int], Iterator[bytes]]:
    """Repeat the form with a new number each time."""

    def reads(size: int) -> Iterator[bytes]:
        number, text = 0, b""
        while size > 0:
            while len(text) < READ:
                number += 1
                text += (form.replace("{}", str(number)) + filler).encode()
            yield text[:READ]
            text, size = text[READ:], size - READ

    return reads


INPUTS = {
    "text without markers": Input(repeated(PROSE.encode()), megabytes_per_second=200),
    "Chinese text without markers": Input(repeated(CHINESE.encode()), megabytes_per_second=200),
    "a block every 3 KB of text with signs": Input(numbered(BLOCK, (PROSE * 10)[:2800] + "\n")),
    "a block every 3 KB of text without": Input(numbered(BLOCK, (PROSE.splitlines(keepends=True)[0] * 26))),
    "the same as a terminal gives it": Input(
        numbered(BLOCK.replace("\n", "\r\n"), (PROSE.splitlines(keepends=True)[0] * 26).replace("\n", "\r\n"))
    ),
    "blocks and nothing else": Input(numbered(BLOCK)),
    "hostile: one line": Input(repeated(b"x"), seconds=3),
    "hostile: one line of =": Input(repeated(b"="), seconds=3),
    "hostile: 25 million lines of ===": Input(repeated(b"===\n"), seconds=3),
    "hostile: a block that never ends": Input(repeated(b"more\n", b"===CHECKPOINT 1===\n"), seconds=3),
    "hostile: millions of headers": Input(numbered("===CHECKPOINT {}===\n"), seconds=10),
    "hostile: millions of dressed headers": Input(numbered("> **===CHECKPOINT {}===**\r\n"), seconds=10),
    "hostile: millions of headers with a line": Input(numbered("===CHECKPOINT {}===\nphase: x\n"), seconds=10),
    "hostile: long blocks without footers": Input(numbered("===CHECKPOINT {}===\n" + "done: x\n" * 200), seconds=10),
    "hostile: blocks bent at their ends": Input(
        numbered("===CHECKPOINT {}===\n" + "done: x\n" * 200 + "a\rb\n===END===\n"), seconds=10
    ),
    "hostile: millions of footers": Input(repeated(b"===END===\n"), seconds=10),
    "hostile: millions of mentions": Input(repeated(b"the ===CHECKPOINT 7=== block\n"), seconds=10),
}
PEAK_MEGABYTES = 32


def least_work(chunk: bytes) -> int:
    return (b"===" in chunk) + chunk.count(b"\n")


def measure(name: str, size: int, floor: bool) -> tuple[float, float]:
    """Return the CPU seconds of the scanning alone, and the peak memory of this process in MB."""
    from gitckpt.protocol.scanner import Scanner

    feed: Callable[[bytes], object] = least_work if floor else Scanner().feed
    spent = 0.0
    for chunk in INPUTS[name].reads(size):
        start = time.process_time()
        feed(chunk)
        spent += time.process_time() - start
    return spent, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measured_apart(name: str, size: int, floor: bool = False) -> tuple[float, float]:
    run = [sys.executable, __file__, "--one", name, "--size", str(size), *(["--floor"] if floor else [])]
    seconds, peak = subprocess.run(run, check=True, capture_output=True, text=True).stdout.split()
    return float(seconds), float(peak)


def row(name: str, size: int, rounds: int) -> bool:
    """Measure one input against its floor, alternating; print the row and return whether the bar holds."""
    pairs = [(measured_apart(name, size), measured_apart(name, size, floor=True)) for _ in range(rounds)]
    seconds = statistics.median(scan[0] for scan, _ in pairs)
    floor = statistics.median(least[0] for _, least in pairs)
    peak = max(scan[1] for scan, _ in pairs)
    speed, limit = size / MEGABYTE / seconds, INPUTS[name].seconds * size / (100 * MEGABYTE)
    keeps = speed >= INPUTS[name].megabytes_per_second and (not limit or seconds <= limit) and peak <= PEAK_MEGABYTES
    least_speed = INPUTS[name].megabytes_per_second
    bar = f"<= {limit:.1f} s" if limit else f">= {least_speed:.0f} MB/s" if least_speed else "-"
    columns = (f"{name:40}", f"{seconds:6.2f} s", f"{speed:5.0f} MB/s", f"{seconds / floor:5.1f}", f"{peak:3.0f} MB")
    print("|", " | ".join((*columns, f"{bar:11}", "yes" if keeps else "NO")), "|", flush=True)
    return keeps


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a tenth of the input, one round")
    parser.add_argument("--one", choices=INPUTS, help=argparse.SUPPRESS)
    parser.add_argument("--size", type=int, default=100 * MEGABYTE, help="bytes of each input")
    parser.add_argument("--floor", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(*measure(options.one, options.size, options.floor))
        return 0
    size, rounds = (options.size // 10, 1) if options.quick else (options.size, ROUNDS)
    print(f"| scan, {size // MEGABYTE} MB each | CPU | speed | x floor | peak | bar | kept |")
    print("|" + "---|" * 7)
    kept = [row(name, size, rounds) for name in INPUTS]
    return 0 if all(kept) else 1


if __name__ == "__main__":
    sys.exit(main())
