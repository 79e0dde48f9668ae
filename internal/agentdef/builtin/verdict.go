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

// ReadVerdict returns the verdict of a report, and whether it states one. A report without one, or with several that
// differ, is a failure.
func ReadVerdict(report string) (v Verdict, stated bool) {
	found := Verdict("")
	for line := range strings.Lines(report) {
		word, ok := strings.CutPrefix(strings.Trim(strings.TrimSpace(line), "*#`> "), "VERDICT:")
		if !ok {
			continue
		}
		v := Verdict(strings.Trim(word, "*`. "))
		if v != Pass && v != Fail && v != Partial || found != "" && found != v {
			return Fail, false
		}
		found = v
	}
	if found == "" {
		return Fail, false
	}
	return found, true
}
