package cli

import (
	"adze/internal/desk"
	program "adze/internal/desk/about"
	"adze/internal/desk/jobs"
)

// everyCommand returns a desk that has every command that is built in.
func everyCommand() *desk.Desk {
	return desk.New(desk.Config{Terminal: true, Surroundings: desk.Surroundings{Sections: append(program.Sections(program.Config{}), jobs.Sections()...)}})
}
