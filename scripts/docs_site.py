"""Hooks of MkDocs: pages of the Python API, and links to files outside docs."""

import gc
import os
import re
from pathlib import PurePosixPath
from typing import Literal

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from docs_reference import package_pages

_LINK = re.compile(r"\]\((\.\./[^)#]+)(#[^)]*)?\)")


def on_startup(command: Literal["build", "gh-deploy", "serve"], dirty: bool) -> None:
    """Let a build keep its memory until it ends: the collector takes a sixth of its time."""
    if command == "build":
        gc.disable()


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Add the generated pages, runbooks and decisions to the navigation."""
    folder = config.docs_dir
    sections = {next(iter(entry)): entry for entry in config.nav or []}
    names = sorted(package_pages())
    sections["Reference"]["Reference"].append({"Packages": [{PurePosixPath(name).stem: name} for name in names]})
    for section, subfolder, skipped in (("Decisions", "decisions", {"index.md", "architecture.md"}),):
        pages = sorted(set(os.listdir(f"{folder}/{subfolder}")) - skipped)
        sections[section][section] += [f"{subfolder}/{page}" for page in pages]
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Generate a page for each package; runbooks need no entry in the navigation."""
    for path, text in package_pages().items():
        files.append(File.generated(config, path, content=text))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Lead links to files outside docs to the repository, and rank guides before generated pages in the search."""
    if not page.file.src_uri.startswith(("reference/", "runbooks/", "decisions/")):
        page.meta.setdefault("search", {"boost": 4})

    def absolute(link: re.Match[str]) -> str:
        path = os.path.normpath(PurePosixPath("docs", page.file.src_uri).parent / link[1])
        if path.startswith("docs/"):
            return link[0]
        if not os.path.exists(path):
            raise FileNotFoundError(f"{page.file.src_uri} links to {link[1]}")
        return f"]({config.extra['repository']}/blob/main/{path}{link[2] or ''})"

    return _LINK.sub(absolute, markdown)
