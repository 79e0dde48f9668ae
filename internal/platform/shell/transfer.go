package shell

import "strings"

// A Transfer describes the files that a copy, move or link command puts at the given path, or
// in the directory there.
type Transfer struct {
	Sources []Word
	// Inside is true if the path must be a directory, Itself if it is not treated as one;
	// otherwise that depends on the file system.
	Inside, Itself bool
	// Parents is true if the sources keep their directory names.
	Parents bool
	// Tree is true if directories are transferred recursively.
	Tree bool
	// Keeps is true if links are copied as links.
	Keeps bool
	// Alias is true if the sources stay and get another name. A Symbolic alias is relative to
	// its location.
	Alias, Symbolic bool
	// Suffix is appended to the names of backups of replaced files, or "".
	Suffix string
}

// Programs that copy or move files, with all options permitted in a simple file command.
var transferTable = []program{
	{name: "cp", files: "R", options: `
		-a -b -c -d -f -i -H -l -L -n -N -P -p -R -r -s -S:N -t:D -T -u -v -x -X --archive --attributes-only --backup:n --copy-contents
		--debug --dereference --force --interactive --keep-directory-symlink --link --no-clobber --no-dereference
		--no-preserve:N --no-target-directory --one-file-system --parents --preserve:n --recursive --reflink:n
		--remove-destination --sparse:N --strip-trailing-slashes --suffix:N --symbolic-link --target-directory:D
		--update:n --verbose`},
	{name: "mv", files: "R", options: `
		-b -f -h -i -n -S:N -t:D -T -u -v --backup:n --debug --force --interactive --no-clobber --no-copy --no-target-directory
		--strip-trailing-slashes --suffix:N --target-directory:D --update:n --verbose`},
	{name: "ln", files: "R", options: `
		-b -d -F -f -h -i -L -n -P -r -s -S:N -t:D -T -v -w --backup:n --directory --force --interactive --logical --no-dereference
		--physical --relative --symbolic --suffix:N --target-directory:D --no-target-directory --verbose`},
	{name: "install", files: "R", options: `
		-b -c -C -d -D -g:N -m:N -M -o:N -p -s -S:N -t:D -T -v -f:N -B:N -l:N -U -h:N -N:N --backup:n --compare --directory
		--group:N --mode:N --owner:N --preserve-timestamps --strip --strip-program:X --suffix:N --target-directory:D
		--no-target-directory --verbose`},
	{name: "rsync", files: "R", effects: syncOutputs, options: `
		-e:X -T:D -f:N -B:N -M:N -@:N --rsh:X --rsync-path:X --temp-dir:D --backup-dir:D --partial-dir:D --log-file:W --write-batch:W
		--only-write-batch:W --read-batch:X --early-input:R --files-from:R --exclude-from:R --include-from:R
		--password-file:R --exclude:N --include:N --filter:N --suffix:N --chmod:N --chown:N --usermap:N --groupmap:N
		--bwlimit:N --timeout:N --contimeout:N --port:N --address:N --out-format:N --info:N --debug:N --block-size:N
		--max-size:N --min-size:N --max-delete:N --modify-window:N --compare-dest:R --copy-dest:R --link-dest:R
		--compress-level:N --skip-compress:N --iconv:N --checksum-choice:N --compress-choice:N --outbuf:N --protocol:N
		--checksum-seed:N --sockopts:N --remote-option:N --stop-after:N --stop-at:N --mkpath --config:X
		--archive --recursive --delete --delete-before --delete-during --delete-delay
		--delete-after --delete-excluded --del --remove-source-files --dry-run --verbose --backup --links --inplace`},
	{name: "scp", files: "R", effects: sshPrograms, options: `
		-c:N -D:X -F:X -i:R -J:N -l:N -o:N -P:N -S:X -X:N -r -p -q -v -C -3 -4 -6 -A -B -O -R -s -T`},
}

// transferOf parses the words of a program that copies or moves files. Targets are named by its
// options and its last operand.
func transferOf(words []Word) (t *Transfer, targets []Word, g *parsedArgs) {
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
		targets = g.of("D")
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

// placedBy returns the transfer of a command, with the sources under their local names: without
// the host for remote ones, or unknown if they are transferred recursively. It is nil for other
// commands.
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

// copies returns the paths read, written and removed by commands that have a destination.
func copies(words []Word) []use {
	t, targets, g := transferOf(words)
	from := ReadPath
	if g.name == "mv" {
		from = RemovePath
	}
	var uses []use
	for _, w := range t.Sources {
		// A symbolic link's target is relative to the link and judged with it.
		if !remote(g.name, w.Value) && !t.Symbolic {
			uses = append(uses, use{verb: from, word: w})
		}
	}
	if len(t.Sources) == 0 && len(targets) == 0 {
		uses = all(from, g.operands)
	}
	for _, w := range targets {
		if !remote(g.name, w.Value) {
			uses = append(uses, use{verb: WritePath, word: w})
		}
	}
	return uses
}

// remote reports whether an operand names a file on another machine.
func remote(program, operand string) bool {
	host, _, ok := strings.Cut(operand, ":")
	return ok && (program == "rsync" || program == "scp") && !strings.Contains(host, "/")
}

// FileCommand reports whether p only creates, moves or copies files, with known options. The
// affected paths are in [Part.Paths].
func (p *Part) FileCommand() bool {
	if len(p.Assigns) > 0 || len(p.Words) < 2 {
		return false
	}
	switch name := p.Words[0].Value; name {
	case "mkdir", "touch", "mv", "cp":
		g := manualOf(name).parse(name, p.Words[1:])
		return g.unknown == "" && !g.pattern
	}
	return false
}
