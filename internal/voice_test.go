package internal_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// constructions match phrases that make comments and texts hard to read. docs/glossary.md has
// the alternatives. Single hits are fine: only the share of comments and strings counts.
var constructions = []*regexp.Regexp{
	regexp.MustCompile(`(?i)\bwhat(ever)?\b.*[^?]$`),
	regexp.MustCompile(`(?i)\b(says?|said|tells?) (that|why|which|whether|what|how|who|where|so)\b`),
	regexp.MustCompile(`(?i)\b(is|are|was|were|be|been|being) (not |never |also |only |then |still )?(told|asked|heard|said)\b`),
	regexp.MustCompile(`(?i)\b(is|are|was|were) (no|none)\b`),
	regexp.MustCompile(`(?i)\bthose (that|of|which|who|in|with|whose)\b`),
	regexp.MustCompile(`(?i)\b(than|is|are|as|with|by|to|and|from|like|but) that of\b`),
	regexp.MustCompile(`(?i)\bones? (that|which|who|whose|of)\b`),
	regexp.MustCompile(`(?i)\b(besides?|meanwhile)\b`),
	regexp.MustCompile(`(?i)\bof (the|a|an|its|their|each) \w+ of (the|a|an|its|their|each)\b`),
}

// fragment matches comments that only make sense after the name they follow.
var fragment = regexp.MustCompile(`^(of|that|which|who|whose|with|without|in|on|for|from|by|to|as|at|those|what|whether|where|if|when|it|they|this|these|than|and|or|but|not) `)

func stilted(text string) bool {
	text = strings.Join(strings.Fields(text), " ")
	for _, c := range constructions {
		if c.MatchString(text) {
			return true
		}
	}
	return false
}

// TestVoice limits the share of comments and strings, tests included, that contain one of the
// constructions. The limits may only be lowered.
func TestVoice(t *testing.T) {
	const maxComments, maxStrings = 1.0, 1.5 // percent
	var comments, badComments, texts, badTexts float64
	err := filepath.WalkDir("..", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") && d.Name() != "..") {
			return fs.SkipDir
		}
		if filepath.Ext(name) != ".go" {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, group := range file.Comments {
			text := group.Text()
			comments++
			if stilted(text) || fragment.MatchString(text) {
				badComments++
			}
		}
		ast.Inspect(file, func(n ast.Node) bool {
			lit, ok := n.(*ast.BasicLit)
			if !ok || lit.Kind != token.STRING {
				return true
			}
			if s, err := strconv.Unquote(lit.Value); err == nil && len(strings.Fields(s)) > 1 {
				texts++
				if stilted(s) {
					badTexts++
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if share := 100 * badComments / comments; share > maxComments {
		t.Errorf("%.1f %% of %.0f comments contain a construction of docs/glossary.md, more than %.1f %%", share, comments, maxComments)
	}
	if share := 100 * badTexts / texts; share > maxStrings {
		t.Errorf("%.1f %% of %.0f strings contain a construction of docs/glossary.md, more than %.1f %%", share, texts, maxStrings)
	}
}
