#!/bin/sh
# The service comes before the drawing of pages: on a busy machine it would miss its time limits, and answer 503.
# As root, Chromium would set the priority of its most important threads back to -8.
if [ "$(id -u)" = 0 ] && command -v setpriv > /dev/null; then
  drop='setpriv --bounding-set -sys_nice --inh-caps -sys_nice'
fi
exec ${drop:-} nice -n 10 "$CHROMIUM_PATH" "$@"
