package update

import (
	"cmp"
	"strconv"
	"strings"
)

// Valid reports whether text is a version: X.Y.Z or X.Y.Z-PRERELEASE.
func Valid(text string) bool {
	numbers, pre, isPre := strings.Cut(text, "-")
	parts := strings.Split(numbers, ".")
	if len(text) > 64 || len(parts) != 3 {
		return false
	}
	for _, part := range parts {
		if n, err := strconv.ParseUint(part, 10, 32); err != nil || strconv.FormatUint(n, 10) != part {
			return false
		}
	}
	for word := range strings.SplitSeq(pre, ".") {
		if isPre && (word == "" || strings.Trim(word, letters) != "") {
			return false
		}
	}
	return true
}

// letters are the characters of a prerelease.
const letters = "-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// Compare compares two valid versions by the rules of semantic versioning.
func Compare(a, b string) int {
	a, preA, _ := strings.Cut(a, "-")
	b, preB, _ := strings.Cut(b, "-")
	if c := compareParts(a, b); c != 0 || preA == preB {
		return c
	}
	switch {
	case preA == "": // a release is newer than its prereleases
		return 1
	case preB == "":
		return -1
	}
	return compareParts(preA, preB)
}

func compareParts(a, b string) int {
	as, bs := strings.Split(a, "."), strings.Split(b, ".")
	for i := range min(len(as), len(bs)) {
		m, errA := strconv.ParseUint(as[i], 10, 64)
		n, errB := strconv.ParseUint(bs[i], 10, 64)
		c := 0
		switch {
		case errA == nil && errB == nil:
			c = cmp.Compare(m, n)
		case errA == nil:
			c = -1 // numbers come before words
		case errB == nil:
			c = 1
		default:
			c = cmp.Compare(as[i], bs[i])
		}
		if c != 0 {
			return c
		}
	}
	return cmp.Compare(len(as), len(bs))
}
