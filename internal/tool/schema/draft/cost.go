package draft

// maxCost is how many steps a check may take: schemas that a part of a value is held against.
const maxCost = 200_000

// cost returns how many steps the check of a value takes, or more than maxCost. What a schema that refers to another one
// twice would check again is counted and not done, so that this takes no longer than the schema and the value are large.
func (in *inspector) cost(value any) int {
	c := counter{in: in, known: map[step]int{}, numbers: map[member]int{}}
	return c.at("", value, 0)
}

// A counter counts the steps of a check.
type counter struct {
	in      *inspector
	known   map[step]int
	numbers map[member]int // of the parts of values that were met
}

// A member is a part of the value of that number: a name or an index.
type member struct {
	value int
	key   any
}

// number returns the number of a part, which is the same under every schema.
func (c *counter) number(value int, key any) int {
	m := member{value, key}
	n, ok := c.numbers[m]
	if !ok {
		n = len(c.numbers) + 1
		c.numbers[m] = n
	}
	return n
}

// A step holds the value of that number against the schema at a place.
type step struct {
	place string
	value int
}

// at returns the steps for the value with that number.
func (c *counter) at(place string, value any, id int) int {
	key := step{place, id}
	if n, ok := c.known[key]; ok {
		return n
	}
	if len(c.known) > maxCost {
		return maxCost + 1
	}
	c.known[key] = maxCost + 1 // a circle, which was refused before
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

// members returns the steps for the parts of a value.
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

// matching returns how many steps a regular expression of that size is worth.
func matching(size int, text string) int { return min(size*len(text)/100, maxCost+1) }

// sum adds steps; more than maxCost are not told apart.
func sum(a, b int) int { return min(a+b, maxCost+1) }
