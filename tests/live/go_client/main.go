// Prints the rows of a clause, and the error for a wrong column.
package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/apache/spark-connect-go/spark/sql"
)

const falls = `SELECT * FROM ticks MATCH_RECOGNIZE (ORDER BY day
    MEASURES FIRST(day) AS first_day, LAST(price) AS lowest
    PATTERN (FALL+) DEFINE FALL AS price < PREV(price))`

func main() {
	ctx := context.Background()
	spark, err := sql.NewSessionBuilder().Remote(os.Args[1]).Build(ctx)
	check(err)
	defer spark.Stop()
	_, err = spark.Sql(ctx, "CREATE TEMP VIEW ticks AS SELECT * FROM "+
		"VALUES (1, 90), (2, 80), (3, 70), (4, 95) AS t(day, price)")
	check(err)
	df, err := spark.Sql(ctx, falls)
	check(err)
	rows, err := df.Collect(ctx)
	check(err)
	for _, row := range rows {
		fmt.Println(row.Values())
	}
	_, err = spark.Sql(ctx, strings.Replace(falls, "AS price <", "AS prise <", 1))
	fmt.Println(err)
}

func check(err error) {
	if err != nil {
		fmt.Println("failed:", err)
		os.Exit(1)
	}
}
