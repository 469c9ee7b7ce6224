#!/bin/bash
# openssl: a short speed run (the numbers aside, the same output), digests, ciphers, keys, certificates.
. "$(dirname "$0")/lib.sh"
script_need openssl
preload_binds openssl version
in_both bash -c 'seq 1 300000 >data'
succeeds "digests" openssl dgst -sha256 data
succeeds "another" openssl dgst -blake2b512 -hmac key data
succeeds "a cipher" bash -c 'openssl enc -aes-256-cbc -K $(printf %064d 7) -iv $(printf %032d 9) -in data -out sealed && openssl enc -d -aes-256-cbc -K $(printf %064d 7) -iv $(printf %032d 9) -in sealed | cmp - data && cksum <sealed'
same_file sealed
succeeds "a prime" openssl prime -checks 20 170141183460469231731687303715884105727
succeeds "keys and signatures" bash -c 'openssl genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:2048 -out key.pem 2>/dev/null && openssl dgst -sha256 -sign key.pem -out data.sig data && openssl pkey -in key.pem -pubout -out public.pem && openssl dgst -sha256 -verify public.pem -signature data.sig data'
succeeds "a certificate" bash -c 'openssl req -x509 -key key.pem -subj /CN=test -days 30 -out cert.pem && openssl verify -CAfile cert.pem cert.pem && openssl x509 -in cert.pem -noout -subject'
# Of the speed run only the shape can be the same: numbers become N, and how many there are stays.
compare_filter=(-e 's/[0-9]+(\.[0-9]+)?k?s?/N/g' -e 's/ +/ /g')
succeeds "speed" openssl speed -seconds 1 -bytes 8192 sha256 aes-128-cbc
# Two processes say what they do in any order.
succeeds "speed in two processes" bash -c 'set -o pipefail; openssl speed -seconds 1 -multi 2 rsa2048 2>&1 | sort'
preload_done
