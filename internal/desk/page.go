package desk

import "adze/internal/tool"

// A Page is something to show: blocks, one below the other. The zero value shows nothing. Its texts may hold
// anything: front ends make them safe for where they go.
type Page struct{ Blocks []Block }

// A Block is a part of a page: one of the types below, and nothing else.
type Block interface{ block() }

type (
	// Text is a paragraph.
	Text string

	// A Notice points out something that the user should look at.
	Notice string

	// Fields are values by name.
	Fields []Field

	// A Table has rows of cells. It has a head if its columns have names.
	Table struct {
		Columns []Column
		Rows    [][]string
		// Indented sets the rows off from the text before them.
		Indented bool
	}

	// Items are lines that belong to the text before them.
	Items []string

	// Output is what a program printed.
	Output struct{ tool.Display }
)

// A Field is a value with its name.
type Field struct{ Name, Value string }

// A Column says how the cells of a table are shown. The last column may take several lines.
type Column struct {
	Name string
	// Right aligns the cells to the right.
	Right bool
	// Cut shortens the cells if a row does not fit otherwise.
	Cut bool
}

func (Text) block()   {}
func (Notice) block() {}
func (Fields) block() {}
func (Table) block()  {}
func (Items) block()  {}
func (Output) block() {}

// Say returns a page of paragraphs.
func Say(texts ...string) Page {
	var p Page
	for _, text := range texts {
		p.Add(Text(text))
	}
	return p
}

// Add adds blocks at the end.
func (p *Page) Add(blocks ...Block) { p.Blocks = append(p.Blocks, blocks...) }
