#!/usr/bin/python3
"""Writes the outputs of Pillow's nearest, box and Lanczos filters for inputs that lie here. Run in this folder."""
from PIL import Image

for name, filters, sizes in (("a", ("nearest", "box", "lanczos"), ((24, 24), (67, 31))),
                             ("d", ("nearest", "box", "lanczos"), ((17, 48),)),
                             ("e", ("nearest", "box", "lanczos"), ((8, 8),))):
    for filter_name in filters:
        for size in sizes:
            made = Image.open(name + ".ppm").resize(size, getattr(Image.Resampling, filter_name.upper()))
            made.save("%s_%s_%dx%d.ppm" % (name, filter_name, *size))
