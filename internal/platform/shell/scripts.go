package shell

import (
	"strings"

	"adze/internal/platform/shell/awk"
	"adze/internal/platform/shell/sed"
)

// sedOutputs returns the files that sed edits in place and the files that its commands write.
func sedOutputs(g *parsedArgs) []use {
	var scripts []string
	ops := g.operands
	for _, o := range g.options {
		if o.name == "-e" || o.name == "--expression" {
			scripts = append(scripts, o.value.Value)
		}
	}
	if len(scripts) == 0 && !g.has("-f", "--file") && len(ops) > 0 {
		scripts, ops = []string{ops[0].Value}, ops[1:]
	}
	var uses []use
	for _, o := range g.options {
		if o.name != "-i" && o.name != "--in-place" && o.name != "-I" {
			continue
		}
		for _, w := range ops {
			uses = append(uses, use{WritePath, w})
			if suffix := o.value.Value; suffix != "" {
				uses = append(uses, backup(w, suffix))
			}
		}
	}
	script, err := sed.Parse(strings.Join(scripts, "\n"))
	if script.Runs || err != nil {
		g.runs("a command of its script")
	}
	for _, file := range script.Writes {
		if file != "/dev/stdout" && file != "/dev/stderr" {
			uses = append(uses, use{WritePath, plainWord(file)})
		}
	}
	return uses
}

// backup returns the backup that sed makes of a file: its name with a suffix, or substituted
// for a star.
func backup(w Word, suffix string) use {
	if w.Glob || !w.Static {
		return somewhere("backups of the files it edits")
	}
	dir, base := "", w.Value
	if i := strings.LastIndexByte(base, '/'); i >= 0 {
		dir, base = base[:i+1], base[i+1:]
	}
	name := base + suffix
	if strings.Contains(suffix, "*") {
		name = strings.ReplaceAll(suffix, "*", base)
	}
	if !strings.Contains(name, "/") {
		name = dir + name
	}
	return use{WritePath, plainWord(name)}
}

// awkOutputs returns the files that an awk program writes or edits in place.
func awkOutputs(g *parsedArgs) []use {
	ops := g.operands
	var programs []string
	for _, o := range g.options {
		if o.name == "-e" || o.name == "--source" {
			programs = append(programs, o.value.Value)
		}
	}
	if len(programs) == 0 && !g.has("-f", "--file", "-E", "--exec") && len(ops) > 0 {
		programs, ops = []string{ops[0].Value}, ops[1:]
	}
	var uses []use
	for _, o := range g.options {
		if (o.name == "-i" || o.name == "--include") && strings.HasPrefix(o.value.Value, "inplace") {
			uses = append(uses, all(WritePath, ops)...)
		}
	}
	for _, program := range programs {
		p := awk.Parse(program)
		if p.Runs || p.Reads {
			g.runs("a command of its program")
		}
		for _, file := range p.Writes {
			uses = append(uses, use{WritePath, plainWord(file)})
		}
		if p.Computes {
			uses = append(uses, somewhere("files that its program names"))
		}
	}
	return uses
}
