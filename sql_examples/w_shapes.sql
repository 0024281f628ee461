-- W-shapes (double bottoms): two falls of at least two days, whose bottoms are within 2 % of each
-- other, with a rise after each. Chart readers take them for the end of a decline.
SELECT ticker, first_bottom_date, second_bottom_date, first_bottom, second_bottom, end_date, end_close
FROM stocks MATCH_RECOGNIZE (
    PARTITION BY ticker
    ORDER BY date
    MEASURES
        LAST(FALL1.date) AS first_bottom_date,
        LAST(FALL1.close) AS first_bottom,
        LAST(FALL2.date) AS second_bottom_date,
        LAST(FALL2.close) AS second_bottom,
        LAST(RISE2.date) AS end_date,
        LAST(RISE2.close) AS end_close
    AFTER MATCH SKIP TO LAST RISE1 -- the middle top of one W may be the top of the next
    PATTERN (TOP FALL1{2,} RISE1{2,} FALL2{2,} RISE2{2,})
    DEFINE
        FALL1 AS close < PREV(close),
        RISE1 AS close > PREV(close),
        FALL2 AS close < PREV(close) AND close >= 0.98 * LAST(FALL1.close),
        RISE2 AS close > PREV(close) AND LAST(FALL2.close) <= 1.02 * LAST(FALL1.close)
)
ORDER BY ticker, first_bottom_date
