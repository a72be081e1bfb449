"""Reads a page that bfinspect --html made, as strictly as HTML's standard can be read, and finds what no page may have."""
import re

import programs

programs.need_module("html5lib", "python3-html5lib")
import html5lib

TAGS = {"html", "head", "meta", "title", "style", "body", "main", "h1", "h2", "p", "div", "strong", "b", "ul", "li", "span", "section",
        "figure", "figcaption", "svg", "rect", "line", "text", "polyline", "circle", "dl", "dt", "dd", "footer"}
ATTRIBUTES = {"lang", "charset", "http-equiv", "content", "name", "class", "viewBox", "role", "preserveAspectRatio", "width", "height", "x",
              "y", "x1", "x2", "y1", "y2", "cx", "cy", "r", "points", "fill", "stroke-width", "text-anchor"}


class Page:
    """A page without an error of syntax, and its tree."""

    def __init__(self, data):
        self.data = data.decode("utf-8")
        self.tree = html5lib.HTMLParser(strict=True, namespaceHTMLElements=False).parse(self.data)
        for element in self.tree.iter():
            element.tag = element.tag.rpartition("}")[2]
        self.style = self.tree.findtext(".//style")

    def texts(self, tag):
        return ["".join(element.itertext()) for element in self.tree.iter(tag)]

    def text(self):
        return " ".join("".join(self.tree.find("body").itertext()).split())

    def rows(self):
        """Returns (label, value, meaning) of each fact."""
        found = []
        for row in self.tree.findall(".//dl/div"):
            label, value, *meaning = ["".join(one.itertext()) for one in row]
            found.append((label, value, meaning[0] if meaning else ""))
        return found

    def foreign_matter(self):
        """Returns the elements and attributes that no page has, and what its style fetches."""
        found = [element.tag for element in self.tree.iter() if element.tag not in TAGS]
        found += [name for element in self.tree.iter() for name in element.attrib if name not in ATTRIBUTES]
        return found + re.findall(r"url\(|@import|https?:|expression|</", self.style)

    def colours(self):
        """Returns the named colors of the style, (light, dark)."""
        light, dark = [dict(re.findall(r"--([a-z]+): (#[0-9a-f]+);", part)) for part in
                       re.search(r"(:root \{.*?\}).*?:root (\{.*?\})", self.style, re.S).groups()]
        return light, dark


def contrast(one, other):
    """Returns the ratio of WCAG 2 (1.4.3)."""
    def luminance(colour):
        digits = colour[1:] if len(colour) == 7 else "".join(2 * digit for digit in colour[1:])
        parts = [int(digits[at:at + 2], 16) / 255 for at in (0, 2, 4)]
        red, green, blue = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)
