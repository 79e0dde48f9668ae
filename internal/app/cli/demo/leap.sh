#!/bin/sh
# leap.sh YEAR says whether YEAR is a leap year.

is_leap() {
	[ $(($1 % 4)) -eq 0 ]
}

if is_leap "$1"; then
	echo leap
else
	echo common
fi
