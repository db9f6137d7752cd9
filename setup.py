"""Builds gochan._core.  Everything else is in pyproject.toml.

GOCHAN_DEBUG=1            invariant checks, path counters, chaos points
GOCHAN_SANITIZE=address   or thread, undefined: compile under a sanitiser
"""

import os

from Cython.Build import cythonize
from setuptools import Extension, setup

debug = os.environ.get("GOCHAN_DEBUG") == "1"
sanitize = os.environ.get("GOCHAN_SANITIZE", "")

compile_args = ["-std=c11", "-O3", "-fvisibility=hidden", "-pthread", "-Wno-unused-function"]
link_args = ["-pthread"]
if sanitize:
    compile_args += [f"-fsanitize={sanitize}", "-fno-omit-frame-pointer", "-g", "-O1"]
    link_args += [f"-fsanitize={sanitize}"]

core = Extension(
    "gochan._core",
    ["gochan/_core.pyx"],
    include_dirs=["gochan"],
    define_macros=[("GCH_DEBUG", "1")] if debug else [],
    extra_compile_args=compile_args,
    extra_link_args=link_args,
)

# Each kind of build has a folder of its own: setuptools takes an object file that is
# newer than its source for up to date, whatever flags it was compiled with.
build = os.path.join("build", "-".join(["debug"] * debug + [sanitize or "plain"]))

setup(
    ext_modules=cythonize([core], emit_linenums=bool(sanitize) or debug),
    options={"build": {"build_base": build}},
)
