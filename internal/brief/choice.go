package brief

import "errors"

// A Choice says which texts make up the prompt, in order of precedence; see [Choice.Select]. Nil leaves a text
// out of consideration; an empty text makes an empty prompt.
type Choice struct {
	// Override replaces everything, and nothing is added to it.
	Override *string
	// Coordinator is the prompt of the mode in which the model only directs others.
	Coordinator *string
	// Agent is the prompt of the agent that was chosen for the main conversation. When it is Proactive
	// it comes after the default prompt instead of taking its place.
	Agent     *string
	Proactive bool
	// Placed adds to the prompt of a coordinator or an agent where it works: that of a sub-agent does not say so itself.
	Placed bool
	// Custom is what the user wants instead of the default.
	Custom *string
	// Append is added at the end, unless there is an override.
	Append string
}

// errEmpty says that a prompt came out empty by mistake.
var errEmpty = errors.New("the system prompt is empty; a prompt is left out only when it is replaced by an empty text")

// Select returns the prompt in effect. It calls standard for the default prompt if that is needed.
func (c Choice) Select(standard func() Assembly) (Assembly, error) {
	if c.Override != nil {
		return single("override", *c.Override), nil
	}
	var a Assembly
	asked := true
	switch {
	case c.Coordinator != nil:
		a = single("coordinator", *c.Coordinator)
	case c.Agent != nil && !c.Proactive:
		a = single("agent", *c.Agent)
	case c.Custom != nil && c.Agent == nil:
		a = single("custom", *c.Custom)
	default:
		asked = false
		a = standard()
		if c.Agent != nil {
			a.add("agent", *c.Agent)
		}
	}
	a.add("append", c.Append)
	if len(a.Pieces) == 0 && !asked {
		return a, errEmpty
	}
	return a, nil
}

// An Assembly is a prompt before it is divided into blocks: its pieces in order, and how many of them come
// before the boundary. Zero means that there is no boundary.
type Assembly struct {
	Pieces   []Piece
	Boundary int
}

// A Piece is the text of one section.
type Piece struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

func single(name, text string) Assembly {
	var a Assembly
	a.add(name, text)
	return a
}

func (a *Assembly) add(name, text string) {
	if text != "" {
		a.Pieces = append(a.Pieces, Piece{name, text})
	}
}
