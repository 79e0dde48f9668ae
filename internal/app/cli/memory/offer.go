package memory

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"adze/internal/domain/memdir"
	"adze/internal/feature/memory"
	"adze/internal/platform/fs/fsys"
	"adze/internal/platform/term"
	"adze/internal/platform/text/amount"
	"adze/internal/session/store"
	"adze/internal/settings"
	"adze/internal/ui/console"
)

// Declined is the name of the file that records that the user declined to copy other memories.
const Declined = "memory-import-declined"

// Offer asks the user once whether to copy another program's memories for the project. The
// other program's files are never changed.
func Offer(c *console.Console, p *settings.Project, bare bool) error {
	if memory.Off(p, bare) != "" || p.Other == "" || p.Values().Memory.Override.Text != "" {
		return nil
	}
	root := p.Main()
	declined := filepath.Join(store.ProjectDir(p.Home, root), Declined)
	if _, err := os.Lstat(declined); err == nil {
		return nil
	}
	f, claim, _ := memory.Folder(p)
	theirs := memdir.Folder{Dir: filepath.Join(p.Other, "projects", fsys.ProjectKey(root), "memory")}
	n := f.Adoptable(theirs)
	if n == 0 || f.Usable() != nil {
		return nil
	}
	yes, err := c.Confirm(fmt.Sprintf("Another program has %s for this project in %s. Copy them to adze?", amount.Of(n, "memory", "memories"), term.Sanitize(theirs.Dir)))
	if err != nil {
		return err
	}
	if !yes {
		if _, err := store.ClaimProject(p.Home, root); err != nil {
			return err
		}
		return fsys.WriteAtomic(declined, nil, 0o600)
	}
	if err := claim(); err != nil {
		return err
	}
	copied, left, err := f.Adopt(theirs)
	if err != nil {
		return fmt.Errorf("copying memories: %w", err)
	}
	text := amount.Of(copied, "memory", "memories") + " copied to " + f.Dir
	if len(left) > 0 {
		text += "; skipped (not text, too large, or may contain a secret): " + strings.Join(left, ", ")
	}
	return c.Print(term.Sanitize(text) + "\n")
}
