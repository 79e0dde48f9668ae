package memory

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"adze/internal/domain/agentdef"
	"adze/internal/domain/memdir"
	"adze/internal/platform/fs/fsys"
	"adze/internal/settings"
)

// agentFolder returns an agent's memory directory and a function that creates it. A directory
// in the project requires trust, since its content is sent to the model, and must not lead out
// of the project.
func agentFolder(p *settings.Project, d *agentdef.Definition) (memdir.Folder, func() error, error) {
	name := strings.ReplaceAll(d.Name, ":", "-") // plugin agent names contain colons
	if d.Memory == agentdef.UserMemory {
		dir := filepath.Join(p.Home, "agent-memory", name)
		return memdir.Folder{Dir: dir}, func() error { return fsys.MkdirPrivate(dir) }, nil
	}
	if !p.Trust.Trusted() {
		return memdir.Folder{}, nil, fmt.Errorf("the agent %s keeps its memory in the project, which is not trusted", d.Name)
	}
	folder := "agent-memory"
	if d.Memory == agentdef.LocalMemory {
		folder = "agent-memory-local"
	}
	own := p.In(p.Trust.Root)
	dir := filepath.Join(own, folder, name)
	for _, dir := range []string{own, filepath.Dir(dir), dir} {
		if info, err := os.Lstat(dir); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			return memdir.Folder{}, nil, fmt.Errorf("the agent %s cannot keep its memory in %s, which is a link", d.Name, dir)
		}
	}
	return memdir.Folder{Dir: dir}, func() error { return os.MkdirAll(dir, 0o755) }, nil
}
