#!/bin/bash
# firefox: its binary has an allocator of its own; with Fallow preloaded a page is drawn as it was.
. "$(dirname "$0")/lib.sh"
command -v firefox-esr >/dev/null || script_skip "firefox-esr is not installed (test/packages-nightly.txt)"
cat >"$scratch/page.html" <<'HTML'
<!doctype html><title>work</title><body style="background: white"><script>
const map = new Map();
for (let i = 0; i < 50000; i++) map.set("key " + (i * 7919) % 60013, "x".repeat(i % 300));
let total = 0;
for (const [key, value] of map) total += key.length + value.length;
const canvas = document.createElement("canvas"), at = canvas.getContext("2d");
canvas.width = canvas.height = 300;
for (let i = 0; i < 3000; i++) {
    at.fillStyle = "rgb(" + (i % 256) + "," + ((i * 7) % 256) + "," + (total % 256) + ")";
    at.fillRect((i * 31) % 300, (i * 17) % 300, 9, 9);
}
document.body.append(canvas);
</script></body>
HTML
page() { # page PRELOAD NAME
    mkdir -p "$scratch/$2/profile"
    LD_PRELOAD=$1 timeout 150 firefox-esr --headless --no-remote --profile "$scratch/$2/profile" --window-size 400,400 \
        --screenshot "$scratch/$2/page.png" "file://$scratch/page.html" >"$scratch/$2.out" 2>"$scratch/$2.err" </dev/null ||
        script_fail "status $? with $2: $(tail -n 5 "$scratch/$2.err")"
    [ -s "$scratch/$2/page.png" ] || script_fail "no picture with $2: $(tail -n 5 "$scratch/$2.err")"
}
page "" libc
page "$FALLOW_SO" fallow
same_file page.png
[ "$(grep -c '^fallow:' "$scratch/fallow.err")" -le 1 ] || script_fail "more than a line: $(grep '^fallow:' "$scratch/fallow.err" | head -n 5)"
compared=1
preload_done
