"""Office files and EPUB: XML in a ZIP, read part by part as it is unpacked."""
