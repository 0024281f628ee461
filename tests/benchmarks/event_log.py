"""What Spark's event log says of tasks, and how long a query takes with enough cores.

A stage ends with its last task, and the next one begins then. So the least time that so many cores
can reach is the sum over the stages of how long their tasks take when each goes to the core that is
free first. It is counted from the time of each task, run alone on one core, without what the driver
does between the stages.
"""

from __future__ import annotations

import heapq
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

DESCRIPTION = "spark.job.description"


@dataclass(frozen=True)
class Task:
    """A task. query: the description of its job. seconds: on the clock, in its executor.

    shuffled, spilled: bytes that it has written for a shuffle, and to disk for lack of memory.
    """

    query: str
    stage: int
    seconds: float
    processor: float
    shuffled: int = 0
    spilled: int = 0


def logging_to(folder: Path) -> dict[str, str]:
    """Settings of a session whose events go to a folder, as `session` takes them."""
    return {
        "spark_eventLog_enabled": "true",
        "spark_eventLog_compress": "false",
        "spark_eventLog_dir": folder.as_uri(),
    }


def tasks(folder: Path) -> Iterator[Task]:
    """All tasks of the sessions that have written their events there, which must have ended."""
    for path in sorted(folder.rglob("*")):
        if path.is_file() and "appstatus" not in path.name and not path.name.endswith(".crc"):
            yield from tasks_of(json.loads(line) for line in path.read_text().splitlines())


def tasks_of(events: Iterable[dict[str, object]]) -> Iterator[Task]:
    """The tasks of one session."""
    queries: dict[int, str] = {}
    for event in events:
        match event:
            case {"Event": "SparkListenerStageSubmitted", "Stage Info": {"Stage ID": int(stage)}}:
                properties = event.get("Properties")
                assert isinstance(properties, dict)
                queries[stage] = properties.get(DESCRIPTION, "")
            case {
                "Event": "SparkListenerTaskEnd",
                "Stage ID": int(stage),
                "Task Metrics": {
                    "Executor Run Time": int(run),
                    "Executor CPU Time": int(cpu),
                    "Disk Bytes Spilled": int(spilled),
                    "Shuffle Write Metrics": {"Shuffle Bytes Written": int(shuffled)},
                },
            }:
                yield Task(queries[stage], stage, run / 1e3, cpu / 1e9, shuffled, spilled)


def critical_path(ran: Iterable[Task], cores: int) -> float:
    """Seconds of the stages one after the other, the tasks of each on so many cores."""
    stages: dict[int, list[float]] = {}
    for task in ran:
        stages.setdefault(task.stage, []).append(task.seconds)
    return sum(makespan(seconds, cores) for seconds in stages.values())


def makespan(seconds: Iterable[float], cores: int) -> float:
    """When the last task ends, if each begins on the core that is free first.

    >>> makespan([3, 1, 1, 2], 2)
    4.0
    """
    free = [0.0] * cores
    for one in seconds:
        heapq.heapreplace(free, free[0] + one)
    return max(free)
