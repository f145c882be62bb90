"""The discrete-event engine: every dispatch and every completion is an event."""
