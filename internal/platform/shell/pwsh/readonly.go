package pwsh

import (
	"fmt"
	"strings"
	"sync"
)

// A cmdlet is a row in the table of read-only cmdlets. Parameters must be spelled as in the
// table, except for case: abbreviations and attached values are not accepted.
type cmdlet struct {
	name   string // PowerShell's spelling
	module string
	// switches take no value. Parameters in values take a value of the kind after the colon.
	switches, values string
	// positions lists the kinds of positional arguments; the last may be repeated with +.
	positions string
	lists     bool // only lists names, so wildcards are harmless
	here      bool // defaults to the current directory
	follows   bool // may read the output of another command
	needsPath bool
}

// Kinds of values: p is a path, l a path without wildcards, t text, n a number.
const table = `
Get-ChildItem|Management|-name -force -file -directory -hidden|-path:p -literalpath:l -filter:t -include:t -exclude:t|p t|lists here
Get-Item|Management|-force|-path:p -literalpath:l|p|lists needs
Test-Path|Management||-path:p -literalpath:l -pathtype:t|p|lists needs
Resolve-Path|Management||-path:p -literalpath:l|p|lists needs
Get-Content|Management|-raw|-path:p -literalpath:l -totalcount:n -head:n -first:n -tail:n -last:n|p|needs
Get-Location|Management|||
Get-Process|Management||-name:t|t
Get-FileHash|Utility||-path:p -literalpath:l -algorithm:t|p|needs
Select-String|Utility|-simplematch -casesensitive -list -quiet -allmatches -notmatch|-pattern:t -path:p -literalpath:l -context:n|t p|needs
Get-Date|Utility||-format:t -uformat:t|
Write-Output|Utility|||t+
Select-Object|Utility|-unique|-first:n -last:n -skip:n -property:t -expandproperty:t|t|follows
Sort-Object|Utility|-descending -unique|-property:t|t|follows
Group-Object|Utility|-noelement|-property:t|t|follows
Measure-Object|Utility|-line -word -character -sum -average -maximum -minimum|-property:t|t|follows
Format-Table|Utility|-autosize -wrap -hidetableheaders|-property:t|t|follows
Format-List|Utility||-property:t|t|follows
Out-String|Utility||-width:n||follows
ConvertTo-Json|Utility|-compress|-depth:n||follows
`

var cmdlets = sync.OnceValue(func() map[string]*cmdlet {
	all := make(map[string]*cmdlet)
	for line := range strings.Lines(strings.TrimSpace(table)) {
		f := append(strings.Split(strings.TrimSpace(line), "|"), "", "")
		marks := " " + f[5] + " "
		all[strings.ToLower(f[0])] = &cmdlet{
			name: f[0], module: "Microsoft.PowerShell." + f[1], switches: f[2], values: f[3], positions: f[4],
			lists: strings.Contains(marks, " lists "), here: strings.Contains(marks, " here "),
			follows: strings.Contains(marks, " follows "), needsPath: strings.Contains(marks, " needs "),
		}
	}
	return all
})

// A proof describes a command known to be read-only: the form to run and the paths it reads.
type proof struct {
	text  string
	reads []string
}

// proof proves that the command is read-only, or returns the reason why it may not be.
func (c cmd) proof() (proof, error) {
	row := cmdlets()[c.name()]
	if row == nil || strings.ContainsAny(c.words[0].value, `\/:`) {
		return proof{}, fmt.Errorf("adze can't verify that %s only reads", c.words[0].value)
	}
	if c.piped && !row.follows {
		return proof{}, fmt.Errorf("adze can't verify what %s does with its input", row.name)
	}
	p := prover{row: row}
	p.text.WriteString(row.module + `\` + row.name)
	if err := p.words(c.words[1:]); err != nil {
		return proof{}, fmt.Errorf("%s: %w", row.name, err)
	}
	switch {
	case len(p.reads) > 0:
	case row.needsPath:
		return proof{}, fmt.Errorf("%s: there is no path", row.name)
	case row.here:
		p.reads = []string{"."}
	}
	return proof{p.text.String(), p.reads}, nil
}

// A prover checks the words of a command.
type prover struct {
	row   *cmdlet
	text  strings.Builder
	reads []string
	seen  map[string]bool
}

func (p *prover) words(words []word) error {
	p.seen = make(map[string]bool)
	positions := strings.Fields(p.row.positions)
	for i := 0; i < len(words); i++ {
		w := words[i]
		if strings.HasPrefix(w.value, "-") {
			if w.quoted {
				return fmt.Errorf("the value %s looks like a parameter", w.value)
			}
			kind, err := p.parameter(w.value)
			if err != nil {
				return err
			}
			if kind == "" {
				continue
			}
			if i++; i == len(words) || strings.HasPrefix(words[i].value, "-") {
				return fmt.Errorf("%s has no value", w.value)
			}
			if err := p.value(kind, words[i].value); err != nil {
				return err
			}
			continue
		}
		if len(positions) == 0 {
			return fmt.Errorf("%s is one value too many", w.value)
		}
		kind, again := strings.CutSuffix(positions[0], "+")
		if !again {
			positions = positions[1:]
		}
		if err := p.value(kind, w.value); err != nil {
			return err
		}
	}
	return nil
}

// parameter checks a parameter and returns the kind of its value, or "" for a switch.
func (p *prover) parameter(given string) (kind string, err error) {
	name := strings.ToLower(given)
	if p.seen[name] {
		return "", fmt.Errorf("%s is there twice", given)
	}
	p.seen[name] = true
	if name == "-erroraction" {
		kind = "e"
	}
	for v := range strings.FieldsSeq(p.row.values) {
		if n, k, _ := strings.Cut(v, ":"); n == name {
			kind = k
		}
	}
	if kind == "" && !setOf(p.row.switches)(name) {
		return "", fmt.Errorf("adze can't verify that %s only reads", given)
	}
	p.text.WriteString(" " + name)
	return kind, nil
}

// value checks a value.
func (p *prover) value(kind, v string) error {
	switch kind {
	case "n":
		if v == "" || strings.Trim(v, "0123456789") != "" || len(v) > 9 {
			return fmt.Errorf("%s is not a number", v)
		}
	case "e":
		if !setOf("silentlycontinue ignore continue stop")(strings.ToLower(v)) {
			return fmt.Errorf("adze can't verify that -ErrorAction %s only reads", v)
		}
	case "p", "l":
		if err := p.path(v, kind == "l"); err != nil {
			return err
		}
	}
	p.text.WriteString(" " + quote(v))
	return nil
}

// path checks a file system path and records that it is read.
func (p *prover) path(v string, literal bool) error {
	rest := v
	if len(v) > 1 && v[1] == ':' {
		if drive := v[0] | 0x20; drive < 'a' || drive > 'z' || len(v) < 3 || v[2] != '\\' && v[2] != '/' {
			return fmt.Errorf("%s is not a path of the file system", v)
		}
		rest = v[2:]
	}
	switch {
	case v == "" || strings.TrimSpace(v) != v:
		return fmt.Errorf("%q is not understood as a path", v)
	case strings.Contains(rest, ":"):
		return fmt.Errorf("%s may be something else than a file", v) // Env:, HKLM:, Provider::, file:stream
	case len(v) > 1 && strings.IndexByte(`\/`, v[0]) >= 0 && strings.IndexByte(`\/`, v[1]) >= 0:
		return fmt.Errorf("%s may be on another machine", v)
	case v[0] == '~':
		return fmt.Errorf("%s is the result of an expansion", v)
	case strings.ContainsAny(v, "[]`,"):
		return fmt.Errorf("%s may stand for other files", v)
	}
	at := strings.IndexAny(v, "*?")
	switch {
	case at < 0:
		p.reads = append(p.reads, v)
		return nil
	case !p.row.lists || literal:
		return fmt.Errorf("%s may stand for other files", v)
	}
	dir := v[:strings.LastIndexAny(v[:at], `\/`)+1]
	if strings.ContainsAny(v[at:], `\/`) {
		return fmt.Errorf("%s may stand for other directories", v)
	}
	if dir == "" {
		dir = "."
	}
	p.reads = append(p.reads, dir)
	return nil
}

// quote returns v as a quoted word. A simple line contains no quotes other than ASCII ones.
func quote(v string) string { return "'" + strings.ReplaceAll(v, "'", "''") + "'" }
