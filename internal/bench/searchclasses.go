package main

import "adze/internal/platform/search"

// A class is a kind of query.
type class struct {
	name  string
	small bool // also run in a small tree
	search.GrepOptions
}

// classes returns the kinds of queries compared, each with its own path through the engine.
func classes() []class {
	lines := func(pattern string) search.GrepOptions {
		return search.GrepOptions{Pattern: pattern, Mode: search.Content, Numbers: true}
	}
	count := func(pattern string) search.GrepOptions {
		return search.GrepOptions{Pattern: pattern, Mode: search.Count}
	}
	files := func(pattern string) search.GrepOptions { return search.GrepOptions{Pattern: pattern} }
	folded := func(o search.GrepOptions) search.GrepOptions { o.IgnoreCase = true; return o }
	spanning := func(o search.GrepOptions) search.GrepOptions { o.Multiline = true; return o }
	around := func(o search.GrepOptions, n int) search.GrepOptions { o.Before, o.After = n, n; return o }
	return []class{
		{"rare literal, files", true, files("errInvalidWrite")},
		{"no match, files", true, files("xyzzyqwertz")},
		{"return, files", true, files("return")},
		{"return, content", true, lines("return")},
		{"return, count", false, count("return")},
		{"Handler, content", true, lines("Handler")},
		{"Handler, 2 lines around", false, around(lines("Handler"), 2)},
		{"-i handler, content", true, folded(lines("handler"))},
		{"-i sockets, count", false, folded(count("sockets"))},
		{"foo|bar|baz, files", false, files("foo|bar|baz")},
		{"foo|bar|baz, content", false, lines("foo|bar|baz")},
		{"TODO|FIXME|XXX|HACK, content", true, lines("TODO|FIXME|XXX|HACK")},
		{`\bfunc\s+\w+Handler\b, content`, true, lines(`\bfunc\s+\w+Handler\b`)},
		{"[A-Z]{3,}_[A-Z]+, content", false, lines("[A-Z]{3,}_[A-Z]+")},
		{"[A-Z]{3,}_[A-Z]+, count", false, count("[A-Z]{3,}_[A-Z]+")},
		{`\w+\s*=\s*\d+, count`, false, count(`\w+\s*=\s*\d+`)},
		{"no literal, content", false, lines(`[a-z]+\d[a-z]+\d[a-z]+`)},
		{`\)\s*\{$, count`, false, count(`\)\s*\{$`)},
		{"classes without a match, files", false, files(`[a-z]{20}\d{5}Q`)},
		{`-U struct \{\n\s+sync\.Mutex, files`, false, spanning(files(`struct \{\n\s+sync\.Mutex`))},
		{"-U if err ... return, content", false, spanning(lines(`if err != nil \{\n\s+return nil, err\n`))},
		{"^package, files", true, files(`^package \w+$`)},
	}
}
