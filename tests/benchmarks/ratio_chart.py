"""The picture of the workloads: every contender's time, as a ratio to the identity's."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from tests.benchmarks.pictures import new_figure, save

COLOURS = {
    "matchrec": "#228833",
    "window SQL": "#4477aa",
    "applyInPandas": "#ccbb44",
    "Flink SQL": "#ee6677",
    "pandas-match-recognize": "#aa3377",
    "Trino": "#66ccee",
    "window SQL in DuckDB": "#bbbbbb",
}


def draw(ratios: Mapping[str, Mapping[str, float]], aims: Mapping[str, float], path: Path) -> None:
    """A group of bars for each workload, by contender; a mark at the ratio that is aimed at."""
    contenders = [name for name in COLOURS if any(name in one for one in ratios.values())]
    figure = new_figure(figsize=(8, 0.4 + 0.62 * len(ratios)))
    panel = figure.subplots()
    for place, (workload, found) in enumerate(ratios.items()):
        width = 0.8 / len(found)
        for index, (name, ratio) in enumerate(found.items()):
            at = place - 0.4 + width * (index + 0.5)
            panel.barh(at, ratio, width, color=COLOURS[name])
            panel.text(ratio * 1.03, at, f"{ratio:.2f}", va="center", fontsize=6)
        aim = aims[workload]
        panel.plot([aim, aim], [place - 0.45, place - 0.4 + width], color="black", linewidth=1)
    for name in contenders:
        panel.barh(0, 0, color=COLOURS[name], label=name)
    panel.plot([], [], color="black", linewidth=1, label="aim of matchrec")
    panel.axvline(1, color="grey", linewidth=0.8)
    panel.set_xscale("log")
    panel.set_xlim(0.3, 1.6 * max(max(one.values()) for one in ratios.values()))
    ticks = [one for one in (0.5, 1, 2, 5, 10, 20, 50, 100) if one < panel.get_xlim()[1]]
    panel.set_xticks(ticks, [f"{one:g}" for one in ticks])
    panel.minorticks_off()
    panel.set_yticks(range(len(ratios)), list(ratios))
    panel.invert_yaxis()
    panel.set_xlabel("seconds : seconds of the identity (less is better)")
    panel.legend(loc="lower right", fontsize=7)
    save(figure, path)
