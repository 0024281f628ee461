SELECT ticker, top_date, top, bottom_date, bottom, back_date,
    ROUND(100 * (1 - bottom / top), 1) AS fall_percent
FROM stocks MATCH_RECOGNIZE (
    PARTITION BY ticker
    ORDER BY date
    MEASURES
        TOP.date AS top_date, TOP.close AS top,
        LAST(FALL.date) AS bottom_date, LAST(FALL.close) AS bottom,
        BACK.date AS back_date
    ONE ROW PER MATCH
    AFTER MATCH SKIP TO LAST BACK
    PATTERN (TOP FALL{3,} RISE*? BACK)
    DEFINE
        FALL AS close < PREV(close),
        RISE AS close > PREV(close),
        BACK AS close > PREV(close) AND close >= TOP.close
)
WHERE bottom <= 0.96 * top
ORDER BY fall_percent DESC
