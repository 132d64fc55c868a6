"""Formats that are no markup: PDF, and the headers of images, audio and video."""
