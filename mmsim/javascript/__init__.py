"""Programs for the page: their representation as JSON, and the engine in JavaScript that runs it."""
