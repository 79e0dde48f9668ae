package tool

// Commander speaks for a command in a language that only its tool reads; absent = what the call executes
// is a line of shell.
type Commander interface{ Command() Command }

// A Command is what rules need to know about a command in a language that only its tool reads.
type Command struct {
	// Doubt is why the command is not known to only read; nil if it is. What it reads is then in the
	// call's accesses.
	Doubt error
	// Dynamic says that which programs it runs may be known only when it runs.
	Dynamic bool
	// Mentions are all words of it, any of which may be a path. Packs says that what is below a directory
	// goes with it.
	Mentions []string
	Packs    bool
	// Removes is what it may remove, Unsure that there may be more.
	Removes []string
	Unsure  bool
	// Suggest are contents of rules that would allow it.
	Suggest []string
	// Warning is a line to show with what cannot be undone; empty means none.
	Warning string

	// Suspected reports whether a rule that denies or asks speaks of anything in it, and of what.
	Suspected func(content string) (text string, ok bool)
	// Covered reports whether rules that allow cover all of it.
	Covered func(contents []string) bool
}
