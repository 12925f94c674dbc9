"""Projects of users, as their own pytest runs them."""

#: Options for a pytest inside a test: Hypothesis, which no project here uses, takes most of the time of a start.
QUICK_START = ("-p", "no:cacheprovider", "-p", "no:hypothesispytest")
