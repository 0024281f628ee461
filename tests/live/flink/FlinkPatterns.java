import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.apache.flink.api.common.functions.RuntimeContext;
import org.apache.flink.api.common.state.KeyedStateStore;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.typeutils.base.IntSerializer;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.cep.configuration.SharedBufferCacheConfig;
import org.apache.flink.cep.nfa.NFA;
import org.apache.flink.cep.nfa.NFAState;
import org.apache.flink.cep.nfa.aftermatch.AfterMatchSkipStrategy;
import org.apache.flink.cep.nfa.compiler.NFACompiler;
import org.apache.flink.cep.nfa.sharedbuffer.SharedBuffer;
import org.apache.flink.cep.nfa.sharedbuffer.SharedBufferAccessor;
import org.apache.flink.cep.pattern.Pattern;
import org.apache.flink.cep.pattern.WithinType;
import org.apache.flink.cep.pattern.conditions.IterativeCondition;
import org.apache.flink.configuration.Configuration;

/**
 * What Flink CEP finds in small streams. Standard input has questions of four lines each: calls of
 * a pattern, a skip strategy, timeouts or not, events; all of them lists in parentheses, as
 * flink_check.py writes them. Output: a line for each match, then ----.
 */
public class FlinkPatterns {

    static List<Map<String, Object>> events;

    public static void main(String[] arguments) throws Exception {
        BufferedReader in =
                new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        StringBuilder out = new StringBuilder();
        for (String calls = in.readLine(); calls != null; calls = in.readLine()) {
            try {
                out.append(
                        answer(
                                read(calls),
                                read(in.readLine()),
                                in.readLine().equals("timeouts"),
                                read(in.readLine())));
            } catch (Exception error) {
                String message = String.valueOf(error).replace('\n', ' ');
                out.append("error ").append(message).append('\n');
            }
            out.append("----\n");
        }
        System.out.print(out);
        System.out.flush();
        System.exit(0);
    }

    // Lists of words and lists

    static List<Object> read(String text) {
        Deque<List<Object>> open = new ArrayDeque<>();
        open.push(new ArrayList<>());
        for (String word : text.replace("(", " ( ").replace(")", " ) ").trim().split("\\s+")) {
            if (word.equals("(")) {
                open.push(new ArrayList<>());
            } else if (word.equals(")")) {
                List<Object> done = open.pop();
                open.peek().add(done);
            } else if (!word.isEmpty()) {
                open.peek().add(word);
            }
        }
        return open.pop();
    }

    @SuppressWarnings("unchecked")
    static List<Object> list(Object given) {
        return (List<Object>) given;
    }

    // One question

    static String answer(
            List<Object> calls, List<Object> skip, boolean timeouts, List<Object> stream)
            throws Exception {
        events = new ArrayList<>();
        for (Object event : stream) {
            events.add(event(list(event)));
        }
        AfterMatchSkipStrategy strategy = strategy(skip);
        NFA<Integer> nfa =
                NFACompiler.<Integer>compileFactory(pattern(calls, strategy), timeouts).createNFA();
        nfa.open(proxy(RuntimeContext.class, (proxy, method, given) -> null), new Configuration());
        NFAState state = nfa.createInitialNFAState();
        SharedBuffer<Integer> buffer =
                new SharedBuffer<>(store(), IntSerializer.INSTANCE, new SharedBufferCacheConfig());
        StringBuilder out = new StringBuilder();
        for (int number = 0; number <= events.size(); number++) {
            boolean end = number == events.size();
            long time = end ? Long.MAX_VALUE : (Long) events.get(number).get("t");
            try (SharedBufferAccessor<Integer> accessor = buffer.getAccessor()) {
                var advanced = nfa.advanceTime(accessor, state, time, strategy);
                write(out, advanced.f0, "");
                for (Tuple2<Map<String, List<Integer>>, Long> one : advanced.f1) {
                    write(out, List.of(one.f0), timeouts ? " timed out " + one.f1 : null);
                }
                if (!end) {
                    write(out, nfa.process(accessor, state, number, time, strategy, null), "");
                }
            }
        }
        buffer.releaseCacheStatisticsTimer();
        return out.toString();
    }

    static void write(
            StringBuilder out, Collection<Map<String, List<Integer>>> matches, String suffix) {
        for (Map<String, List<Integer>> match : suffix == null ? List.<Map<String, List<Integer>>>of() : matches) {
            out.append(
                    match.entrySet().stream()
                            .map(
                                    stage ->
                                            stage.getKey()
                                                    + ": "
                                                    + stage.getValue().stream()
                                                            .map(e -> (String) events.get(e).get("e"))
                                                            .collect(Collectors.joining(" ")))
                            .collect(Collectors.joining(", ")));
            out.append(suffix).append('\n');
        }
    }

    static Map<String, Object> event(List<Object> values) {
        Map<String, Object> event = new HashMap<>();
        for (Object value : values) {
            List<Object> pair = list(value);
            String text = (String) pair.get(1);
            event.put((String) pair.get(0), pair.get(0).equals("e") ? text : constant(text));
        }
        event.put("t", ((Double) event.get("t")).longValue());
        return event;
    }

    static Object constant(String text) {
        if (text.equals("null")) {
            return null;
        }
        boolean truth = text.equals("true") || text.equals("false");
        return truth ? (Object) Boolean.valueOf(text) : (Object) Double.valueOf(text);
    }

    static AfterMatchSkipStrategy strategy(List<Object> skip) {
        boolean throwing = skip.contains("throws");
        switch ((String) skip.get(0)) {
            case "next":
                return AfterMatchSkipStrategy.skipToNext();
            case "past":
                return AfterMatchSkipStrategy.skipPastLastEvent();
            case "first":
                var first = AfterMatchSkipStrategy.skipToFirst((String) skip.get(1));
                return throwing ? first.throwExceptionOnMiss() : first;
            case "last":
                var last = AfterMatchSkipStrategy.skipToLast((String) skip.get(1));
                return throwing ? last.throwExceptionOnMiss() : last;
            default:
                return AfterMatchSkipStrategy.noSkip();
        }
    }

    // A store of state in memory, as far as the shared buffer asks for one

    static KeyedStateStore store() {
        return proxy(KeyedStateStore.class, (proxy, method, given) -> stateOver(new HashMap<>()));
    }

    static <T> T proxy(Class<T> type, InvocationHandler handler) {
        ClassLoader loader = FlinkPatterns.class.getClassLoader();
        return type.cast(Proxy.newProxyInstance(loader, new Class<?>[] {type}, handler));
    }

    @SuppressWarnings("unchecked")
    static MapState<Object, Object> stateOver(Map<Object, Object> held) {
        return proxy(
                        MapState.class,
                        (proxy, method, given) -> {
                            switch (method.getName()) {
                                case "get":
                                    return held.get(given[0]);
                                case "put":
                                    held.put(given[0], given[1]);
                                    return null;
                                case "putAll":
                                    held.putAll((Map<Object, Object>) given[0]);
                                    return null;
                                case "remove":
                                    held.remove(given[0]);
                                    return null;
                                case "contains":
                                    return held.containsKey(given[0]);
                                case "entries":
                                    return held.entrySet();
                                case "keys":
                                    return held.keySet();
                                case "values":
                                    return held.values();
                                case "iterator":
                                    return held.entrySet().iterator();
                                case "isEmpty":
                                    return held.isEmpty();
                                default:
                                    held.clear();
                                    return null;
                            }
                        });
    }

    // Patterns

    static Pattern<Integer, Integer> pattern(List<Object> calls, AfterMatchSkipStrategy strategy) {
        Pattern<Integer, Integer> built = null;
        for (Object call : calls) {
            built = called(built, list(call), strategy);
        }
        return built;
    }

    @SuppressWarnings("unchecked")
    static Pattern<Integer, Integer> called(
            Pattern<Integer, Integer> built, List<Object> call, AfterMatchSkipStrategy strategy) {
        Object given = call.size() > 1 ? call.get(1) : null;
        String name = given instanceof String ? (String) given : null;
        Pattern<Integer, Integer> group =
                given instanceof List && List.of("begin", "next", "followed_by", "followed_by_any").contains(call.get(0))
                        ? pattern(list(given), strategy)
                        : null;
        switch ((String) call.get(0)) {
            case "begin":
                return group == null ? Pattern.begin(name, strategy) : Pattern.begin(group, strategy);
            case "next":
                return group == null ? built.next(name) : built.next(group);
            case "followed_by":
                return group == null ? built.followedBy(name) : built.followedBy(group);
            case "followed_by_any":
                return group == null ? built.followedByAny(name) : built.followedByAny(group);
            case "not_next":
                return built.notNext(name);
            case "not_followed_by":
                return built.notFollowedBy(name);
            case "where":
                return built.where(new Condition(list(given)));
            case "or_where":
                return built.or(new Condition(list(given)));
            case "until":
                return built.until(new Condition(list(given)));
            case "optional":
                return built.optional();
            case "greedy":
                return built.greedy();
            case "consecutive":
                return built.consecutive();
            case "allow_combinations":
                return built.allowCombinations();
            case "within":
                return built.within(
                        Duration.ofMillis(Long.parseLong(name)),
                        call.contains("previous_to_current")
                                ? WithinType.PREVIOUS_AND_CURRENT
                                : WithinType.FIRST_AND_LAST);
            default:
                return quantified(built, call);
        }
    }

    static Pattern<Integer, Integer> quantified(Pattern<Integer, Integer> built, List<Object> call) {
        int least = Integer.parseInt((String) call.get(1));
        Duration gap =
                call.get(3).equals("null") ? null : Duration.ofMillis(Long.parseLong((String) call.get(3)));
        if (call.get(0).equals("times_or_more")) {
            return least == 1 ? built.oneOrMore(gap) : built.timesOrMore(least, gap);
        }
        return call.get(2).equals("null")
                ? built.times(least, gap)
                : built.times(least, Integer.parseInt((String) call.get(2)), gap);
    }

    // Conditions, in three-valued logic

    static class Condition extends IterativeCondition<Integer> {
        final ArrayList<Object> tree;

        Condition(List<Object> tree) {
            this.tree = new ArrayList<>(tree);
        }

        @Override
        public boolean filter(Integer event, Context<Integer> context) throws Exception {
            return Boolean.TRUE.equals(value(tree, event, context));
        }

        Object value(List<Object> tree, Integer event, Context<Integer> context) throws Exception {
            String operator = (String) tree.get(0);
            switch (operator) {
                case "column":
                    return events.get(event).get((String) tree.get(1));
                case "constant":
                    return constant((String) tree.get(1));
                case "aggregate":
                    return aggregate(tree, context);
                default:
            }
            Object left = value(list(tree.get(1)), event, context);
            if (operator.equals("is_null")) {
                return left == null;
            }
            if (operator.equals("not")) {
                return left == null ? null : !(Boolean) left;
            }
            Object right = value(list(tree.get(2)), event, context);
            if (operator.equals("and") || operator.equals("or")) {
                Boolean decides = operator.equals("or");
                if (decides.equals(left) || decides.equals(right)) {
                    return decides;
                }
                return left == null || right == null ? null : !decides;
            }
            return left == null || right == null
                    ? null
                    : calculated(operator, (Double) left, (Double) right);
        }

        Object calculated(String operator, double left, double right) {
            switch (operator) {
                case "+":
                    return left + right;
                case "-":
                    return left - right;
                case "*":
                    return left * right;
                case "=":
                    return left == right;
                case "<>":
                    return left != right;
                case "<":
                    return left < right;
                case "<=":
                    return left <= right;
                case ">":
                    return left > right;
                default:
                    return left >= right;
            }
        }

        Object aggregate(List<Object> tree, Context<Integer> context) throws Exception {
            List<Object> all = new ArrayList<>();
            for (Integer event : context.getEventsForPattern((String) tree.get(2))) {
                all.add(tree.size() > 3 ? events.get(event).get((String) tree.get(3)) : (Object) 1.0);
            }
            double[] known =
                    all.stream().filter(v -> v != null).mapToDouble(v -> (Double) v).toArray();
            switch ((String) tree.get(1)) {
                case "count":
                    return (double) known.length;
                case "sum":
                    return Arrays.stream(known).sum();
                case "first":
                    return all.isEmpty() ? null : all.get(0);
                case "last":
                    return all.isEmpty() ? null : all.get(all.size() - 1);
                case "min":
                    return known.length == 0 ? null : Arrays.stream(known).min().getAsDouble();
                case "max":
                    return known.length == 0 ? null : Arrays.stream(known).max().getAsDouble();
                default:
                    return known.length == 0 ? null : Arrays.stream(known).average().getAsDouble();
            }
        }
    }
}
