package shell

import "strings"

// A Transfer is what a command that copies, moves or links puts at the path it is given, or in the
// directory that is there.
type Transfer struct {
	Sources []Word
	// Inside says that the path is a directory, Itself that it is not taken for one; else it is if it is one.
	Inside, Itself bool
	// Parents says that the sources keep the directories they are named with.
	Parents bool
	// Tree says that directories are taken with what is below them.
	Tree bool
	// Keeps says that a link is taken as a link, not as what it leads to.
	Keeps bool
	// Alias says that the sources stay, and get another name. A symbolic one is relative to where it is.
	Alias, Symbolic bool
	// Suffix is what is added to the names of files that are kept before they are replaced, or "".
	Suffix string
}

// The programs that put files somewhere, with every option they may have in a simple file command.
var transferTable = []usage{
	{name: "cp", operands: "R", options: `
		-a -b -c -d -f -i -H -l -L -n -N -P -p -R -r -s -S:N -t:D -T -u -v -x -X --archive --attributes-only --backup:n --copy-contents
		--debug --dereference --force --interactive --keep-directory-symlink --link --no-clobber --no-dereference
		--no-preserve:N --no-target-directory --one-file-system --parents --preserve:n --recursive --reflink:n
		--remove-destination --sparse:N --strip-trailing-slashes --suffix:N --symbolic-link --target-directory:D
		--update:n --verbose`},
	{name: "mv", operands: "R", options: `
		-b -f -h -i -n -S:N -t:D -T -u -v --backup:n --debug --force --interactive --no-clobber --no-copy --no-target-directory
		--strip-trailing-slashes --suffix:N --target-directory:D --update:n --verbose`},
	{name: "ln", operands: "R", options: `
		-b -d -F -f -h -i -L -n -P -r -s -S:N -t:D -T -v -w --backup:n --directory --force --interactive --logical --no-dereference
		--physical --relative --symbolic --suffix:N --target-directory:D --no-target-directory --verbose`},
	{name: "install", operands: "R", options: `
		-b -c -C -d -D -g:N -m:N -M -o:N -p -s -S:N -t:D -T -v -f:N -B:N -l:N -U -h:N -N:N --backup:n --compare --directory
		--group:N --mode:N --owner:N --preserve-timestamps --strip --strip-program:X --suffix:N --target-directory:D
		--no-target-directory --verbose`},
	{name: "rsync", operands: "R", more: syncOutputs, options: `
		-e:X -T:D -f:N -B:N -M:N -@:N --rsh:X --rsync-path:X --temp-dir:D --backup-dir:D --partial-dir:D --log-file:W --write-batch:W
		--only-write-batch:W --read-batch:X --early-input:R --files-from:R --exclude-from:R --include-from:R
		--password-file:R --exclude:N --include:N --filter:N --suffix:N --chmod:N --chown:N --usermap:N --groupmap:N
		--bwlimit:N --timeout:N --contimeout:N --port:N --address:N --out-format:N --info:N --debug:N --block-size:N
		--max-size:N --min-size:N --max-delete:N --modify-window:N --compare-dest:R --copy-dest:R --link-dest:R
		--compress-level:N --skip-compress:N --iconv:N --checksum-choice:N --compress-choice:N --outbuf:N --protocol:N
		--checksum-seed:N --sockopts:N --remote-option:N --stop-after:N --stop-at:N --mkpath --config:X
		--archive --recursive --delete --delete-before --delete-during --delete-delay
		--delete-after --delete-excluded --del --remove-source-files --dry-run --verbose --backup --links --inplace`},
	{name: "scp", operands: "R", more: sshPrograms, options: `
		-c:N -D:X -F:X -i:R -J:N -l:N -o:N -P:N -S:X -X:N -r -p -q -v -C -3 -4 -6 -A -B -O -R -s -T`},
}

// transferOf reads the words of a program that puts files somewhere. Targets are what its options and its
// last operand name.
func transferOf(words []Word) (t *Transfer, targets []Word, g *given) {
	name := baseName(words[0].Value)
	switch name {
	case "cp", "mv", "ln", "install", "rsync", "scp":
	default:
		return nil, nil, nil
	}
	m := manualOf(name)
	g = m.parse(name, words[1:])
	t = &Transfer{
		Itself:   g.has("-T", "--no-target-directory"),
		Parents:  g.has("--parents"),
		Tree:     name == "mv" || name == "rsync" || g.has("-r", "-R", "-a", "--recursive", "--archive"),
		Alias:    name == "ln" || g.has("-l", "-s", "--link", "--symbolic-link") && name == "cp",
		Symbolic: g.has("-s", "--symbolic", "--symbolic-link") && !(name == "ln" && g.has("-r", "--relative")),
	}
	t.Keeps = name == "mv" || name == "rsync" || name == "cp" && (t.Tree || g.has("-P", "-d", "--no-dereference"))
	if g.has("-b", "--backup", "-S", "--suffix") && name != "rsync" && name != "scp" {
		t.Suffix = "~"
		if suffix, ok := g.value("-S", "--suffix"); ok {
			t.Suffix = suffix.Value
		}
	}
	if name != "rsync" && name != "scp" {
		targets = g.of('D')
	}
	switch n := len(g.operands); {
	case len(targets) > 0:
		t.Sources, t.Inside = g.operands, true
	case name == "install" && g.has("-d", "--directory"):
		return &Transfer{Itself: true}, g.operands, g
	case n == 1 && name == "ln":
		t.Sources, targets, t.Inside = g.operands, []Word{plainWord(".")}, true
	case n > 1:
		last := g.operands[n-1]
		t.Sources, targets = g.operands[:n-1], []Word{last}
		t.Inside = n > 2 || strings.HasSuffix(last.Value, "/") || last.Value == "." || last.Value == ".." || strings.HasSuffix(last.Value, "/.")
	}
	if t.Itself {
		t.Inside = false
	}
	return t, targets, g
}

// placedBy returns the transfer of a command, with the sources by their names here: without the machine, if they are
// of another, or not known, if what is below them comes along. It is nil for other commands.
func placedBy(words []Word) *Transfer {
	t, _, g := transferOf(words)
	if t == nil {
		return nil
	}
	for i, w := range t.Sources {
		if !remote(g.name, w.Value) {
			continue
		}
		_, file, _ := strings.Cut(w.Value, ":")
		t.Sources[i] = plainWord(file)
		if t.Tree || strings.ContainsAny(file, "*?[") {
			t.Sources[i] = Word{Value: w.Value, Text: w.Text, why: "it is on another machine"}
		}
	}
	return t
}

// copies returns what is read, written and removed by commands that have a destination.
func copies(words []Word) []use {
	t, targets, g := transferOf(words)
	from := ReadPath
	if g.name == "mv" {
		from = RemovePath
	}
	var uses []use
	for _, w := range t.Sources {
		// What a symbolic link names is relative to the link, and judged with it.
		if !remote(g.name, w.Value) && !t.Symbolic {
			uses = append(uses, use{from, w})
		}
	}
	if len(t.Sources) == 0 && len(targets) == 0 {
		uses = all(from, g.operands)
	}
	for _, w := range targets {
		if !remote(g.name, w.Value) {
			uses = append(uses, use{WritePath, w})
		}
	}
	return uses
}

// remote reports whether an operand names a file of another machine.
func remote(program, operand string) bool {
	host, _, ok := strings.Cut(operand, ":")
	return ok && (program == "rsync" || program == "scp") && !strings.Contains(host, "/")
}

// FileCommand reports whether p makes, moves or copies files and does nothing else, with options that
// are all known. What it touches is among its [Part.Paths].
func (p *Part) FileCommand() bool {
	if len(p.Assigns) > 0 || len(p.Words) < 2 {
		return false
	}
	switch name := p.Words[0].Value; name {
	case "mkdir", "touch", "mv", "cp":
		return manualOf(name).parse(name, p.Words[1:]).unknown == ""
	}
	return false
}
