#!/bin/bash
# ImageMagick: pictures are made, transformed by several threads, and written in several forms.
. "$(dirname "$0")/lib.sh"
command -v convert >/dev/null || script_skip "ImageMagick is not installed (test/packages-nightly.txt)"
preload_binds convert -version
export MAGICK_THREAD_LIMIT=4
succeeds "a picture" convert -seed 7 -size 900x700 plasma:red-blue -depth 8 -strip plasma.ppm
same_file plasma.ppm
succeeds "filters" convert plasma.ppm -resize 60% -blur 0x3 -swirl 60 -rotate 17 -depth 8 -strip changed.ppm
same_file changed.ppm
succeeds "other forms" bash -c 'for form in png jpg gif tiff bmp; do convert plasma.ppm -strip -define png:exclude-chunks=date,time "p.$form" && convert "p.$form" -depth 8 rgb:- | cksum || exit; done'
succeeds "in a loop" bash -c 'for i in $(seq 20); do convert plasma.ppm -crop "200x200+$((i * 20))+0" +repage -modulate "$((50 + i * 5))" -depth 8 rgb:- | cksum || exit; done'
succeeds "many at once" bash -c 'convert plasma.ppm plasma.ppm plasma.ppm plasma.ppm -append -resize 50% -depth 8 rgb:- | cksum'
compare "an error" convert no-such-picture.png x.png
preload_done
