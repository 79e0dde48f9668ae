package instruct

import (
	"fmt"
	"slices"
)

// OutsideReporter returns a function that reports, once per file, the files outside the project
// that are omitted because the user can't be prompted.
func OutsideReporter(say func(string)) func([]Problem) {
	var told []string
	return func(problems []Problem) {
		for _, problem := range problems {
			if problem.Outside != "" && !slices.Contains(told, problem.Outside) {
				told = append(told, problem.Outside)
				say(fmt.Sprintf("%s %s; adze trust approves it", problem.Path, problem.Text))
			}
		}
	}
}
