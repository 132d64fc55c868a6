"""Gossamer, a polite, durable web crawler that explains itself.

    import asyncio, gossamer

    async def main():
        async for visit in gossamer.crawl("https://example.org/", max_pages=100):
            print(visit.status, visit.url, visit.page.title)

    asyncio.run(main())
"""
