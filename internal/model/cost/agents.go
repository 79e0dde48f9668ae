package cost

// An Agent is the part of the account that one agent has, without those of the agents it started.
type Agent struct {
	ID    string `json:"id"`
	Title string `json:"title,omitempty"`
	// Parent is the agent that started it; empty for the conversation that the account is of.
	Parent string `json:"parent,omitempty"`
	Share
}

// maxAgents is how many agents are listed one by one. What further ones use is counted with those who started them.
const maxAgents = 1000

// Child returns the account of an agent that the conversation, or agent, of this one has started. What is booked in
// it is booked here, too. An agent that has an account already, also in a session that was resumed, continues it.
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
	return c
}

// root returns the ledger of the session.
func (l *Ledger) root() *Ledger {
	for l.parent != nil {
		l = l.parent
	}
	return l
}

// listed returns the ledger that has the share of this one.
func (l *Ledger) listed() *Ledger {
	for l.unlisted {
		l = l.parent
	}
	return l
}

// find returns the ledger of an agent below l, or nil.
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

// shares appends the shares of the agents below l, which is named as their parent.
func (l *Ledger) shares(list []Agent, parent string) []Agent {
	for _, c := range l.agents {
		list = append(list, Agent{ID: c.id, Title: c.title, Parent: parent, Share: c.own})
		list = c.shares(list, c.id)
	}
	return list
}

// restoreShares adds the shares of an account that was kept.
func (l *Ledger) restoreShares(t Totals) {
	l.own = l.own.add(t.main())
	for _, a := range t.Agents {
		parent := l
		if above := l.find(a.Parent); above != nil && a.Parent != a.ID {
			parent = above
		}
		c := parent.child(a.ID, a.Title).listed()
		c.own = c.own.add(a.Share)
	}
}

// main returns the share of the conversation itself.
func (t Totals) main() Share {
	if len(t.Agents) > 0 {
		return t.Own
	}
	u := t.Usage
	return Share{Input: u.Input + u.CacheRead + u.CacheWrite, Output: u.Output, CostUSD: t.CostUSD, HasUnknownCost: t.HasUnknownCost}
}

// A Row is a line of the tree of agents.
type Row struct {
	Agent
	Depth int // 0 for the conversation itself, which has no id
}

// Tree returns the shares of the conversation and of all agents, each below the one that started it. Their sum is
// the whole account.
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
