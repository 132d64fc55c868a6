"""What a section of a host says of its credentials goes to one origin, wherever redirects lead."""

from test_robots_flow import Site, crawl, html


def test_a_token_goes_to_its_origin_and_nowhere_else(tmp_path):
    seen = []

    class Noting(Site):
        pass

    def answer(host, path, asked):
        return html()

    with Noting(answer) as other:
        handler = other.server.RequestHandlerClass
        plain = handler.do_GET

        def noting(self):
            seen.append((self.server.server_address[1], self.path, self.headers["Authorization"]))
            plain(self)

        handler.do_GET = noting

        def redirecting(host, path, asked):
            if path == "/away":
                return 302, {"Location": f"http://127.0.0.1:{other.port}/secret"}, b""
            return html("/away") if path == "/" else html()

        with Noting(redirecting) as own:
            handler = own.server.RequestHandlerClass
            plain_of_own = handler.do_GET

            def noting_own(self):
                seen.append((self.server.server_address[1], self.path, self.headers["Authorization"]))
                plain_of_own(self)

            handler.do_GET = noting_own
            origin = f"http://127.0.0.1:{own.port}"
            section = {'host."127.0.0.1"': {"token": "hunter2", "origin": origin}}
            crawl(tmp_path / "c", [f"{origin}/"], **section)
    told = {(port == own.port, path): sent for port, path, sent in seen}
    assert told[True, "/"] == told[True, "/away"] == "Bearer hunter2"
    assert told[False, "/secret"] is None
    assert told[False, "/robots.txt"] is None
