#!/bin/bash
# chromium: it has an allocator of its own, which it puts in malloc's place in its processes; with Fallow preloaded a page
# is what it was.
. "$(dirname "$0")/lib.sh"
command -v chromium >/dev/null || script_skip "chromium is not installed (test/packages-nightly.txt)"
cat >"$scratch/page.html" <<'HTML'
<!doctype html><title>work</title><body><script>
const list = document.createElement("ul");
const map = new Map();
for (let i = 0; i < 50000; i++) map.set("key " + (i * 7919) % 60013, "x".repeat(i % 300));
let total = 0;
for (const [key, value] of map) total += key.length + value.length;
for (let i = 0; i < 3000; i++) {
    const item = document.createElement("li");
    item.textContent = "item " + i + " " + "y".repeat(i % 50);
    list.append(item);
}
document.body.append(list, "total " + total + " of " + new Uint8Array(30 << 20).length);
</script></body>
HTML
page() { # page PRELOAD NAME
    LD_PRELOAD=$1 timeout 150 chromium --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --user-data-dir="$scratch/$2/profile" \
        --dump-dom "file://$scratch/page.html" >"$scratch/$2.page" 2>"$scratch/$2.err" </dev/null ||
        script_fail "status $? with $2: $(tail -n 5 "$scratch/$2.err")"
    grep -q 'item 2999' "$scratch/$2.page" || script_fail "no page with $2: $(tail -n 5 "$scratch/$2.err")"
}
page "" libc
page "$FALLOW_SO" fallow
cmp "$scratch/libc.page" "$scratch/fallow.page" || script_fail "the page is another"
[ "$(grep -c '^fallow:' "$scratch/fallow.err")" -le 1 ] || script_fail "more than a line: $(grep '^fallow:' "$scratch/fallow.err" | head -n 5)"
compared=1
preload_done
