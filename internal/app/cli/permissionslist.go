package cli

import (
	"encoding/json"
	"fmt"
	"strings"

	"adze/internal/app/setup"
)

// A listedRule is a rule in force, in JSON output.
type listedRule struct {
	Behavior string `json:"behavior"`
	Rule     string `json:"rule"`
	Source   string `json:"source"`
	File     string `json:"file,omitempty"`
	Line     int    `json:"line,omitempty"`
	// ShadowedBy is the rule that keeps this one from ever taking effect.
	ShadowedBy string `json:"shadowed_by,omitempty"`
}

// list prints the rules in force, highest precedence first, and which of them never take effect.
func (c *checker) list() error {
	b, err := c.bench("")
	if err != nil {
		return setup.Errorf("%v", err)
	}
	p := b.Gate.Policy()
	shadows := p.Shadowed()
	rules := []listedRule{}
	var text strings.Builder
	for i, r := range p.Rules() {
		l := listedRule{Behavior: string(r.Behavior), Rule: r.Text(), Source: string(r.Scope), File: r.File, Line: r.Line}
		fmt.Fprintf(&text, "%-5s  %s  (%s)\n", l.Behavior, l.Rule, r.Where())
		if by, ok := shadows[i]; ok {
			l.ShadowedBy = string(by.Behavior) + " " + by.Text()
			fmt.Fprintf(&text, "       never takes effect: %s in %s comes first\n", l.ShadowedBy, by.Where())
		}
		rules = append(rules, l)
	}
	if c.o.json {
		data, err := json.MarshalIndent(rules, "", "  ")
		if err != nil {
			return fmt.Errorf("writing the rules: %w", err)
		}
		return c.env.print(string(data) + "\n")
	}
	if len(rules) == 0 {
		text.WriteString("There are no permission rules.\n")
	}
	return c.env.show(text.String())
}
