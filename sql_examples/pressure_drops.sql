-- Plunging barometers: air pressure that never rises from one hour to the next until it is 12 hPa
-- below where it started, the mark of a strong low moving in. A missing reading (NULL) ends the
-- fall, because no comparison with it is true.
SELECT origin, start_local, end_local, hours, start_pressure, end_pressure, strongest_wind
FROM weather MATCH_RECOGNIZE (
    PARTITION BY origin
    ORDER BY hour_utc
    MEASURES
        HIGH.hour_local AS start_local,
        DEEP.hour_local AS end_local,
        COUNT(*) - 1 AS hours,
        HIGH.pressure AS start_pressure,
        DEEP.pressure AS end_pressure,
        ROUND(MAX(wind_speed), 1) AS strongest_wind
    PATTERN (HIGH FALL*? DEEP)
    DEFINE
        FALL AS pressure <= PREV(pressure),
        DEEP AS pressure <= PREV(pressure) AND pressure <= HIGH.pressure - 12
)
ORDER BY start_local, origin
