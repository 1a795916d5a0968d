#!/bin/sh
# The service comes before the drawing of pages: on a busy machine it would miss its time limits, and answer 503.
# As root, Chromium would set the priority of its most important threads back to -8. Not every root may give up that right.
drop='setpriv --bounding-set -sys_nice --inh-caps -sys_nice'
[ "$(id -u)" = 0 ] && $drop true 2> /dev/null || drop=
exec $drop nice -n 10 "$CHROMIUM_PATH" "$@"
