"""Functions of dates, instants, local times and intervals, in the time zone of the session."""
