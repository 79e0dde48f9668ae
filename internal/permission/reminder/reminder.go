// Package reminder holds the texts for the model about modes and refusals.
package reminder

import (
	_ "embed"
	"os"
	"strings"

	"adze/internal/platform/text/texts"
)

var (
	//go:embed texts.en.md
	english string
	//go:embed texts.zh.md
	chinese string

	catalogue = texts.New(english, chinese)
)

// Text names for [Text].
const (
	AutoOn    = "auto.on"
	AutoOff   = "auto.off"
	PlanOff   = "plan.off"
	PlanStill = "plan.still" // takes the plan's file
	// PlanStillAlone replaces PlanStill if no one can approve the plan.
	PlanStillAlone = "plan.still.alone"
	Insisting      = "insisting" // takes the name of a tool whose calls keep being refused
)

// Text returns a text in a language, filled with values.
func Text(l texts.Language, name string, values ...string) string {
	return catalogue.Text(l, name, values...)
}

// Plan returns the instructions for planning, including the plan's file. Alone means that no
// one can approve the plan.
func Plan(l texts.Language, file string, alone bool) string {
	lines := []string{Text(l, "plan", file)}
	if hasText(file) {
		lines = append(lines, Text(l, "plan.earlier"))
	}
	end := "plan.present"
	if alone {
		end = "plan.answer"
	}
	return strings.Join(append(lines, Text(l, "plan.steps"), Text(l, end), Text(l, "plan.none")), "\n")
}

func hasText(file string) bool {
	if file == "" {
		return false
	}
	info, err := os.Stat(file)
	return err == nil && info.Size() > 0
}
