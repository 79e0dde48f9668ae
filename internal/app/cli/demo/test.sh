#!/bin/sh
# test.sh checks leap.sh against years whose answer is known.
cd "$(dirname "$0")" || exit 1
failed=0

check() {
	got=$(sh ./leap.sh "$1")
	if [ "$got" = "$2" ]; then
		echo "ok    $1 is a $2 year"
	else
		echo "FAIL  $1 should be a $2 year, leap.sh says $got"
		failed=1
	fi
}

check 2024 leap
check 2023 common
check 1900 common
check 2000 leap
exit $failed
