"""The rows that each file of sql_examples must return, computed by plain loops over the same data.

The loops know nothing of row patterns: they go through the rows of each partition in order. Each
function is named after a file and yields rows with the columns of its SELECT list.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tests.references.answers import departures, prices, sensor, skies
from tests.references.answers.tables import Row

ANSWERS: dict[str, Callable[[], Iterator[Row]]] = {
    answer.__name__: answer
    for answer in (
        prices.v_shapes,
        prices.w_shapes,
        prices.price_streaks,
        prices.unfinished_streaks,
        prices.volume_spikes,
        skies.heat_waves,
        skies.dry_spells,
        skies.pressure_drops,
        skies.storm_funnel,
        skies.weather_calendar,
        skies.storm_delays,
        departures.delay_cascades,
        departures.delay_recovery,
        departures.three_airports,
        sensor.sensor_sessions,
        sensor.glucose_spikes,
        sensor.glucose_lows,
    )
}
