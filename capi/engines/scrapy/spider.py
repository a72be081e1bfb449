"""A spider that follows every link of a site, for any number of crawlers that share one file:

    PYTHONPATH=. scrapy runspider spider.py -a site=http://127.0.0.1:8000/ -s BLOOM_PATH=seen.bf -s BLOOM_JOURNAL=one.journal
"""

import scrapy


class Site(scrapy.Spider):
    name = "site"
    custom_settings = {"DUPEFILTER_CLASS": "bloom_dupefilter.BloomDupeFilter",
                       "SPIDER_MIDDLEWARES": {"bloom_dupefilter.Unfinished": 50}}
    if scrapy.version_info < (2, 12):  # all crawlers of a file need the same one; later versions have only this one
        custom_settings["REQUEST_FINGERPRINTER_IMPLEMENTATION"] = "2.7"

    def __init__(self, site, **arguments):
        super().__init__(**arguments)
        self.start_urls = [site]

    def parse(self, response):
        yield {"url": response.url}
        yield from response.follow_all(css="a")
