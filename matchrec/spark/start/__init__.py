"""Start a session, or compare a running one with what the user asks for.

sessions          start a session
engine_choice     choose its engine: Sail, Spark, or the server at an address
engine_names      the names of engines
addresses         addresses of servers
limits            the cores and the memory that a session is allowed to use
environment_zone  the time zone of the environment
running_session   the engine of a running session, and the arguments that it does not fulfil
"""
