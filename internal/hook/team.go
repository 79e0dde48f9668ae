package hook

// OnTeammateIdle returns the event fired before an idle teammate waits for messages.
func OnTeammateIdle(name, team string) Event {
	return Event{Name: TeammateIdle, fields: []field{{"teammate_name", name}, {"team_name", team}}}
}
