-- Delay cascades: one aircraft, one day, leg after leg. The delays grow at least twice in a row, by
-- an hour in total, and then start to shrink. The next cascade may begin with the leg at which this
-- one ended, so the query has SKIP TO LAST.
SELECT tailnum, day, first_leg, worst_leg, legs, first_delay, worst_delay, end_delay
FROM (
    SELECT tailnum, CAST(scheduled AS DATE) AS day, scheduled, flight, dep_delay
    FROM flights
    WHERE tailnum IS NOT NULL AND dep_delay IS NOT NULL
) MATCH_RECOGNIZE (
    PARTITION BY tailnum, day
    ORDER BY scheduled, flight
    MEASURES
        START.scheduled AS first_leg,
        LAST(WORSE.scheduled) AS worst_leg,
        COUNT(*) AS legs,
        START.dep_delay AS first_delay,
        LAST(WORSE.dep_delay) AS worst_delay,
        LAST(BETTER.dep_delay) AS end_delay
    AFTER MATCH SKIP TO LAST BETTER
    PATTERN (START WORSE{2,} BETTER+)
    DEFINE
        WORSE AS dep_delay > PREV(dep_delay),
        BETTER AS dep_delay < PREV(dep_delay) AND LAST(WORSE.dep_delay) >= START.dep_delay + 60
)
ORDER BY tailnum, first_leg
