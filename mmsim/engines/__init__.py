"""Engines: they decide when an access happens and what it costs, never what it means."""
