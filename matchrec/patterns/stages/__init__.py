"""The Pattern API: calls build stages, and stages are lowered to a `MatchPlan`, as any query is.

    Pattern.begin("a").where("x > 1").followed_by("b").one_or_more()

builds two stages; the second stage is a loop. A group is a stage that has stages.

Modules for the calls:

    builder       `Pattern`, whose methods are the calls
    after_match   `AfterMatch`, the argument of `Pattern.after_match`
    public_class  the metaclass of both, which rejects wrong calls on a class
    tree          the stages that the calls build
    checks        the rules for the calls and for the complete pattern
    calls         write stages as the calls that build them

Modules for the plan:

    query         a `Pattern` with the order of its events and the columns of the result
    conditions    find the event that each reference of a condition reads
    definitions   define the tests of stages, loops and windows
    steps         build the steps of the plan, which refer to the tests
    idle_windows  find windows without effect, for warnings
    lower         build the `MatchPlan`
"""
