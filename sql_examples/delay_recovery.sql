-- How an aircraft gets back on schedule: it leaves two hours late or more, then each of its
-- departures of the day is less late, until one is at most 15 minutes late. Each leg is a row of the
-- result, with its variable and the number of minutes made up so far.
SELECT tailnum, day, scheduled, origin, dest, dep_delay, phase, leg, minutes_won
FROM (
    SELECT *, CAST(scheduled AS DATE) AS day FROM flights WHERE dep_delay IS NOT NULL
) MATCH_RECOGNIZE (
    PARTITION BY tailnum, day
    ORDER BY scheduled, flight
    MEASURES
        CLASSIFIER() AS phase,
        RUNNING COUNT(*) AS leg,
        FIRST(dep_delay) - dep_delay AS minutes_won
    ALL ROWS PER MATCH
    PATTERN (LATE CATCHING_UP* ON_TIME)
    DEFINE
        LATE AS dep_delay >= 120,
        CATCHING_UP AS dep_delay < PREV(dep_delay) AND dep_delay > 15,
        ON_TIME AS dep_delay <= 15
)
ORDER BY tailnum, scheduled
