package cost

// An Agent is one agent's share of the account, without the agents it started.
type Agent struct {
	ID    string `json:"id"`
	Title string `json:"title,omitempty"`
	// Parent is the agent that started it; empty for the main conversation.
	Parent string `json:"parent,omitempty"`
	Share
}

// maxAgents is the maximum number of agents listed individually. The usage of further agents is
// added to their parents.
const maxAgents = 1000

// Child returns the account of an agent started by l's conversation or agent. Entries in it are
// also booked in l. An agent that already has an account, even in a resumed session, continues
// it.
func (l *Ledger) Child(id, title string) *Ledger {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.child(id, title)
}

func (l *Ledger) child(id, title string) *Ledger {
	c := l.root().find(id)
	if c == nil {
		c = &Ledger{facts: l.facts, parent: l, id: id, mu: l.mu, totals: Totals{Models: map[string]Model{}}}
		if root := l.root(); root.count < maxAgents {
			root.count++
			l.agents = append(l.agents, c)
		} else {
			c.unlisted = true
		}
	}
	if title != "" {
		c.title = title
	}
	c.touch()
	return c
}

// use adds s to the ledger's own share.
func (l *Ledger) use(s Share) {
	l.own = l.own.add(s)
	l.touch()
}

// touch marks the ledger as changed.
func (l *Ledger) touch() {
	root := l.root()
	root.version++
	l.changed = root.version
}

// root returns the session's ledger.
func (l *Ledger) root() *Ledger {
	for l.parent != nil {
		l = l.parent
	}
	return l
}

// listed returns the ledger that l's share is added to.
func (l *Ledger) listed() *Ledger {
	for l.unlisted {
		l = l.parent
	}
	return l
}

// find returns an agent's ledger below l, or nil.
func (l *Ledger) find(id string) *Ledger {
	for _, c := range l.agents {
		if c.id == id {
			return c
		}
		if found := c.find(id); found != nil {
			return found
		}
	}
	return nil
}

// shares appends the shares of the agents below l that have changed since a version. parent is
// l's ID.
func (l *Ledger) shares(list []Agent, parent string, since int) []Agent {
	for _, c := range l.agents {
		if c.changed > since {
			list = append(list, Agent{ID: c.id, Title: c.title, Parent: parent, Share: c.own})
		}
		list = c.shares(list, c.id, since)
	}
	return list
}

// A History assembles an account from records, some of which are partial. The zero value is
// empty.
type History struct {
	Totals
	at map[string]int // indexes of agents
}

// Add applies the next record.
func (h *History) Add(now Totals) {
	if !now.Partial {
		h.Totals, h.at = now, make(map[string]int, len(now.Agents))
		for i, a := range now.Agents {
			h.at[a.ID] = i
		}
		return
	}
	changed := now.Agents
	now.Agents, now.Partial = h.Agents, false
	h.Totals = now
	if h.at == nil {
		h.at = map[string]int{}
	}
	for _, a := range changed {
		if i, ok := h.at[a.ID]; ok {
			h.Agents[i] = a
			continue
		}
		h.at[a.ID] = len(h.Agents)
		h.Agents = append(h.Agents, a)
	}
}

// unlisted returns the share that is attributed neither to the conversation nor to an agent,
// because a record was lost.
func (t Totals) unlisted() Share {
	u := t.Usage
	rest := Share{Input: u.Input + u.CacheRead + u.CacheWrite, Output: u.Output, CostUSD: t.CostUSD, HasUnknownCost: t.HasUnknownCost}
	for _, r := range t.Tree() {
		rest.Input -= r.Input
		rest.Output -= r.Output
		rest.CostUSD -= r.CostUSD
	}
	if rest.Input <= 0 && rest.Output <= 0 {
		return Share{}
	}
	rest.Input, rest.Output, rest.CostUSD = max(0, rest.Input), max(0, rest.Output), max(0, rest.CostUSD)
	return rest
}

// restoreShares adds the shares of a stored account. Unlisted usage counts as the
// conversation's own.
func (l *Ledger) restoreShares(t Totals) {
	l.use(t.main().add(t.unlisted()))
	for _, a := range t.Agents {
		parent := l
		if above := l.find(a.Parent); above != nil && a.Parent != a.ID {
			parent = above
		}
		parent.child(a.ID, a.Title).listed().use(a.Share)
	}
}

// main returns the conversation's own share.
func (t Totals) main() Share {
	if len(t.Agents) > 0 {
		return t.Own
	}
	u := t.Usage
	return Share{Input: u.Input + u.CacheRead + u.CacheWrite, Output: u.Output, CostUSD: t.CostUSD, HasUnknownCost: t.HasUnknownCost}
}

// A Row is a line of the agent tree.
type Row struct {
	Agent
	Depth int // 0 for the conversation itself, which has no ID
}

// Tree returns the shares of the conversation and of all agents, each below its parent. Their
// sum is the whole account.
func (t Totals) Tree() []Row {
	rows := []Row{{Agent: Agent{Share: t.main()}}}
	depth := map[string]int{}
	for _, a := range t.Agents {
		d := depth[a.Parent] + 1
		if _, known := depth[a.ID]; !known {
			depth[a.ID] = d
		}
		rows = append(rows, Row{a, d})
	}
	return rows
}
