"""Tables of a page in Markdown."""


def lines(text, *cells):
    """The cells of the lines of tables that begin with these."""
    beginning = "| " + " | ".join(cells) + " |"
    found = [line for line in text.splitlines() if line.startswith(beginning)]
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in found]


def cells(text, *beginning):
    """The cells of the one line that begins with these."""
    (line,) = lines(text, *beginning)
    return line
