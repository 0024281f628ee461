import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.apache.flink.api.common.RuntimeExecutionMode;
import org.apache.flink.api.common.accumulators.LongCounter;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.functions.RichMapFunction;
import org.apache.flink.cep.CEP;
import org.apache.flink.cep.functions.PatternProcessFunction;
import org.apache.flink.cep.nfa.aftermatch.AfterMatchSkipStrategy;
import org.apache.flink.cep.pattern.Pattern;
import org.apache.flink.cep.pattern.conditions.IterativeCondition;
import org.apache.flink.cep.pattern.conditions.SimpleCondition;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;
import org.apache.flink.util.Collector;

/**
 * Three patterns of Flink CEP over events from a CSV file, in memory before the clock starts.
 * Arguments: the file (key, milliseconds, kind, price), the pattern, how often, the parallelism.
 * Output: for each run the seconds, the matches, and the sum of their last times minus the first.
 * The pattern `nothing` only starts a job and reads the events.
 */
public class CepBenchmark {

    static int[] keys;
    static long[] times;
    static int[] kinds;
    static double[] prices;

    public static class Event {
        public int key;
        public long time;
        public int kind;
        public double price;
    }

    public static void main(String[] arguments) throws Exception {
        load(Path.of(arguments[0]));
        for (int round = 0; round < Integer.parseInt(arguments[2]); round++) {
            run(arguments[1], Integer.parseInt(arguments[3]));
        }
    }

    static void load(Path file) throws Exception {
        List<String> lines = Files.readAllLines(file);
        keys = new int[lines.size()];
        times = new long[lines.size()];
        kinds = new int[lines.size()];
        prices = new double[lines.size()];
        for (int i = 0; i < keys.length; i++) {
            String[] fields = lines.get(i).split(",");
            keys[i] = Integer.parseInt(fields[0]);
            times[i] = Long.parseLong(fields[1]);
            kinds[i] = fields[2].charAt(0);
            prices[i] = Double.parseDouble(fields[3]);
        }
    }

    static void run(String name, int parallelism) throws Exception {
        StreamExecutionEnvironment env =
                StreamExecutionEnvironment.createLocalEnvironment(parallelism, new Configuration());
        env.setRuntimeMode(RuntimeExecutionMode.BATCH);
        DataStream<Event> events =
                env.fromSequence(0, keys.length - 1)
                        .map(CepBenchmark::event)
                        .returns(Event.class)
                        .assignTimestampsAndWatermarks(
                                WatermarkStrategy.<Event>forMonotonousTimestamps()
                                        .withTimestampAssigner((event, before) -> event.time));
        DataStream<Long> spans =
                name.equals("nothing")
                        ? events.map(event -> 0L)
                        : CEP.pattern(events.keyBy(event -> event.key), pattern(name))
                                .process(new Spans());
        spans.map(new Counting()).sinkTo(new DiscardingSink<>());
        long began = System.nanoTime();
        var result = env.execute();
        double seconds = (System.nanoTime() - began) / 1e9;
        Long matches = result.getAccumulatorResult("matches");
        Long span = result.getAccumulatorResult("span");
        System.out.println(seconds + " " + matches + " " + span);
    }

    static Event event(long index) {
        Event event = new Event();
        event.key = keys[(int) index];
        event.time = times[(int) index];
        event.kind = kinds[(int) index];
        event.price = prices[(int) index];
        return event;
    }

    /** Of each match the time from its first to its last event. */
    static class Spans extends PatternProcessFunction<Event, Long> {
        @Override
        public void processMatch(
                Map<String, List<Event>> match, Context context, Collector<Long> out) {
            long first = Long.MAX_VALUE;
            long last = Long.MIN_VALUE;
            for (List<Event> stage : match.values()) {
                first = Math.min(first, stage.get(0).time);
                last = Math.max(last, stage.get(stage.size() - 1).time);
            }
            out.collect(last - first);
        }
    }

    static class Counting extends RichMapFunction<Long, Long> {
        private final LongCounter matches = new LongCounter();
        private final LongCounter span = new LongCounter();

        @Override
        public void open(OpenContext context) {
            getRuntimeContext().addAccumulator("matches", matches);
            getRuntimeContext().addAccumulator("span", span);
        }

        @Override
        public Long map(Long length) {
            matches.add(1);
            span.add(length);
            return length;
        }
    }

    static Pattern<Event, ?> pattern(String name) {
        Pattern<Event, Event> a = Pattern.<Event>begin("a").where(SimpleCondition.of(e -> e.kind == 'a'));
        switch (name) {
            case "vshape":
                return Pattern.<Event>begin("start", AfterMatchSkipStrategy.skipPastLastEvent())
                        .next("down")
                        .where(new Falling())
                        .oneOrMore()
                        .consecutive()
                        .greedy()
                        .next("up")
                        .where(new Rising());
            case "relaxed":
                return a.followedBy("b")
                        .where(SimpleCondition.of(e -> e.kind == 'b'))
                        .within(Duration.ofMinutes(10));
            case "loop":
                return a.oneOrMore()
                        .followedByAny("b")
                        .where(SimpleCondition.of(e -> e.kind == 'b'))
                        .within(Duration.ofMinutes(10));
            default:
                throw new IllegalArgumentException(name);
        }
    }

    static class Falling extends IterativeCondition<Event> {
        @Override
        public boolean filter(Event event, Context<Event> context) throws Exception {
            double before = last(context, "down");
            return event.price < (Double.isNaN(before) ? last(context, "start") : before);
        }
    }

    static class Rising extends IterativeCondition<Event> {
        @Override
        public boolean filter(Event event, Context<Event> context) throws Exception {
            return event.price > last(context, "down");
        }
    }

    static double last(IterativeCondition.Context<Event> context, String stage) throws Exception {
        double price = Double.NaN;
        for (Event event : context.getEventsForPattern(stage)) {
            price = event.price;
        }
        return price;
    }
}
