package rule

import (
	"os"
	"path/filepath"
	"testing"
)

// TestLinkedDirectoriesF9 checks that a rule that denies a symlink denies its target, even if
// the link appears or changes later (F9).
//
// Proves PERM-30.
func TestLinkedDirectoriesF9(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"real/sub", "other/sub", "third"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	link := func(target, name string) {
		t.Helper()
		os.Remove(filepath.Join(root, name)) // ok: it may not be there
		if err := os.Symlink(target, filepath.Join(root, name)); err != nil {
			t.Fatal(err)
		}
	}
	link("real", "cfg")
	table := func(content string) *Table {
		r, err := Parse("Read(" + content + ")")
		if err != nil {
			t.Fatal(err)
		}
		r.Behavior = Deny
		return NewTable([]Rule{r}, &Anchors{Start: root, Dir: root})
	}
	denied := func(table *Table, name string) bool {
		return table.Deny.Reads.Match(filepath.Join(root, name), nil) != nil
	}
	for _, content := range []string{"cfg", "./cfg", "cfg/", "cfg/**", "./cfg/**", "cfg/**/**", "cfg/*", "cfg/key", "./x/../cfg/key", "cfg//key", "./cfg/./key", "../" + filepath.Base(root) + "/cfg/**", "/" + root + "/cfg/**"} {
		if !denied(table(content), "real/key") {
			t.Errorf("Read(%s) does not hold for real/key", content)
		}
		if denied(table(content), "other/key") {
			t.Errorf("Read(%s) speaks of other/key", content)
		}
	}
	if !denied(table("cfg/sub/**"), "real/sub/key") || !denied(table("cfg/missing/key"), "real/missing/key") {
		t.Error("a rule below a link does not hold")
	}

	// A chain of links, a link to a link in another directory.
	link("cfg", "first")
	link("../first", "third/second")
	if !denied(table("third/second/**"), "real/key") {
		t.Error("a rule for a chain of links does not hold")
	}

	// Changes are detected.
	rules := table("later/**")
	if rules.Stale() || denied(rules, "real/key") {
		t.Error("a rule speaks of a link that is not there")
	}
	link("real", "later")
	if !rules.Stale() {
		t.Error("a link that appears is not noticed")
	}
	rules = table("later/**")
	if rules.Stale() || !denied(rules, "real/key") {
		t.Error("a rule does not hold for a link that appeared")
	}
	link("other", "later")
	if !rules.Stale() {
		t.Error("a link that changes is not noticed")
	}
	rules = table("third/second/**")
	link("other", "cfg")
	if !rules.Stale() {
		t.Error("a link that a link leads to is not noticed")
	}
	if rules = table("third/second/**"); rules.Stale() || !denied(rules, "other/sub/key") {
		t.Error("a rule does not hold for a link that changed")
	}
	link("cfg2", "cfg2")
	if denied(table("cfg2/**"), "other/key") {
		t.Error("a link to itself leads somewhere")
	}
}
