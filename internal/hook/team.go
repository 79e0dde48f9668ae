package hook

// OnTeammateIdle says that a teammate has nothing to do and is about to wait for messages.
func OnTeammateIdle(name, team string) Event {
	return Event{Name: TeammateIdle, fields: []field{{"teammate_name", name}, {"team_name", team}}}
}
