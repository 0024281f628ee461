import java.util.List;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.connect.SparkSession;

/** Prints the rows of a clause, and the class and the message of the error for a wrong column. */
public class Falls {
  public static void main(String[] arguments) {
    SparkSession spark = SparkSession.builder().remote(arguments[0]).getOrCreate();
    spark.sql("CREATE TEMP VIEW ticks AS SELECT * FROM "
        + "VALUES (1, 90), (2, 80), (3, 70), (4, 95) AS t(day, price)");
    String falls = "SELECT * FROM ticks MATCH_RECOGNIZE (ORDER BY day "
        + "MEASURES FIRST(day) AS first_day, LAST(price) AS lowest "
        + "PATTERN (FALL+) DEFINE FALL AS price < PREV(price))";
    List<Row> rows = spark.sql(falls).where("lowest > 60").collectAsList();
    System.out.println(rows);
    try {
      spark.sql(falls.replace("AS price <", "AS prise <")).collectAsList();
    } catch (Exception error) {
      System.out.println(error.getClass().getName() + ": " + error.getMessage());
    }
    spark.close();
  }
}
