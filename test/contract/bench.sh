#!/bin/bash
# The benchmark itself: what it prints, what it refuses, and that its JSON is JSON.
. "$(dirname "$0")/../support/script.sh"
