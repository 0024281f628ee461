"""Turn errors of Spark, Sail or a worker into errors in the user's terms.

diagnose           an engine refuses the SQL of a clause: which expression, and why
rewritten_errors   an engine refuses the query around the clause
type_checks        types that the engine accepts, although Spark would reject them
failed_actions     an action fails: the error of a worker, or of an expression
second_look        which expression failed, if the engine does not say
"""
