"""The rows of bench/run programs, declared once: programs that people run, each with work that allocates."""

import suite_rows
from suite_rows import WHOLE, Row


def _row(key, label, needs, *command, **more):
    return Row(key, label, WHOLE, command, needs=needs, weight=more.pop("weight", 1.2), **more)


ROWS = (
    *(row for row in suite_rows.ROWS if row.whole),
    _row("clang++", "clang++ -O1", (("clang++", "clang"),), "clang++", "-O1", "-c", "{programs}/templates.cpp", "-o",
         "{scratch}/templates.o", forks=True),
    # -n: with its extensions, which it opens with RTLD_DEEPBIND, it crashes on every malloc but glibc's and Fallow's.
    _row("php", "php", (("php", "php-cli"),), "php", "-n", "-d", "memory_limit=-1", "{programs}/records.php",
         quick=True),
    _row("php-malloc", "php, USE_ZEND_ALLOC=0", (("php", "php-cli"),), "php", "-n", "-d", "memory_limit=-1",
         "{programs}/records.php", settings=(("USE_ZEND_ALLOC", "0"),)),
    _row("ruby", "ruby", (("ruby", "ruby"),), "ruby", "--disable-gems", "{programs}/records.rb", quick=True),
    _row("node", "node, HTTP and zlib", (("node", "nodejs"),), "node", "{programs}/requests.js", threads=5),
    _row("java", "java, 8 threads", (("java", "default-jre-headless"), ("javac", "default-jdk-headless")), "java",
         "-cp", "{scratch}", "Deflate", threads=8, prepare=("javac", "-d", "{scratch}", "{programs}/Deflate.java")),
    _row("javac", "javac", (("javac", "default-jdk-headless"),), "javac", "-d", "{scratch}/classes",
         "{programs}/Deflate.java", threads=4),
    _row("git", "git repack", (("git", "git"),), "git", "-C", "{scratch}/history", "-c", "pack.threads=2", "repack",
         "-adfq", "--window=40", threads=2, forks=True,
         prepare=("sh", "-c", "git init -q {scratch}/history && {python} {programs}/history.py | "
                  "git -C {scratch}/history fast-import --quiet")),
    _row("ffmpeg", "ffmpeg, x264", (("ffmpeg", "ffmpeg"),), "ffmpeg", "-loglevel", "error", "-f", "lavfi", "-i",
         "testsrc=duration=2:size=640x360:rate=25", "-c:v", "libx264", "-threads", "2", "-f", "null", "-", threads=2),
    _row("convert", "ImageMagick convert", (("convert", "imagemagick"),), "convert", "-size", "1200x1200", "-seed", "3",
         "plasma:fractal", "-blur", "0x1", "-rotate", "5", "-resize", "50%", "{scratch}/out.png", threads=2),
    _row("postgres", "PostgreSQL, pgbench -c 4", (("setpriv", "util-linux"), ("psql", "postgresql")), "sh",
         "{programs}/postgres.sh", "run", "{scratch}", threads=4, forks=True,
         prepare=("sh", "{programs}/postgres.sh", "prepare", "{scratch}")),
)
