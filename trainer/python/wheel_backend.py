"""Makes the wheel: python3 -m build --wheel trainer/python, or pip install trainer/python (PEP 517).

CMake builds the program and the module, and installs them to a folder that is packed here. The shared libraries that both
are linked with go along, but for the C and C++ libraries and LibTorch: libtenshot_torch.so finds that where it is
installed, or in the folder of the user's own package torch. Needs nothing but Python, CMake and what tenshot is built with.

TENSHOT_WHEEL_BUILD names the build folder (default: build-wheel beside build); TENSHOT_CMAKE has more options of CMake, such as
-DTENSHOT_TORCH=OFF.
"""
import base64
import hashlib
import os
import pathlib
import re
import shlex
import shutil
import stat
import subprocess
import sys
import sysconfig
import tempfile
import zipfile

SOURCE = pathlib.Path(__file__).resolve().parents[2]
VERSION = re.search(r"project\(tenshot VERSION ([0-9.]+)", (SOURCE / "CMakeLists.txt").read_text()).group(1)
TAG = f"cp{sys.version_info[0]}{sys.version_info[1]}"
TAGS = f"{TAG}-{TAG}-{sysconfig.get_platform().replace('-', '_').replace('.', '_')}"
# What every system has, and what is looked for on the user's.
LEFT_OUT = re.compile(r"/(ld-linux|libc\.|libm\.|libdl\.|libpthread\.|librt\.|libstdc\+\+|libgcc_s|libtorch|libc10)")
METADATA = f"""Metadata-Version: 2.1
Name: tenshot
Version: {VERSION}
Summary: Latency of neural networks on a new device from ten measurements
License: MIT
Requires-Python: =={sys.version_info[0]}.{sys.version_info[1]}.*
Requires-Dist: numpy
Description-Content-Type: text/markdown

"""


def run(*words):
    subprocess.run([str(word) for word in words], check=True, stdout=sys.stderr)


def installed(prefix):
    """Builds, and installs what a wheel has."""
    build = pathlib.Path(os.environ.get("TENSHOT_WHEEL_BUILD", SOURCE / "build-wheel"))
    python = pathlib.Path(getattr(sys, "_base_executable", sys.executable)).resolve()
    run("cmake", "-S", SOURCE, "-B", build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", "-DTENSHOT_TESTS=OFF",
        "-DTENSHOT_BENCHMARKS=OFF", "-DTENSHOT_OPENCV=OFF", "-DTENSHOT_WHEEL=ON", "-DCMAKE_INSTALL_LIBDIR=lib", f"-DPython_EXECUTABLE={python}",
        *shlex.split(os.environ.get("TENSHOT_CMAKE", "")))
    run("cmake", "--build", build, "--target", "tenshot", "tenshot_python")
    for component in ("wheel", "torch", "engines"):
        run("cmake", "--install", build, "--component", component, "--prefix", prefix, "--strip")


def libraries_of(files):
    """What they are linked with, in turn."""
    found = {}
    for file in files:
        for line in subprocess.run(["ldd", file], check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines():
            name, _, path = line.strip().partition(" => ")
            path = path.split(" (")[0]
            if path.startswith("/") and not LEFT_OUT.search("/" + name):
                found[name] = path
    return found


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    name = f"tenshot-{VERSION}-{TAGS}.whl"
    with tempfile.TemporaryDirectory() as folder:
        prefix = pathlib.Path(folder)
        installed(prefix)
        packages = prefix / "lib/python3/dist-packages"
        linked = [prefix / "bin/tenshot", *packages.glob("tenshot/*.so"), *prefix.glob("lib/libtenshot_engines.so.*")]
        (prefix / "lib/tenshot").mkdir()
        for library, path in libraries_of(linked).items():
            shutil.copy(path, prefix / "lib/tenshot" / library)
        record = f"tenshot-{VERSION}.dist-info/RECORD"
        rows = []
        with zipfile.ZipFile(pathlib.Path(wheel_directory) / name, "w", zipfile.ZIP_DEFLATED) as wheel:
            def add(path, content, mode=0o644):
                entry = zipfile.ZipInfo(path, (2020, 1, 1, 0, 0, 0))
                entry.external_attr = (stat.S_IFREG | mode) << 16
                wheel.writestr(entry, content, zipfile.ZIP_DEFLATED)
                digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
                rows.append(f"{path},sha256={digest},{len(content)}")

            for file in sorted(prefix.rglob("*")):
                if file.is_dir() or file.is_symlink():
                    continue
                if packages in file.parents:
                    path = file.relative_to(packages)
                elif file.parent == prefix / "bin":
                    path = pathlib.Path(f"tenshot-{VERSION}.data/scripts") / file.name
                else:
                    path = pathlib.Path(f"tenshot-{VERSION}.data/data") / file.relative_to(prefix)
                add(str(path), file.read_bytes(), 0o755 if os.access(file, os.X_OK) else 0o644)
            add(f"tenshot-{VERSION}.dist-info/METADATA", METADATA.encode() + (SOURCE / "README.md").read_bytes())
            add(f"tenshot-{VERSION}.dist-info/LICENSE", (SOURCE / "LICENSE").read_bytes())
            add(f"tenshot-{VERSION}.dist-info/WHEEL",
                f"Wheel-Version: 1.0\nGenerator: tenshot\nRoot-Is-Purelib: false\nTag: {TAGS}\n".encode())
            wheel.writestr(record, "\n".join([*rows, f"{record},,"]) + "\n")
    return name


class UnsupportedOperation(Exception):
    """What PEP 517 has a backend raise that makes no archive of sources."""


def build_sdist(sdist_directory, config_settings=None):
    raise UnsupportedOperation("a wheel is built from the source tree: python3 -m build --wheel trainer/python")
