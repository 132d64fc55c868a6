import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.archive.surt import surt
from gossamer.model.url import Url

# Keys made by the package `surt` 0.3.1, which pywb and cdxj-indexer use.
KEYS = """
http://example.com/ com,example)/
https://www.example.com/ com,example)/
http://www7.Example.com/A/B.html com,example)/a/b.html
http://example.com:8080/a com,example:8080)/a
http://example.com:443/a com,example:443)/a
https://example.com:443/a com,example)/a
http://a.b.example.co.uk/x/ uk,co,example,b,a)/x
http://1.2.3.4/a 4,3,2,1)/a
http://[2001:db8::1]:8080/a 2001:db8::1:8080)/a
http://localhost/ localhost)/
http://example.com/a//b/// com,example)/a/b
http://example.com/? com,example)/
http://example.com/a?b=2&a=1 com,example)/a?a=1&b=2
http://example.com/a?B&a=&A com,example)/a?a&a=&b
http://example.com/a?x=%2541&y=%20 com,example)/a?x=a&y=%20
http://example.com/%C3%A9%2Fb/%2e com,example)/%c3%a9/b
http://example.com/a?PHPSESSID=0123456789abcdef0123456789abcdef&x=1 com,example)/a?x=1
http://example.com/a?x=1&jsessionid=0123456789ABCDEF0123456789abcdef com,example)/a?&x=1
http://example.com/a?sid=0123456789abcdef0123456789abcdef com,example)/a
http://example.com/a?ASPSESSIONIDABCDEFGH=ABCDEFGHIJKLMNOPQRSTUVWX&z=1 com,example)/a?z=1
http://example.com/a?x=1&CFID=12&CFTOKEN=34&y=2 com,example)/a?x=1&y=2
http://example.com/a?cfid=1&cftoken= com,example)/a?cfid=1&cftoken=
http://example.com/(S(4hqa0555fwsecu455xqckv45))/page.aspx com,example)/page.aspx
http://example.com/(4hqa0555fwsecu455xqckv45)/page.aspx?a com,example)/page.aspx?a
http://xn--bcher-kva.example/ example,xn--bcher-kva)/
http://www.com/ com)/
ftp://ftp.example.com/pub/ com,example,ftp)/pub
http://example.com./x com,example)/x
http://example.com/a;b=c?d=e;f com,example)/a;b=c?d=e;f
http://example.com/a|b?{c} com,example)/a|b?{c}
http://example.com/?&a&&b com,example)/?&&a&b
"""


@pytest.mark.parametrize("line", KEYS.strip().splitlines())
def test_keys_are_those_of_the_replay_tools(line):
    text, key = line.split(" ")
    url = Url.parse(text)
    assert url is not None
    assert surt(url) == key


@given(st.text(st.sampled_from("aA/.%25f&=?;()#:\\ é\x00"), max_size=60))
def test_keys_are_ascii_without_blanks(rest):
    url = Url.parse("http://www.example.org/" + rest)
    assert url is not None
    key = surt(url)
    assert key.startswith("org,example)/")
    assert key.isascii() and key.isprintable() and " " not in key
