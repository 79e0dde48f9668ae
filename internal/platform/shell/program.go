package shell

import (
	"strings"
	"sync"
)

// A program is a row of the table of programs: what a program does with its words. A program
// may be in one row of the readers, in one of the writers, and in any number of other rows; its
// [entry] has the columns of all of them. Rows of git and a few others include the sub-command
// in their name.
//
// Options are words: "-v" has no value, "-o:W" has a value, in the next word or after the
// option. The letter is the kind of value; a lower-case letter means that the value is optional
// and never in the next word:
//
//	R  a file that is read
//	W  a file that is written
//	D  a directory in which files are written
//	E  a directory in which the program works
//	X  a program that is run, or a file with options, commands or code
//	F  likewise, but as intended by the program: another makefile, another configuration
//	A  text, or @ and a file that is read
//	N  anything else
//	2  any two words
//	Q  a word, and a file that is read
//
// "-#" is a number as an option (head -20). An unlisted short option has no value.
type program struct {
	name string
	// reads lists the options with which the program only reads, options its others.
	reads, options string
	style          style
	stops          bool // options end at the first operand

	// Columns of readers.
	class    Class
	operands operands
	check    func(*parsedArgs) error // further check, or nil
	// checkJailed replaces check in a jail if it is not nil. It may accept what the jail prevents.
	checkJailed func(*parsedArgs) error
	must        string // required options, any of which suffices, or empty
	// plain is true if a command with literal words needs no jail: the program has no listed
	// option, and no configuration, that makes it do more than read.
	plain bool
	// needsJail lists the words with which a plain program reads files that its words do not
	// name, or follows links out of the given tree.
	needsJail string
	// runs is true if the program has options with which it runs or loads something else: none
	// of its words may become such an option at run time.
	runs bool
	// needs lists the needs in a jail in addition to the program itself, helpers the programs
	// that it executes.
	needs   need
	helpers string

	// Columns of all programs.
	traits Traits
	// effect is what a command may do that is not read-only, for the permission prompt.
	effect effect
	// wraps is non-nil if the program runs the command after its own words.
	wraps *wrapper
	// code lists the options whose value is executed as shell code.
	code string
	// inner lists the sub-commands and options with which a quiet program executes its operands.
	inner string
	// verbs is the number of leading words that determine the program's action.
	verbs int
	// inline lists the options of an interpreter whose value is its program, alone the options
	// without a value that may precede it.
	inline, alone string
	// names lists the prefixes of words that make the program read file names from elsewhere.
	names string

	// Columns of writers.
	// files has a letter for each operand, the last of them for all that follow; empty if they
	// are not files that are written.
	files   string
	effects func(*parsedArgs) []use // returns further uses, or nil
}

// Traits are properties of a program.
type Traits uint32

// Traits.
const (
	Shell         Traits = 1 << iota // a shell
	TakesScript                      // takes the text of a script, which may name files
	AnyCode                          // an interpreter: a rule for it with a star allows any code
	RunsWords                        // runs its arguments as a command
	Quiet                            // never executes its arguments, with the exceptions in inner
	TakesData                        // treats its input as data
	Prints                           // only prints its arguments
	FileWords                        // accepts files in words that contain more than a path
	Response                         // treats @file as a file of options and operands
	Packs                            // archives or copies whole directories
	Searches                         // searches the current directory if it is given no other
	SearchesDeep                     // likewise, with the option for recursion
	Lists                            // reads only the names in a directory that it is given
	FollowsLinks                     // follows links in a directory that it is given
	Deletes                          // deletes remote resources with some of its verbs
	database                         // a database client
	operandsKnown                    // its operands are in [Part.Paths], or are not paths on this machine
	runsText                         // runs text or words that it reads
	isAwk                            // an awk
	readsCode                        // always executes its input
	wrapperProved                    // proves understands what it runs
)

// Is reports whether a program has any of the traits. The name may include its directory.
func Is(program string, traits Traits) bool {
	e := programs()[baseName(program)]
	return e != nil && e.traits&traits != 0
}

// ReadsNames reports whether a word makes a program read file names from elsewhere.
func ReadsNames(program, word string) bool {
	for prefix := range strings.FieldsSeq(columns(program).names) {
		if prefix == "*" || strings.HasPrefix(word, prefix) {
			return true
		}
	}
	return false
}

// columns returns the columns of a program, which are empty for an unknown one.
func columns(name string) *program {
	if e := programs()[name]; e != nil {
		return &e.program
	}
	return new(program)
}

// A need is a resource that a command needs in a jail.
type need uint8

const (
	builtin   need = 1 << iota // implemented by the shell, not a program
	processes                  // all processes, mounts or devices
	network                    // sockets and interfaces
)

// operands is the kind of a reader's other words.
type operands uint8

const (
	paths     operands = iota // files and directories that are read
	onePath                   // a single path: a second would be written
	texts                     // text, no files
	none                      // no operands permitted
	pattern                   // text, unless an option gives it, then paths
	script                    // text, then paths
	anything                  // check interprets the words
	revisions                 // git revisions or paths
	archive                   // a path, then names inside it
	scripts                   // paths of programs that it may run or only read
)

// A style is the syntax of a program's options.
type style uint8

const (
	getopt   style = iota // -o FILE -oFILE -vo FILE --output FILE --output=FILE --outp=FILE
	oneDash               // -out FILE -out=FILE --out FILE
	compiler              // -o FILE -oFILE -include FILE
)

// An entry has all that is known about a program. Its options are parsed on first lookup.
type entry struct {
	program
	reader bool // it only reads with the options in reads
	writer bool // its outputs are known
	// partial is true if only the files that it runs and reads are known: it may write more than
	// its options show.
	partial bool

	parsed  sync.Once
	kinds   map[string]byte // kind of each option's value, or 0
	reading map[string]bool // options in reads
}

var (
	readers = [][]program{
		searchTable, readTable, systemTable, listTable, neutralTable, gitTable, toolTable,
		textTable, archiveTable, binaryTable, machineTable, packageTable, versionTable, builtinTable,
	}
	writers = [][]program{transferTable, outputTable, runTable}
	others  = [][]program{traitTable, wrapperTable, codeTable}
)

// programs returns the table of programs by name.
var programs = sync.OnceValue(func() map[string]*entry {
	all := make(map[string]*entry, 1024)
	entryOf := func(name string) *entry {
		if name != "lsb_release" && name != "vm_stat" && name != "sw_vers" { // no sub-commands
			name = strings.ReplaceAll(name, "_", " ")
		}
		if all[name] == nil {
			all[name] = new(entry)
		}
		return all[name]
	}
	for _, table := range readers {
		for _, row := range table {
			for name := range strings.FieldsSeq(row.name) {
				*entryOf(name) = entry{program: row, reader: true}
			}
		}
	}
	for _, table := range others {
		for _, row := range table {
			for name := range strings.FieldsSeq(row.name) {
				entryOf(name).add(&row)
			}
		}
	}
	for i, table := range writers {
		for _, row := range table {
			for name := range strings.FieldsSeq(row.name) {
				e := entryOf(name)
				e.writer, e.partial = true, i == 2
				e.options, e.style, e.stops, e.files, e.effects = row.options, row.style, row.stops, row.files, row.effects
			}
		}
	}
	return all
})

// add adds the columns of all programs of a row.
func (e *entry) add(row *program) {
	e.traits |= row.traits
	e.effect = max(e.effect, row.effect)
	e.verbs = max(e.verbs, row.verbs)
	if row.wraps != nil {
		e.wraps = row.wraps
	}
	e.code += row.code
	e.inner += row.inner
	e.inline += row.inline
	e.alone += row.alone
	e.names += row.names
}

// find returns the entry of a reader, or nil.
func find(name string) *entry {
	if e := programs()[name]; e != nil && e.reader {
		e.parsed.Do(e.readOptions)
		return e
	}
	return nil
}

// manualOf returns the entry of a writer, or nil.
func manualOf(name string) *entry {
	if e := programs()[name]; e != nil && e.writer {
		return e
	}
	return nil
}

func (e *entry) readOptions() {
	e.kinds, e.reading = make(map[string]byte), make(map[string]bool)
	for i, list := range []string{e.options, e.reads} { // reads is exact
		for option := range strings.FieldsSeq(list) {
			name, kind, ok := strings.Cut(option, ":")
			if e.kinds[name] = 0; ok {
				e.kinds[name] = kind[0]
			}
			if i == 1 {
				e.reading[name] = true
			}
		}
	}
}

// lookup finds a reader's entry and the words that it applies to. A program given by path has
// none: it can be any program.
func lookup(words []Word) (*entry, []Word) {
	name, rest := words[0].Value, words[1:]
	if name != "git" && name != "go" {
		if len(rest) > 0 {
			if e := find(name + " " + rest[0].Value); e != nil {
				return e, rest[1:]
			}
		}
		return find(name), rest
	}
	if name == "git" {
		var ok bool
		if _, rest, ok = gitGlobal(rest); !ok {
			return nil, nil
		}
	}
	for n := min(2, len(rest)); n > 0; n-- { // git stash show before git stash
		full := name
		for _, w := range rest[:n] {
			full += " " + w.Value
		}
		if e := find(full); e != nil {
			return e, rest[n:]
		}
	}
	return nil, nil
}

// usageOf parses a command's words by its program's entry, or returns nil if it is not a
// writer.
func usageOf(words []Word) (*entry, *parsedArgs) {
	name, rest := versionless(baseName(words[0].Value)), words[1:]
	m := manualOf(name)
	if name == "git" {
		rest = rest[min(gitGlobals(values(rest)), len(rest)):]
		if len(rest) > 0 {
			name += " " + rest[0].Value
			rest = rest[1:]
			if sub := manualOf(name); sub != nil {
				m = sub
			}
		}
	}
	if m == nil {
		return nil, nil
	}
	return m, m.parse(name, rest)
}

// versionless returns an interpreter's name without its version.
func versionless(name string) string {
	short := strings.TrimRight(name, "0123456789.")
	switch short {
	case "python", "pip", "pypy", "perl", "ruby", "php", "node", "lua":
		return short
	}
	return name
}

func values(words []Word) []string {
	list := make([]string, len(words))
	for i, w := range words {
		list[i] = w.Value
	}
	return list
}
