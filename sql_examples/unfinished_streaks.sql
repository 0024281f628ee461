-- The streak each share is still in on its last day in the table: `$` holds only after the last row
-- of a partition, so a streak that has already ended does not match.
SELECT ticker, direction, days, last_close
FROM stocks MATCH_RECOGNIZE (
    PARTITION BY ticker
    ORDER BY date
    MEASURES
        LAST(CLASSIFIER()) AS direction,
        COUNT(*) - 1 AS days,
        LAST(close) AS last_close
    PATTERN (BASE (RISE+ | FALL+) $)
    DEFINE
        RISE AS close > PREV(close),
        FALL AS close < PREV(close)
)
ORDER BY ticker
