package builtin

import "strings"

// A Verdict is the verification agent's finding.
type Verdict string

// The verdicts.
const (
	Pass    Verdict = "PASS"
	Fail    Verdict = "FAIL"
	Partial Verdict = "PARTIAL"
)

// ReadVerdict returns a report's verdict, and whether it states one. A report with no verdict
// or conflicting ones is a failure.
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
