package builtin

import "strings"

// A Verdict is what the verification agent found.
type Verdict string

// The verdicts.
const (
	Pass    Verdict = "PASS"
	Fail    Verdict = "FAIL"
	Partial Verdict = "PARTIAL"
)

// ReadVerdict returns the verdict at the end of a report. A report without one, or with several that differ, is a failure.
func ReadVerdict(report string) Verdict {
	found := Verdict("")
	for line := range strings.Lines(report) {
		word, ok := strings.CutPrefix(strings.Trim(strings.TrimSpace(line), "*#`> "), "VERDICT:")
		if !ok {
			continue
		}
		v := Verdict(strings.Trim(word, "*`. "))
		if v != Pass && v != Fail && v != Partial || found != "" && found != v {
			return Fail
		}
		found = v
	}
	if found == "" {
		return Fail
	}
	return found
}
