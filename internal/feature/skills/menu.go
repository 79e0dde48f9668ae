package skills

import (
	"context"
	"slices"
	"strings"
	"sync"

	"adze/internal/commands"
	"adze/internal/domain/skill"
	"adze/internal/domain/skill/library"
)

// A menu holds the skills that can be called, by the model from a list and by the user as
// commands. It is safe for concurrent use.
type menu struct {
	cfg        *Config
	activation *activation
	command    func(*skill.Skill) commands.Command // converts a skill to a command

	mu      sync.Mutex
	list    []*skill.Skill
	from    *library.Set // inputs of list: the set, servers and activation count
	servers []*skill.Skill
	at      int
	offers  [2]offers // excluding and including inactive skills
}

// offers caches the commands built from skills.
type offers struct {
	made    []commands.Command
	from    *library.Set
	servers []*skill.Skill
	at      int
}

// all returns the callable skills: the library's, and server skills whose names are free.
func (m *menu) all(ctx context.Context) []*skill.Skill {
	return slices.Concat(m.cfg.Library.Set(ctx).Skills, m.cfg.ofServers())
}

// find returns the named skill, preferring a case-sensitive match, or nil.
func (m *menu) find(ctx context.Context, name string) *skill.Skill {
	if found := m.cfg.Library.Find(ctx, name); found != nil {
		return found
	}
	all := m.all(ctx)
	if i := slices.IndexFunc(all, func(k *skill.Skill) bool { return k.Name == name }); i >= 0 {
		return all[i]
	}
	if i := slices.IndexFunc(all, func(k *skill.Skill) bool { return strings.EqualFold(k.Name, name) }); i >= 0 {
		return all[i]
	}
	return nil
}

// listed returns the known skills the model can call, sorted by name. It returns the same slice
// until something changes.
func (m *menu) listed() []*skill.Skill {
	if m.cfg.Off {
		return nil
	}
	set, servers := m.cfg.Library.Early(context.Background()), m.cfg.ofServers()
	at := m.activation.count()
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.from == set && m.at == at && slices.Equal(m.servers, servers) {
		return m.list
	}
	m.from, m.at, m.servers = set, at, servers
	list := make([]*skill.Skill, 0, len(set.Skills)+len(servers)) // the set's skills are sorted by name
	for _, k := range slices.Concat(set.Skills, servers) {
		if !k.Manual && m.activation.has(k) {
			list = append(list, k)
		}
	}
	if len(servers) > 0 {
		slices.SortStableFunc(list, func(a, b *skill.Skill) int { return strings.Compare(a.Name, b.Name) })
		list = slices.CompactFunc(list, func(a, b *skill.Skill) bool { return a.Name == b.Name })
	}
	m.list = list
	return list
}

// commands returns the skills as commands. The result is cached, because every key press during
// completion needs it. If all is true, skills not yet activated by a file are included.
func (m *menu) commands(all bool) []commands.Command {
	find := m.cfg.Library.Early
	if all {
		find = m.cfg.Library.Set
	}
	set, servers := find(context.Background()), m.cfg.ofServers()
	at := m.activation.count()
	m.mu.Lock()
	defer m.mu.Unlock()
	o := &m.offers[0]
	if all {
		o = &m.offers[1]
	}
	if o.from == set && o.at == at && slices.Equal(o.servers, servers) {
		return o.made
	}
	*o = offers{from: set, servers: servers, at: at}
	for _, k := range slices.Concat(set.Skills, servers) {
		if !k.Hidden && (all || m.activation.has(k)) {
			o.made = append(o.made, m.command(k))
		}
	}
	return o.made
}

func namesOf(list []*skill.Skill) (names []string) {
	for _, k := range list {
		names = append(names, k.Name)
	}
	return names
}
