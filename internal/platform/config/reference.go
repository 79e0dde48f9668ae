package config

import "strings"

// Reference returns the keys as a table in Markdown, for the page that is generated from it.
func Reference(keys []Key) string {
	var b strings.Builder
	b.WriteString("| Key or variable | Default | Accepted | Meaning | Requirement |\n|---|---|---|---|---|\n")
	for i := range keys {
		k := &keys[i]
		var names []string
		if k.Name != "" {
			names = append(names, "`"+k.Name+"`")
		}
		for _, name := range k.Aliases {
			names = append(names, "`"+name+"`")
		}
		for _, name := range k.Env {
			names = append(names, "`"+name+"`")
		}
		def := "none"
		if k.Default != "" {
			def = "`" + k.Default + "`"
		}
		doc := k.Doc
		if k.Personal {
			doc += " *(personal)*"
		}
		for _, cell := range []string{strings.Join(names, ", "), def, k.accepted(), doc, k.Requirement} {
			b.WriteString("| ")
			b.WriteString(strings.ReplaceAll(cell, "|", `\|`))
			b.WriteString(" ")
		}
		b.WriteString("|\n")
	}
	return b.String()
}
