-- What bad weather does to departures: periods of at least three hours of poor sight or heavy rain,
-- joined to the flights that were scheduled in each period. The clause belongs to the table before
-- it, so its input is `weather` alone, and the JOIN comes after the search.
SELECT s.origin, s.start_local, s.hours, COUNT(*) AS flights, ROUND(AVG(f.dep_delay)) AS avg_delay,
    COUNT_IF(f.dep_delay IS NULL) AS cancelled
FROM weather MATCH_RECOGNIZE (
    PARTITION BY origin
    ORDER BY hour_utc
    MEASURES
        FIRST(BAD.hour_local) AS start_local,
        LAST(BAD.hour_local) + INTERVAL 1 HOUR AS end_local,
        COUNT(*) AS hours
    PATTERN (BAD{3,})
    DEFINE BAD AS visib < 5 OR precip >= 0.1
) AS s
JOIN flights AS f
    ON f.origin = s.origin AND f.scheduled >= s.start_local AND f.scheduled < s.end_local
GROUP BY s.origin, s.start_local, s.hours
ORDER BY avg_delay DESC, s.origin, s.start_local
