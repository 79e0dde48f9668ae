package cli

import (
	"slices"
	"time"

	"adze/internal/app/tasklists"
	"adze/internal/app/typing"
	"adze/internal/app/workflows"
	"adze/internal/desk"
	program "adze/internal/desk/about"
	"adze/internal/desk/copies"
	added "adze/internal/desk/extensions"
	"adze/internal/desk/jobs"
	"adze/internal/desk/look"
	"adze/internal/desk/memories"
	"adze/internal/desk/rules"
)

// everyCommand returns a desk with every built-in command.
func everyCommand() *desk.Desk {
	return desk.New(desk.Config{Terminal: true, Surroundings: desk.Surroundings{Keys: typing.Open("", "", time.Now).Desk(), Sections: slices.Concat(program.Sections(program.Config{}), added.Sections(), look.Sections(look.Config{}), rules.Sections(), memories.Sections(), jobs.Sections(), copies.Sections(nil, nil), (*tasklists.Lists)(nil).Sections(), (*workflows.Workflows)(nil).Sections())}})
}
