SELECT * FROM stocks MATCH_RECOGNIZE (
    PARTITION BY ticker ORDER BY date
    MEASURES FIRST(FALL.date) AS first_day, LAST(FALL.date) AS last_day
    PATTERN (FALL{8,})
    DEFINE FALL AS clsoe < PREV(close)
)
