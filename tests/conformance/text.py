"""A text that an editor holds: changes in the units of a position encoding, as a client makes them. An independent
reading of the protocol's rules for lines and columns; knows nothing of the server."""

import re

UNITS = {
    "utf-8": lambda text: len(text.encode("utf-8", "surrogatepass")),
    "utf-16": lambda text: len(text.encode("utf-16-le", "surrogatepass")) // 2,
    "utf-32": len,
}
LINE_END = re.compile(r"\r\n|\n|\r")


class Text:
    def __init__(self, text, encoding="utf-16"):
        self.text = text
        self.units = UNITS[encoding]

    def starts(self):
        return [0] + [m.end() for m in LINE_END.finditer(self.text)]

    def position(self, offset):
        """Where the character at `offset` (in code points) stands."""
        starts = self.starts()
        line = max(i for i, start in enumerate(starts) if start <= offset)
        return {"line": line, "character": self.units(self.text[starts[line]:offset])}

    def range(self, begin, end):
        return {"start": self.position(begin), "end": self.position(end)}

    def offset(self, position):
        """The other way; past a line's end is its end, past the last line the end of the text."""
        starts = self.starts()
        if position["line"] >= len(starts):
            return len(self.text)
        begin = starts[position["line"]]
        end = starts[position["line"] + 1] if position["line"] + 1 < len(starts) else len(self.text)
        line = LINE_END.sub("", self.text[begin:end])
        count = 0
        while count < len(line) and self.units(line[:count + 1]) <= position["character"]:
            count += 1
        return begin + count

    def slice(self, range):
        return self.text[self.offset(range["start"]):self.offset(range["end"])]

    def replace(self, begin, end, new):
        """The change that replaces the characters from `begin` to `end`; the text is changed."""
        change = (self.range(begin, end), new)
        self.text = self.text[:begin] + new + self.text[end:]
        return change
