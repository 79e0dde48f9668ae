package commands

import "adze/internal/tool"

// A Page is a sequence of blocks to show. The zero value is empty. Texts may contain any
// characters: front ends sanitize them for their output.
type Page struct{ Blocks []Block }

// A Block is a part of a page, as defined below.
type Block interface{ block() }

type (
	// Text is a paragraph.
	Text string

	// A Notice is a problem that needs the user's attention.
	Notice string

	// A Remark is made alongside the conversation, and shown faint.
	Remark string

	// Fields are named values.
	Fields []Field

	// A Table has rows of cells, and a header if its columns have names.
	Table struct {
		Columns []Column
		Rows    [][]string
		// Indented indents the rows.
		Indented bool
	}

	// Terms are explained one by one: commands, keys.
	Terms []Term

	// Columns are two lists of terms with titles, next to each other if there is room.
	Columns struct {
		Titles [2]string
		Terms  [2]Terms
	}

	// Items are indented lines.
	Items []string

	// A Swatch is a sample of a theme, in its own colors.
	Swatch string

	// A Bar shows the parts of a whole as a bar with a title and a legend. Rest is the unused
	// part.
	Bar struct {
		Title string
		Parts []BarPart
		Rest  BarPart
	}

	// Output is the output of a program.
	Output struct{ tool.Display }
)

// A Term is a name with an explanation.
type Term struct{ Name, Text string }

// A Field is a value with its name.
type Field struct{ Name, Value string }

// A BarPart is a part of a [Bar]. Text is its size as shown.
type BarPart struct {
	Name, Text string
	Size       int
}

// A Column configures how the cells of a table are shown. The last column may take several
// lines.
type Column struct {
	Name string
	// Right aligns the cells to the right.
	Right bool
	// Cut shortens the cells if a row does not fit otherwise.
	Cut bool
}

func (Text) block()    {}
func (Notice) block()  {}
func (Remark) block()  {}
func (Fields) block()  {}
func (Table) block()   {}
func (Terms) block()   {}
func (Columns) block() {}
func (Items) block()   {}
func (Swatch) block()  {}
func (Bar) block()     {}
func (Output) block()  {}

// Say returns a page of paragraphs.
func Say(texts ...string) Page {
	var p Page
	for _, text := range texts {
		p.Add(Text(text))
	}
	return p
}

// Add appends blocks.
func (p *Page) Add(blocks ...Block) { p.Blocks = append(p.Blocks, blocks...) }
