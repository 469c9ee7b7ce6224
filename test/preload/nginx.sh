#!/bin/bash
# nginx: two workers serving files and a redirecting, compressing, proxying configuration over loopback;
# the same answers under both mallocs, also after a reload and under load.
. "$(dirname "$0")/lib.sh"
PATH=$PATH:/usr/sbin
script_need nginx curl ab
preload_binds nginx -v

configure() { # configure FOLDER PORT
    mkdir -p "$1/www/deep/er" "$1/tmp"
    for i in {1..60}; do
        seq "$i" $((i * 300)) >"$1/www/file$i.txt"
    done
    head -c 3000000 "$1/www/file60.txt" >"$1/www/deep/er/large.bin"
    find "$1/www" -exec touch -d 2020-01-02T03:04:05 {} +
    cat >"$1/nginx.conf" <<CONF
user $(id -un);
daemon off;
worker_processes 2;
pid $1/pid;
error_log $1/error.log notice;
events { worker_connections 256; }
http {
    access_log off;
    server_tokens off;
    client_body_temp_path $1/tmp/body; proxy_temp_path $1/tmp/proxy; fastcgi_temp_path $1/tmp/fastcgi;
    uwsgi_temp_path $1/tmp/uwsgi; scgi_temp_path $1/tmp/scgi;
    default_type text/plain;
    gzip on; gzip_min_length 100; gzip_types text/plain;
    server {
        listen 127.0.0.1:$2;
        root $1/www;
        autoindex on;
        location /old/ { rewrite ^/old/(.*)\$ /file\$1.txt last; }
        location /proxy/ { proxy_pass http://127.0.0.1:$2/; proxy_buffers 4 8k; }
        location /text { return 200 "\$request_method \$uri \$args\n"; }
    }
}
CONF
}

answers() {
    curl -sf "http://127.0.0.1:$port/text"
}

ask_everything() {
    local base=http://127.0.0.1:$port i
    for i in {1..60}; do
        curl -sf "$base/file$i.txt" | cksum
        curl -sf --compressed "$base/proxy/file$i.txt" | cksum
    done
    curl -sf "$base/old/7" | cksum
    curl -s "$base/deep/er/large.bin" | cksum
    curl -s -r 1000-200000 "$base/deep/er/large.bin" | cksum
    curl -s -H 'Range: bytes=0-10,50-70,-5' "$base/file9.txt" | grep -v '^--'
    curl -s "$base/text?a=$(seq -s, 1 500)"
    curl -s -o /dev/null -w '%{http_code}\n' "$base/no-such-file"
    curl -s -o /dev/null -w '%{http_code}\n' -H "X-Long: $(head -c 30000 /dev/zero | tr '\0' x)" "$base/"
    curl -s "$base/" | grep -c file
}

for malloc in libc fallow; do
    port=$(free_port)
    folder=$scratch/$malloc
    configure "$folder" "$port"
    preload=FALLOW_NONE=
    [ "$malloc" = fallow ] && preload=LD_PRELOAD=$FALLOW_SO
    env "$preload" nginx -e "$folder/error.log" -c "$folder/nginx.conf" >"$folder/log" 2>&1 </dev/null &
    server=$!
    script_own "$server"
    wait_until 20 answers
    if [ "$malloc" = fallow ]; then
        process_has_library "$server"
        read -ra workers <"/proc/$server/task/$server/children"
        [ ${#workers[@]} = 2 ] || script_fail "${#workers[@]} workers"
        for worker in "${workers[@]}"; do
            process_has_library "$worker"
        done
    fi
    ask_everything >"$folder/answers" 2>&1
    kill -HUP "$server"
    sleep 1
    ask_everything >>"$folder/answers" 2>&1
    ab -q -n 6000 -c 30 -k "http://127.0.0.1:$port/proxy/file20.txt" >"$folder/ab" 2>&1 || script_fail "$(tail -n 5 "$folder/ab")"
    grep -E '^(Complete|Failed|Non-2xx|Document Length)' "$folder/ab" >>"$folder/answers"
    ask_everything >>"$folder/answers" 2>&1
    kill -QUIT "$server"
    wait "$server"
    echo "ended with $?" >>"$folder/answers"
    grep -E 'signal [0-9]+.*(core|exited)|\[(alert|emerg|crit)\]' "$folder/error.log" && script_fail "a worker died"
    no_complaint "$folder/log"
    no_complaint "$folder/error.log"
done
normalize "$scratch/libc/answers" >"$scratch/libc.seen"
normalize "$scratch/fallow/answers" >"$scratch/fallow.seen"
diff "$scratch/libc.seen" "$scratch/fallow.seen" || script_fail "the answers differ"
grep -q 'Failed requests: *0' "$scratch/fallow.seen" || script_fail "requests failed"
[ "$(wc -l <"$scratch/fallow.seen")" -gt 370 ] || script_fail "few answers"
compared=1
preload_done
