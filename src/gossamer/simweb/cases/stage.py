"""The stage on which a case is set: its host, and what cases need to build pages there."""

from collections.abc import Callable
from dataclasses import dataclass

from gossamer.simweb.servers.replies import Fields
from gossamer.simweb.world.atlas import HOME, Atlas
from gossamer.simweb.world.dice import fingerprint
from gossamer.simweb.world.paper import Sheet
from gossamer.simweb.world.resource import Answer, Link, Place, Resource, Scene
from gossamer.simweb.world.spec import WorldSpec

HTML: Fields = (("Content-Type", "text/html; charset=utf-8"),)
BEYOND = "/beyond.html"


@dataclass(frozen=True, slots=True)
class Stage:
    """A case's host, with the map of the world around it."""

    name: str
    atlas: Atlas

    @property
    def spec(self) -> WorldSpec:
        """What the world is made of."""
        return self.atlas.spec

    @property
    def host(self) -> str:
        """Name of the host of this case."""
        return f"{self.name}.{HOME}"

    def place(self, target: str) -> Place:
        """Where `target` stands on this host."""
        return Place(self.host, target)

    def url(self, target: str) -> str:
        """Absolute URL of `target` on this host."""
        return self.atlas.url(self.place(target))

    def link(self, target: str, element: str = "a", *, nofollow: bool = False) -> Link:
        """A link to `target` on this host, written as it is."""
        return Link(self.place(target), target, element, nofollow)

    def page(self, title: str, *links: Link | str, size: int = 600) -> Resource:
        """An ordinary page with these links (texts are targets on this host)."""
        made = tuple(self.link(link) if isinstance(link, str) else link for link in links)
        key = fingerprint(self.spec.seed, self.host, title)
        sheet = Sheet(seed=self.spec.seed, key=key, title=title, links=made, size=size)
        return Resource(body=sheet.write, links=made, title=title)

    def text(self, html: str | bytes, *links: Link | str, **attributes: str) -> Resource:
        """A page written by hand, with the links that it mentions."""
        made = tuple(self.link(link) if isinstance(link, str) else link for link in links)
        written = html.encode() if isinstance(html, str) else html
        return Resource(body=lambda: written, links=made, **attributes)  # type: ignore[arg-type]

    def beyond(self) -> Resource:
        """The page that alone leads to `/beyond.html`."""
        return self.page(f"The odd page of {self.name}", BEYOND)

    def clear(self, speak: Callable[[bytes], Answer], status: int = 200) -> Scene:
        """`/bad` is spoken oddly, but its meaning is clear; `speak` gets its HTML."""
        page = self.beyond()
        bad = Resource(status=status, links=page.links, title=page.title, speak=speak(page.body()))
        return Scene(resources={"/bad": bad})

    def doubtful(self, speak: Answer, status: int = 200) -> Scene:
        """What `/bad` says can be understood in several ways, or not at all."""
        return Scene(resources={"/bad": Resource(status=status, certain=False, speak=speak)})

    def harmless(self) -> bytes:
        """HTML for `doubtful` answers: leads only where other pages lead too."""
        return self.page(f"The doubtful page of {self.name}", "/good-1.html").body()
