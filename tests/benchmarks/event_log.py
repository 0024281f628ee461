"""Read tasks from Spark's event log, and compute how long a query takes with more cores.

A stage ends with its last task, and then the next one starts. So the shortest time on a number of
cores is the sum over the stages of how long their tasks take if each goes to the core that is free
first. It is computed from the time of each task, run alone on one core, and leaves out what the
driver does between the stages.
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
    """A task that has ended."""

    query: str  # the description of its job
    stage: int
    seconds: float  # elapsed, in the executor
    cpu: float  # CPU seconds
    shuffled: int = 0  # bytes written for a shuffle
    spilled: int = 0  # bytes written to disk because memory was short


def log_events_to(folder: Path) -> dict[str, str]:
    """Return the settings, as `open_session` accepts them, that log the events to a folder."""
    return {
        "spark_eventLog_enabled": "true",
        "spark_eventLog_compress": "false",
        "spark_eventLog_dir": folder.as_uri(),
    }


def read_tasks(folder: Path) -> Iterator[Task]:
    """Yield all tasks of the sessions that logged to a folder; they must have ended."""
    for path in sorted(folder.rglob("*")):
        if path.is_file() and "appstatus" not in path.name and not path.name.endswith(".crc"):
            yield from list_tasks(json.loads(line) for line in path.read_text().splitlines())


def list_tasks(events: Iterable[dict[str, object]]) -> Iterator[Task]:
    """Yield the tasks of one session."""
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


def find_shortest_duration(tasks: Iterable[Task], cores: int) -> float:
    """Return the seconds of all stages, one after the other, on a number of cores."""
    stages: dict[int, list[float]] = {}
    for task in tasks:
        stages.setdefault(task.stage, []).append(task.seconds)
    return sum(find_makespan(seconds, cores) for seconds in stages.values())


def find_makespan(seconds: Iterable[float], cores: int) -> float:
    """Return when the last task ends if each starts on the core that is free first.

    >>> find_makespan([3, 1, 1, 2], 2)
    4.0
    """
    free = [0.0] * cores
    for task_seconds in seconds:
        heapq.heapreplace(free, free[0] + task_seconds)
    return max(free)
