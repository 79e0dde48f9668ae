package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"adze/internal/domain/plugin"
)

// Limits for the overhead that skills and plugins add to a session's first request.
const (
	addedCold      = 2.0  // relative to listing and reading their directories on all cores
	addedWarm      = 2.0  // ms
	addedElsewhere = 10.0 // ms, in a directory without earlier sessions
	addedMemory    = 6.0  // MB
)

// A cost is the resource usage of one run.
type cost struct {
	request time.Duration // exec to the first request
	cpu     time.Duration // CPU time of the whole run
	memory  int64         // peak
}

// costs are the costs of several runs of the same kind.
type costs []cost

// best returns the minimum over the runs, in milliseconds and megabytes.
func (c costs) best() (request, cpu, memory float64) {
	ms := func(of func(cost) time.Duration) float64 {
		least := slices.MinFunc(c, func(a, b cost) int { return int(of(a) - of(b)) })
		return float64(of(least)) / float64(time.Millisecond)
	}
	least := slices.MinFunc(c, func(a, b cost) int { return int(a.memory - b.memory) })
	return ms(func(c cost) time.Duration { return c.request }), ms(func(c cost) time.Duration { return c.cpu }), float64(least.memory) / (1 << 20)
}

// runPlugins measures the overhead that skills and plugins on disk add to a session's first
// request. It compares the best runs with and without them, interleaved, because the machine
// may be shared.
func runPlugins(b *bench, runs int) error {
	full := filepath.Join(b.dir, "full")
	if err := fillHome(full); err != nil {
		return err
	}
	srv, err := newServer("forever\nsay Hello.")
	if err != nil {
		return err
	}
	defer srv.close()
	home := "ADZE_HOME=" + full
	time.Sleep(skillsAge)
	var none, warm, about, elsewhere, cold, version, versionNone costs
	for i := range runs {
		there := b.command(srv, "hello", home)
		there.Dir = filepath.Join(b.dir, fmt.Sprintf("there-%d", i))
		if err := os.Mkdir(there.Dir, 0o755); err != nil {
			return err
		}
		for _, m := range []struct {
			to  *costs
			cmd *exec.Cmd
		}{
			{&none, b.command(srv, "hello")},
			{nil, b.command(srv, "hello", home)}, // writes the indexes
			{&warm, b.command(srv, "hello", home)},
			{&about, b.command(srv, "use a skill that does a thing", home)}, // a prompt that gets skill suggestions
			{&elsewhere, there},                                             // a directory without earlier sessions
			{&cold, b.command(srv, "hello", home)},
			{&versionNone, b.version()},
			{&version, b.version(home)},
		} {
			if m.to == &cold {
				if err := forget(full); err != nil {
					return err
				}
			}
			c, err := measure(srv, m.cmd)
			if err != nil {
				return err
			}
			if m.to != nil {
				*m.to = append(*m.to, c)
			}
		}
	}
	noneRequest, noneCPU, noneMemory := none.best()
	b.report("first request, without skills and plugins", " ms", noneRequest, 0)
	b.report("first request, without them, processor", " ms", noneCPU, 0)
	floor, files, err := readAll(full, runs)
	if err != nil {
		return err
	}
	b.report(fmt.Sprintf("opening, reading and closing their %d files", files), " ms", floor, 0)
	walked := walkAll(full, runs)
	b.report("listing their folders and reading them, on all cores", " ms", walked, 0)
	for _, m := range []struct {
		name          string
		costs         costs
		limit, memory float64
	}{{"with the indexes", warm, addedWarm, addedMemory}, {"about skills", about, addedWarm, addedMemory},
		{"in a new directory", elsewhere, addedElsewhere, 0}, {"without the indexes", cold, 0, 0}} {
		request, cpu, memory := m.costs.best()
		b.report("added to the first request, "+m.name, " ms", request-noneRequest, m.limit)
		if m.limit == 0 {
			b.report("added to it, "+m.name+", against listing and reading on all cores", "x", (request-noneRequest)/walked, addedCold)
		}
		b.report("added to it, "+m.name+", processor", " ms", cpu-noneCPU, 0)
		b.report("added to it, "+m.name+", memory", " MB", memory-noneMemory, m.memory)
	}
	_, with, _ := version.best()
	_, without, _ := versionNone.best()
	b.report("added to adze --version, processor", " ms", with-without, 0.5)
	return nil
}

// version returns the command that prints the version.
func (b *bench) version(env ...string) *exec.Cmd {
	cmd := exec.Command(b.adze, "--version")
	cmd.Dir, cmd.Env = b.dir, append([]string{"HOME=" + b.dir, "ADZE_HOME=" + filepath.Join(b.dir, "home")}, env...)
	return cmd
}

// measure runs a command and returns its cost.
func measure(srv *server, cmd *exec.Cmd) (cost, error) {
	srv.reset()
	began := time.Now()
	if out, err := cmd.CombinedOutput(); err != nil {
		return cost{}, fmt.Errorf("%s: %w\n%s", cmd, err, out)
	}
	c := cost{cpu: cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), memory: maxRSS(cmd.ProcessState)}
	if at := srv.arrivals(); len(at) > 0 {
		c.request = at[0].Sub(began)
	}
	return c, nil
}

// readAll returns the minimum time, in milliseconds, to only read the files of skills and
// plugins below a state home, and their number.
func readAll(home string, runs int) (ms float64, n int, err error) {
	var files []string
	err = filepath.WalkDir(home, func(path string, d fs.DirEntry, err error) error {
		if ext := filepath.Ext(path); err == nil && d.Type().IsRegular() && (ext == ".md" || strings.Contains(path, "/cache/") && ext == ".json") {
			files = append(files, path)
		}
		return err
	})
	if err != nil {
		return 0, 0, err
	}
	buf := make([]byte, 8<<10)
	for range runs {
		began := time.Now()
		for _, path := range files {
			f, err := os.Open(path)
			if err != nil {
				return 0, 0, err
			}
			_, err = f.Read(buf)
			if f.Close(); err != nil {
				return 0, 0, err
			}
		}
		if took := float64(time.Since(began)) / float64(time.Millisecond); ms == 0 || took < ms {
			ms = took
		}
	}
	return ms, len(files), nil
}

// walkAll returns the minimum time, in milliseconds, to only find and read the files of skills
// and plugins below a state home, with one thread per core.
func walkAll(home string, runs int) (ms float64) {
	var roots []string
	for _, pattern := range []string{"skills/*", "plugins/cache/*/*/*"} {
		found, _ := filepath.Glob(filepath.Join(home, pattern)) // ok: the patterns are well-formed
		roots = append(roots, found...)
	}
	for range runs {
		began := time.Now()
		todo := make(chan string, len(roots))
		for _, root := range roots {
			todo <- root
		}
		close(todo)
		var workers sync.WaitGroup
		for range runtime.GOMAXPROCS(0) {
			workers.Go(func() {
				buf := make([]byte, 8<<10)
				for root := range todo {
					readTree(root, buf)
				}
			})
		}
		workers.Wait()
		if took := float64(time.Since(began)) / float64(time.Millisecond); ms == 0 || took < ms {
			ms = took
		}
	}
	return ms
}

// readTree reads the beginning of every file below a directory.
func readTree(dir string, buf []byte) {
	entries, _ := os.ReadDir(dir) // ok: unreadable directories take no time
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if e.IsDir() {
			readTree(path, buf)
			continue
		}
		if f, err := os.Open(path); err == nil {
			f.Read(buf) // ok: see above
			f.Close()
		}
	}
}

// forget removes the indexes and the start cache of a state home.
func forget(home string) error {
	for _, name := range []string{"skills-index", "agents-index", "plugins/index", "start"} {
		if err := os.RemoveAll(filepath.Join(home, name)); err != nil {
			return err
		}
	}
	return nil
}

// fillHome creates a state home with user skills, and plugins that are installed, enabled and
// approved. Each plugin has skills, a command, an agent, hooks and a manifest.
func fillHome(home string) error {
	own := &skillTree{}
	if err := own.make(home, 0); err != nil {
		return err
	}
	store := plugin.OpenStore(home)
	defer store.Close()
	enabled, approved := map[string]bool{}, map[string]any{}
	for i := range skillPlugins {
		id := plugin.ID{Name: fmt.Sprintf("plugin-%d", i), Market: "market"}
		hash, err := installOne(store, id)
		if err != nil {
			return err
		}
		enabled[id.String()], approved[id.String()] = true, map[string]string{"hash": hash}
	}
	for name, value := range map[string]any{
		"settings.json":         map[string]any{"enabledPlugins": enabled},
		"plugins/approved.json": map[string]any{"version": 1, "approved": approved},
	} {
		data, err := json.Marshal(value)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(home, name), data, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// installOne installs a plugin and returns its hash.
func installOne(store *plugin.Store, id plugin.ID) (hash string, err error) {
	stage, err := store.Stage()
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(stage)
	files := map[string]string{
		".claude-plugin/plugin.json": fmt.Sprintf(`{"name": %q, "version": "1.0.0", "description": "Does one of many things.", "keywords": ["bench"]}`, id.Name),
		"hooks/hooks.json":           `{"hooks": {"PostToolUse": [{"matcher": "Edit|Write", "hooks": [{"type": "command", "command": "${CLAUDE_PLUGIN_ROOT}/check.sh"}]}]}}`,
		"commands/do.md":             "---\ndescription: Does it.\n---\nDo it.\n",
		"agents/helper.md":           "---\nname: helper\ndescription: Helps with it.\n---\nHelp.\n",
	}
	for i := range pluginSkills {
		files[fmt.Sprintf("skills/skill-%d/SKILL.md", i)] = skillText(i)
	}
	tree := filepath.Join(stage, "tree")
	for name, text := range files {
		path := filepath.Join(tree, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return "", err
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			return "", err
		}
	}
	p, _, err := plugin.Read(tree, id)
	if err != nil {
		return "", err
	}
	_, err = store.Install(context.Background(), plugin.Installed{ID: id, Version: "1.0.0", Hash: p.Hash, At: time.Now()}, tree)
	return p.Hash, err
}

// skillText returns the content of a skill file.
func skillText(i int) string {
	return fmt.Sprintf("---\nname: skill-%d\ndescription: Does one of many things, and says when it is to be used. Use when the user asks for thing %d.\n"+
		"allowed-tools: Bash(git status), Read\n---\n", i, i) + "\n# Steps\n\n" + strings.Repeat("A line that says what the model is to do in this step.\n", 40)
}
