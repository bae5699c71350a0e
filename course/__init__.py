"""The course kit: what ``make course`` writes into ``_build/course``."""
