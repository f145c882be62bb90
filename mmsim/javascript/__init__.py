"""Programs for the page: their representation as JSON, and the JavaScript engine that runs it."""
