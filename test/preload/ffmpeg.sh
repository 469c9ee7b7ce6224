#!/bin/bash
# ffmpeg: pictures and sound made, scaled, encoded and decoded, by many threads; the frames are the same.
. "$(dirname "$0")/lib.sh"
command -v ffmpeg >/dev/null || script_skip "ffmpeg is not installed (test/packages-nightly.txt)"
preload_binds ffmpeg -version
run=(ffmpeg -hide_banner -nostdin -loglevel error -bitexact -y)
made=(-f lavfi -i "testsrc2=size=640x360:rate=25:duration=4" -f lavfi -i "sine=frequency=440:duration=4")
succeeds "encoding" "${run[@]}" "${made[@]}" -c:v mpeg4 -threads 4 -c:a flac -fflags +bitexact -flags +bitexact film.mkv
same_file film.mkv
succeeds "decoding" "${run[@]}" -i film.mkv -f framemd5 -
succeeds "filters" "${run[@]}" -i film.mkv -vf "scale=320:180,rotate=0.3,boxblur=3,split[a][b];[b]hflip[c];[a][c]hstack" -an -f framemd5 -
succeeds "again and again" bash -c 'for i in $(seq 10); do ffmpeg -hide_banner -nostdin -loglevel error -i film.mkv -vf "crop=64:64:$i:0" -an -f md5 - || exit; done'
compare "an error" "${run[@]}" -i no-such-film -f null -
preload_done
