package sandbox

import "path/filepath"

// Limits describe the restrictions of the next command, for display.
type Limits struct {
	Tier     Tier     `json:"-"`
	Means    string   `json:"means"`            // mechanisms that the tier uses
	Weaker   string   `json:"weaker,omitempty"` // reason why no stronger tier is used
	Writable []string `json:"writable"`         // directory trees
	ReadOnly []string `json:"readOnly"`         // paths inside Writable
	Hidden   []string `json:"hidden"`
}

// Limits returns the restrictions of the next command.
func (s *Sandbox) Limits() (Limits, error) {
	found, err := s.probe()
	if err != nil {
		return Limits{}, err
	}
	p, err := s.policy()
	if err != nil {
		return Limits{}, err
	}
	l := Limits{Tier: found.tier, Means: found.detail, Writable: append(append([]string{p.temp}, p.roots...), p.write...), Hidden: p.hidden}
	if found.better != nil {
		l.Weaker = found.better.Error()
	}
	if !found.tier.Protects() {
		return l, nil
	}
	for _, root := range p.roots {
		list, err := guards(root, p.home)
		if err != nil {
			return Limits{}, err
		}
		for _, g := range list {
			l.ReadOnly = append(l.ReadOnly, filepath.Clean(g.path))
		}
	}
	l.ReadOnly = append(append(l.ReadOnly, p.own...), p.readOnly...)
	return l, nil
}
