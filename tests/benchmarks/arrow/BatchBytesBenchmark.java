// What the limit of bytes of an Arrow batch costs a row: Spark's ArrowWriter, with and without
// sizeInBytes() after each row. For Spark 4.3; in older versions
// toArrowSchema has one `false` less.
package benchmarks;

import java.util.concurrent.TimeUnit;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.types.pojo.Schema;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.execution.arrow.ArrowWriter;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.ArrowUtils;
import org.apache.spark.unsafe.types.UTF8String;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(1)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class BatchBytesBenchmark {
    private static final int ROWS = 10_000; // spark.sql.execution.arrow.maxRecordsPerBatch
    private static final long LIMIT = 64L << 20; // spark.sql.execution.arrow.maxBytesPerBatch

    /** Columns by their types: b BIGINT, d DOUBLE, i INT, y TINYINT, s STRING. */
    @Param({"b", "bbbb", "bdbb", "bdiy", "sdbb", "sdby", "bbbbbbbb"})
    public String columns;

    /** Whether the columns are fields of one struct, as mapInArrow and mapInPandas send them. */
    @Param({"true", "false"})
    public boolean struct;

    private VectorSchemaRoot root;
    private ArrowWriter writer;
    private InternalRow row;

    @Setup
    public void setup() {
        StructType fields = new StructType();
        Object[] values = new Object[columns.length()];
        for (int i = 0; i < values.length; i++) {
            char column = columns.charAt(i);
            fields = fields.add("c" + i, type(column));
            values[i] = value(column);
        }
        StructType schema = struct ? new StructType().add("struct", fields) : fields;
        row = new GenericInternalRow(values);
        if (struct) {
            row = new GenericInternalRow(new Object[] {row});
        }
        Schema arrowSchema = ArrowUtils.toArrowSchema(schema, "UTC", true, false, false);
        root = VectorSchemaRoot.create(arrowSchema, ArrowUtils.rootAllocator());
        writer = ArrowWriter.create(root);
    }

    @TearDown
    public void close() {
        root.close();
    }

    /** maxBytesPerBatch = 2147483647. */
    @Benchmark
    @OperationsPerInvocation(ROWS)
    public int withoutLimit() {
        for (int i = 0; i < ROWS; i++) {
            writer.write(row);
        }
        return finish();
    }

    /** What BatchedPythonArrowInput does today. */
    @Benchmark
    @OperationsPerInvocation(ROWS)
    public int sizeAfterEachRow() {
        for (int i = 0; i < ROWS && writer.sizeInBytes() < LIMIT; i++) {
            writer.write(row);
        }
        return finish();
    }

    /** The same after 1, 2, 4, ..., then every 64 rows: a few large rows still end a batch. */
    @Benchmark
    @OperationsPerInvocation(ROWS)
    public int sizeNowAndThen() {
        int next = 0;
        for (int i = 0; i < ROWS; i++) {
            if (i >= next) {
                if (writer.sizeInBytes() >= LIMIT) {
                    break;
                }
                next = i + Math.min(64, Math.max(1, i));
            }
            writer.write(row);
        }
        return finish();
    }

    private int finish() {
        writer.finish();
        int rows = root.getRowCount();
        writer.reset();
        return rows;
    }

    private static DataType type(char column) {
        switch (column) {
            case 'b': return DataTypes.LongType;
            case 'd': return DataTypes.DoubleType;
            case 'i': return DataTypes.IntegerType;
            case 'y': return DataTypes.ByteType;
            default: return DataTypes.StringType;
        }
    }

    private static Object value(char column) {
        switch (column) {
            case 'b': return 42L;
            case 'd': return 4.2;
            case 'i': return 42;
            case 'y': return (byte) 4;
            default: return UTF8String.fromString("X0000042");
        }
    }
}
