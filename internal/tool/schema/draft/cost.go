package draft

// maxCost limits the steps of a check; a step checks a part of a value against a schema.
const maxCost = 200_000

// cost returns the number of steps to check a value, or more than maxCost. A part that a schema
// would check repeatedly, because it refers to another schema twice, is counted without being
// repeated, so that the run time is bounded by the sizes of schema and value.
func (in *inspector) cost(value any) int {
	c := counter{in: in, known: map[step]int{}, numbers: map[member]int{}}
	return c.at("", value, 0)
}

// A counter counts the steps of a check.
type counter struct {
	in      *inspector
	known   map[step]int
	numbers map[member]int // numbers of the value parts seen
}

// A member is a part of the numbered value: a name or an index.
type member struct {
	value int
	key   any
}

// number returns a part's number, which is the same under every schema.
func (c *counter) number(value int, key any) int {
	m := member{value, key}
	n, ok := c.numbers[m]
	if !ok {
		n = len(c.numbers) + 1
		c.numbers[m] = n
	}
	return n
}

// A step checks the numbered value against the schema at a place.
type step struct {
	place string
	value int
}

// at returns the number of steps for the numbered value.
func (c *counter) at(place string, value any, id int) int {
	key := step{place, id}
	if n, ok := c.known[key]; ok {
		return n
	}
	if len(c.known) > maxCost {
		return maxCost + 1
	}
	c.known[key] = maxCost + 1 // a cycle, which was refused before
	n := 1 + c.in.choices[place]
	if text, ok := value.(string); ok {
		n = sum(n, matching(c.in.patterns[place], text))
	}
	for _, lead := range c.in.leads[place] {
		for _, to := range c.in.resolve(lead) {
			n = sum(n, c.at(to, value, id))
		}
	}
	n = sum(n, c.members(place, value, id))
	c.known[key] = n
	return n
}

// members returns the number of steps for a value's parts.
func (c *counter) members(place string, value any, id int) (n int) {
	parts := c.in.within[place]
	if len(parts) == 0 {
		return 0
	}
	switch value := value.(type) {
	case map[string]any:
		for _, p := range parts {
			if p.name == "" {
				for name, member := range value {
					n = sum(n, sum(matching(p.pattern, name), c.at(p.to, member, c.number(id, name))))
				}
			} else if member, ok := value[p.name]; ok {
				n = sum(n, c.at(p.to, member, c.number(id, p.name)))
			}
		}
	case []any:
		for _, p := range parts {
			if p.name != "" {
				continue
			}
			for i, element := range value {
				n = sum(n, c.at(p.to, element, c.number(id, i)))
			}
		}
	}
	return n
}

// matching returns the cost in steps of a regular expression of that size.
func matching(size int, text string) int { return min(size*len(text)/100, maxCost+1) }

// sum adds steps, saturating above maxCost.
func sum(a, b int) int { return min(a+b, maxCost+1) }
