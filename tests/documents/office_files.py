"""Office files, books and PDF files made by hand, small enough to read."""

import zipfile
from collections.abc import Iterable
from io import BytesIO

W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
R = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
RELATIONSHIPS = "http://schemas.openxmlformats.org/package/2006/relationships"


def packed(parts: dict[str, str | bytes], level: int = zipfile.ZIP_DEFLATED) -> bytes:
    """A ZIP of the parts, in their order."""
    target = BytesIO()
    with zipfile.ZipFile(target, "w", level) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return target.getvalue()


def docx(body: str, links: Iterable[str] = (), **parts: str | bytes) -> bytes:
    """A DOCX whose links have the identifiers l0, l1, ..."""
    relations = "".join(
        f'<Relationship Id="l{n}" Type="{R}/hyperlink" Target="{address}" TargetMode="External"/>'
        for n, address in enumerate(links)
    )
    core = (
        '<cp:coreProperties xmlns:cp="c" xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:t="http://purl.org/dc/terms/">'
        "<dc:title>A title</dc:title><dc:creator>Ada L</dc:creator><t:created>2024-05-06T07:08:09Z</t:created>"
        "</cp:coreProperties>"
    )
    return packed(
        {
            "[Content_Types].xml": "<Types/>",
            "_rels/.rels": f'<Relationships xmlns="{RELATIONSHIPS}"><Relationship Id="a" Type="{R}/officeDocument" '
            'Target="word/document.xml"/></Relationships>',
            "docProps/core.xml": core,
            "word/document.xml": f'<w:document xmlns:w="{W}" xmlns:r="{R}"><w:body>{body}</w:body></w:document>',
            "word/_rels/document.xml.rels": f'<Relationships xmlns="{RELATIONSHIPS}">{relations}</Relationships>',
            **parts,
        }
    )


def paragraph(text: str, style: str = "") -> str:
    """A paragraph of WordprocessingML."""
    look = f'<w:pPr><w:pStyle w:val="{style}"/></w:pPr>' if style else ""
    return f"<w:p>{look}<w:r><w:t>{text}</w:t></w:r></w:p>"


def xlsx(
    sheet: str | bytes, strings: str = "", relations: str = "", styles: str = "", properties: str = ""
) -> bytes:
    """A workbook of one sheet, given as the content of `sheetData` and what follows it."""
    s = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    inner = sheet if isinstance(sheet, bytes) else sheet.encode()
    return packed(
        {
            "[Content_Types].xml": "<Types/>",
            "xl/workbook.xml": f'<workbook xmlns="{s}" xmlns:r="{R}">{properties}<sheets><sheet name="First" sheetId="1" r:id="s1"/>'
            "</sheets></workbook>",
            "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{RELATIONSHIPS}"><Relationship Id="s1" Type="{R}/worksheet" '
            'Target="worksheets/sheet1.xml"/></Relationships>',
            "xl/sharedStrings.xml": f'<sst xmlns="{s}">{strings}</sst>',
            "xl/styles.xml": f'<styleSheet xmlns="{s}">{styles}</styleSheet>',
            "xl/worksheets/_rels/sheet1.xml.rels": f'<Relationships xmlns="{RELATIONSHIPS}">{relations}</Relationships>',
            "xl/worksheets/sheet1.xml": f'<worksheet xmlns="{s}" xmlns:r="{R}">'.encode()
            + inner
            + b"</worksheet>",
        }
    )


def pptx(*slides: str) -> bytes:
    """A presentation whose slides are given as paragraphs of DrawingML."""
    a, p = (
        "http://schemas.openxmlformats.org/drawingml/2006/main",
        "http://schemas.openxmlformats.org/presentationml/2006/main",
    )
    listed = "".join(f'<p:sldId id="{n}" r:id="s{n}"/>' for n in range(len(slides)))
    relations = "".join(
        f'<Relationship Id="s{n}" Type="{R}/slide" Target="slides/slide{n + 1}.xml"/>'
        for n in range(len(slides))
    )
    link = f'<Relationship Id="h" Type="{R}/hyperlink" Target="https://slides.test/x" TargetMode="External"/>'
    parts: dict[str, str | bytes] = {
        "[Content_Types].xml": "<Types/>",
        "ppt/presentation.xml": f'<p:presentation xmlns:p="{p}" xmlns:r="{R}"><p:sldIdLst>{listed}</p:sldIdLst></p:presentation>',
        "ppt/_rels/presentation.xml.rels": f'<Relationships xmlns="{RELATIONSHIPS}">{relations}</Relationships>',
    }
    for n, slide in enumerate(slides):
        parts[f"ppt/slides/slide{n + 1}.xml"] = (
            f'<p:sld xmlns:p="{p}" xmlns:a="{a}" xmlns:r="{R}"><p:cSld><p:spTree><p:sp><p:txBody>{slide}</p:txBody>'
            "</p:sp></p:spTree></p:cSld></p:sld>"
        )
        parts[f"ppt/slides/_rels/slide{n + 1}.xml.rels"] = (
            f'<Relationships xmlns="{RELATIONSHIPS}">{link}</Relationships>'
        )
    return packed(parts)


def odf(kind: str, body: str, manifest: str = "<manifest/>") -> bytes:
    """An OpenDocument file of this kind, given as the content of its body."""
    names = " ".join(
        f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{long}:1.0"'
        for name, long in (
            ("office", "office"),
            ("text", "text"),
            ("table", "table"),
            ("draw", "drawing"),
            ("meta", "meta"),
        )
    )
    names += ' xmlns:xlink="http://www.w3.org/1999/xlink" xmlns:dc="http://purl.org/dc/elements/1.1/"'
    return packed(
        {
            "mimetype": f"application/vnd.oasis.opendocument.{kind}",
            "content.xml": f"<office:document-content {names}><office:body>{body}</office:body></office:document-content>",
            "meta.xml": f"<office:document-meta {names}><office:meta><dc:title>An ODF</dc:title>"
            "<dc:creator>Grace H</dc:creator><dc:date>2023-01-02T03:04:05</dc:date></office:meta></office:document-meta>",
            "META-INF/manifest.xml": manifest,
        }
    )


def epub(*chapters: str, encryption: str = "") -> bytes:
    """A book of these chapters."""
    items = "".join(
        f'<item id="c{n}" href="c{n}.xhtml" media-type="application/xhtml+xml"/>'
        for n in range(len(chapters))
    )
    spine = "".join(f'<itemref idref="c{n}"/>' for n in range(len(chapters)))
    parts: dict[str, str | bytes] = {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
        '<rootfile full-path="OEBPS/book.opf"/></rootfiles></container>',
        "OEBPS/book.opf": '<package xmlns="http://www.idpf.org/2007/opf"><metadata '
        'xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>A book</dc:title><dc:creator>Jane A</dc:creator>'
        f"<dc:language>en</dc:language></metadata><manifest>{items}</manifest><spine>{spine}</spine></package>",
    }
    if encryption:
        parts["META-INF/encryption.xml"] = encryption
    for n, chapter in enumerate(chapters):
        parts[f"OEBPS/c{n}.xhtml"] = (
            '<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><head><title/></head>'
            f"<body>{chapter}</body></html>"
        )
    return packed(parts)


def pdf(text: str, link: str = "", *, encrypted: bool = False) -> bytes:
    """A PDF of one page with a line of text and a link over it."""
    stream = f"BT /F1 24 Tf 72 720 Td ({text}) Tj ET".encode()
    note = (
        b"<</Type/Annot/Subtype/Link/Rect[70 700 540 760]/A<</S/URI/URI(" + link.encode() + b")>>>>"
        if link
        else b""
    )
    objects = [
        b"<</Type/Catalog/Pages 2 0 R/Lang(en-GB)>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 4 0 R/Annots["
        + note
        + b"]/Resources<</Font<</F1 5 0 R>>>>>>",
        b"<</Length %d>>stream\n%b\nendstream" % (len(stream), stream),
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
        b"<</Title(A paper)/Author(Alan T)/CreationDate(D:20240506070809+02'00')>>",
        b"<</Filter/Standard/V 1/R 2/P -64/O<" + b"41" * 32 + b">/U<" + b"42" * 32 + b">>>",
    ]
    out, places = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj%b endobj\n" % (number, body)
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % place for place in places)
    lock = b"/Encrypt 7 0 R/ID[<00><00>]" if encrypted else b""
    return out + b"trailer<</Root 1 0 R/Info 6 0 R/Size %d%b>>\nstartxref\n%d\n%%%%EOF" % (
        len(objects) + 1,
        lock,
        start,
    )
