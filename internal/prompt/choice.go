package prompt

import "errors"

// A Choice selects the texts that make up the prompt, in order of precedence; see
// [Choice.Select]. A nil text is not considered; an empty text makes an empty prompt.
type Choice struct {
	// Override replaces everything; nothing is appended to it.
	Override *string
	// Coordinator is the prompt of coordinator mode, in which the model only directs others.
	Coordinator *string
	// Agent is the prompt of the agent chosen for the main conversation. If Proactive is true,
	// it follows the default prompt instead of replacing it.
	Agent     *string
	Proactive bool
	// Placed adds the environment section to the prompt of a coordinator or agent, which does
	// not include it.
	Placed bool
	// Custom is the user's replacement for the default prompt.
	Custom *string
	// Append is added at the end, unless there is an override.
	Append string
}

// errEmpty is returned if a prompt is empty by mistake.
var errEmpty = errors.New("the system prompt is empty; a prompt is left out only when it is replaced by an empty text")

// Select returns the effective prompt. It calls standard for the default prompt if needed.
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

// An Assembly is a prompt before it is divided into blocks: its pieces in order, and the number
// of pieces before the boundary. Zero means no boundary.
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
