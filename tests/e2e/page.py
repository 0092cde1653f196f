"""How wide a page is in a browser. Knows Chromium, which nothing depends on: who asks skips where there is none."""

import html
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
         "--disable-background-networking", "--disable-component-update", "--disable-sync"]
LIMIT_S = 120


def find_browser():
    return shutil.which("chromium") or shutil.which("chromium-browser")


def run(browser, *arguments):
    with tempfile.TemporaryDirectory(prefix="datum-browser-") as profile:
        done = subprocess.run([browser, *FLAGS, f"--user-data-dir={profile}", *arguments], stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=LIMIT_S, check=False,
                              env={**os.environ, "HOME": profile})
    return done.stdout


def measure(browser, path, width):
    """(pixels of its frame, pixels that it wants) when the page is shown that wide."""
    with tempfile.TemporaryDirectory(prefix="datum-frame-") as folder:
        frame = pathlib.Path(folder) / "frame.html"
        # The page allows no script, so it is measured from outside, in a frame of that width.
        frame.write_text(
            f"<body style='margin:0'><iframe id=f src='{html.escape(path.resolve().as_uri())}' "
            f"style='border:0;width:{width}px;height:2000px'></iframe><p id=r></p><script>"
            "onload=()=>{const d=document.getElementById('f').contentDocument.documentElement;"
            "document.getElementById('r').textContent='measured '+d.clientWidth+' '+d.scrollWidth}</script>")
        text = run(browser, "--allow-file-access-from-files", "--dump-dom", frame.as_uri())
    found = re.search(r"measured (\d+) (\d+)", text)
    if not found:
        raise AssertionError(f"the browser measured nothing: {text[-500:]}")
    return int(found.group(1)), int(found.group(2))
