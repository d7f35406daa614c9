"""The builder of the site: `python -m docs.builder`.

Pages are plain Markdown in docs/. The builder copies them to a work folder, adds the pages that are
made from the code (the reference) and from examples (the gallery), and lets Zensical turn all of
them into HTML. Only `site.py` and docs/zensical.toml know of Zensical.
"""
