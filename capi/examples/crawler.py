"""A crawler that visits each page once, however many crawlers share the filter, and whenever they are killed.

    python3 crawler.py seen.bf START...     pages are HTML files here; START is the path of one

Each crawler adds a page before it visits it: `add` is True for one of them alone, unless two add at the same moment. A page is
lost for one in a thousand (fpr): a crawler that must not lose one keeps the exact set, and asks the filter before it.
"""
import html.parser
import pathlib
import sys

import bfstore


class Links(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.found = []

    def handle_starttag(self, tag, attrs):
        if tag == "a" and dict(attrs).get("href"):
            self.found.append(dict(attrs)["href"])


def links_of(page):
    links = Links()
    links.feed(page.read_text("utf-8"))
    return [(page.parent / link).resolve() for link in links.found]


def crawl(seen, start):
    to_visit = [pathlib.Path(path).resolve() for path in start]
    while to_visit:
        page = to_visit.pop()
        if page.is_file() and seen.add(str(page)):
            print(page.name, flush=True)
            to_visit += links_of(page)


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    with bfstore.open(sys.argv[1], "a", capacity=1_000_000, fpr=0.001) as seen:
        crawl(seen, sys.argv[2:])
