-- Aircraft that left New York from all three of its airports in three departures in a row, in any
-- order: PERMUTE matches all six orders. CLASSIFIER returns the airport that came first.
SELECT first_from, last_from, COUNT(*) AS times, COUNT(DISTINCT tailnum) AS aircraft
FROM flights MATCH_RECOGNIZE (
    PARTITION BY tailnum
    ORDER BY scheduled, flight
    MEASURES
        FIRST(CLASSIFIER()) AS first_from,
        LAST(CLASSIFIER()) AS last_from
    PATTERN (PERMUTE(EWR, JFK, LGA))
    DEFINE
        EWR AS origin = 'EWR',
        JFK AS origin = 'JFK',
        LGA AS origin = 'LGA'
)
WHERE tailnum IS NOT NULL
GROUP BY first_from, last_from
ORDER BY times DESC, first_from, last_from
