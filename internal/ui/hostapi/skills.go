package hostapi

import "context"

// reloadSkills reloads the skills, and answers with their names and the names of all commands.
func (a api) reloadSkills(ctx context.Context, _ none) (any, error) {
	if a.Extensions.ReloadSkills != nil {
		a.Extensions.ReloadSkills(ctx)
	}
	skills, commands := []string{}, []string{}
	if a.Extensions.Skills != nil {
		for _, s := range a.Extensions.Skills(ctx).Skills {
			skills = append(skills, s.Name)
		}
	}
	for _, c := range a.Commands() {
		commands = append(commands, c.Name)
	}
	return object{"skills": skills, "commands": commands}, nil
}
