package shell

import "slices"

// Needs are what a line that only reads needs in the jail that it runs in.
type Needs struct {
	// Programs are the names of the programs that it may execute, besides the shell itself.
	Programs []string
	// Git are the directories that it runs git in, relative to the one it starts in, which is "".
	Git []string
	// Processes says that it looks at all processes, mounts or devices of the system, Network that it
	// looks at sockets and interfaces.
	Processes, Network bool
}

// Jailed returns what the line needs if it is known to only read when it runs as a whole in a jail that
// keeps it from everything else, or the first reason to doubt it. The jail makes it safe; the proof finds
// the lines that would not do what they are meant to do there.
func (s *Script) Jailed() (Needs, error) {
	if err := s.ReadOnly(); err != nil {
		return Needs{}, err
	}
	var n Needs
	for _, p := range s.Parts {
		name := p.program()
		if !slices.Contains(n.Programs, name) {
			n.Programs = append(n.Programs, name)
		}
		if name == "git" {
			n.Git = append(n.Git, p.dirs...)
		}
	}
	return n, nil
}
