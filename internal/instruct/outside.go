package instruct

import (
	"fmt"
	"slices"
)

// TellOutside returns what tells the user, once for each, which files from outside are left out because the
// user cannot be asked about them.
func TellOutside(say func(string)) func([]Problem) {
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
