"""Somebody who uses the app in a browser: opens, chooses, runs, looks and writes."""

from pathlib import Path
from urllib.parse import urlsplit

# Milliseconds, as Playwright counts. The first run of a method compiles it.
TO_SHOW, TO_RUN = 60_000, 600_000


class Steward:
    """One page of the app, and what is done on it."""

    def __init__(self, page) -> None:
        page.set_default_timeout(TO_SHOW)
        self.page = page

    @classmethod
    def enter(cls, context, app) -> "Steward":
        """Open the app with its one-time address."""
        page = context.new_page()
        used = app.token
        page.goto(app.address)
        steward = cls(page)
        steward.is_ready()
        while app.token == used:
            page.wait_for_timeout(10)
        app.base = urlsplit(page.url).path.rstrip("/")
        return steward

    @classmethod
    def another_tab(cls, context, app) -> "Steward":
        """Open the app in one more tab of the same browser."""
        page = context.new_page()
        page.goto(f"{app.origin}{app.base}/")
        steward = cls(page)
        steward.is_ready()
        return steward

    def is_ready(self) -> None:
        """Wait for the first step to be shown."""
        self.page.wait_for_selector("#body > [data-step]")

    def see(self, selector: str, timeout: float = TO_SHOW):
        """Wait for something to be shown, and return it."""
        found = self.page.locator(selector).first
        found.wait_for(timeout=timeout)
        return found

    def text(self, selector: str) -> str:
        return self.see(selector).inner_text()

    def go(self, step: str) -> None:
        """Go to a step."""
        self.page.click(f"#step-{step}")
        self.see(f"#body > [data-step={step}]")  # a button that leads there has one too

    def open(self, path: Path | str) -> None:
        """Open a file by its path."""
        self.ask_for(path)
        found = self.page.locator("#card-described", has_text=Path(path).name)
        found.wait_for()

    def ask_for(self, path: Path | str) -> None:
        """Ask for a file, whatever comes of it."""
        self.go("data")
        self.page.fill("#path", str(path))
        self.page.click("#open")

    def unfold(self, selector: str) -> None:
        """Open what something is folded in, if it is."""
        folded = self.page.locator(f"details:not([open]):has({selector}) > summary")
        for _ in range(10):
            if self.page.locator(selector).first.is_visible():
                return
            if folded.count():
                folded.first.click()
            self.page.wait_for_timeout(100)

    def set_role(self, column: str, role: str) -> None:
        """Choose the role of a column."""
        self.page.get_by_role("combobox", name=f"Role of {column}", exact=True).select_option(role)

    def set_option(self, name: str, value: str) -> None:
        """Enter an option of the plan, and leave the field."""
        self.unfold(f"#option-{name}")
        field = self.see(f"#option-{name}")
        if field.evaluate("field => field.tagName") == "SELECT":
            field.select_option(value)
        else:
            field.fill(value)
            field.press("Tab")

    def run(self) -> None:
        """Start the run."""
        self.go("protect")
        self.page.click("#run")

    def has_release(self) -> None:
        """Wait for the run to end with a release."""
        over = self.page.locator("#made, .error:visible").first
        over.wait_for(timeout=TO_RUN)
        assert over.get_attribute("id") == "made", over.inner_text()

    def write(self, target: Path | str) -> None:
        """Write the release to a file."""
        self.go("release")
        field = self.see("#target")
        field.fill(str(target))
        field.press("Tab")
        self.page.click("#save")
        self.see("#saved")
