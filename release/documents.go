package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
)

// document collects the files that are installed beside the program: manual page, completions and
// licenses.
func (r *release) document(ctx context.Context, work string) error {
	host := platform{runtime.GOOS, runtime.GOARCH}
	program := r.binaries[host]
	if program == "" {
		program = filepath.Join(work, "host", host.exe())
		if err := r.goBuild(ctx, host, program); err != nil {
			return err
		}
	}
	generated := []struct {
		name string
		args []string
	}{
		{"share/man/man1/adze.1", []string{"man"}},
		{"share/bash-completion/completions/adze", []string{"completion", "bash"}},
		{"share/zsh/site-functions/_adze", []string{"completion", "zsh"}},
		{"share/fish/vendor_completions.d/adze.fish", []string{"completion", "fish"}},
		{"share/adze/adze.ps1", []string{"completion", "powershell"}},
	}
	for _, g := range generated {
		text, err := output(exec.CommandContext(ctx, program, g.args...))
		if err != nil {
			return err
		}
		r.docs = append(r.docs, file{g.name, text, 0o644})
	}
	schema, err := output(exec.CommandContext(ctx, program, "config", "schema"))
	if err != nil {
		return err
	}
	if err := r.write("settings.schema.json", schema); err != nil {
		return err
	}
	copied := []struct{ name, source string }{
		{"share/adze/ci", "ci/run"},
		{"share/doc/adze/LICENSE", "LICENSE"},
		{"share/doc/adze/README.md", "README.md"},
		{"share/doc/adze/CHANGELOG.md", "CHANGELOG.md"},
	}
	for _, c := range copied {
		text, err := os.ReadFile(filepath.Join(r.root, c.source))
		if err != nil {
			return err
		}
		r.docs = append(r.docs, file{c.name, text, 0o644})
	}
	modules, err := r.modules(ctx)
	if err != nil {
		return err
	}
	text, err := licenses(ctx, modules)
	if err != nil {
		return err
	}
	r.docs = append(r.docs, file{"share/doc/adze/LICENSES.txt", text, 0o644})
	return nil
}

// A module is linked into the program.
type module struct {
	Path, Version, Dir string
	Sum                string // the form of go.sum
}

// modules returns the modules linked into the program on any of the platforms.
func (r *release) modules(ctx context.Context) ([]module, error) {
	found := map[string]module{}
	for _, p := range r.platforms {
		cmd := exec.CommandContext(ctx, "go", "list", "-deps", "-json=Module", "./cmd/adze")
		cmd.Dir = r.root
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=", "GOOS="+p.os, "GOARCH="+p.arch)
		out, err := output(cmd)
		if err != nil {
			return nil, err
		}
		for d := json.NewDecoder(bytes.NewReader(out)); ; {
			var pkg struct {
				Module *struct {
					module
					Main bool
				}
			}
			if err := d.Decode(&pkg); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				return nil, err
			}
			if m := pkg.Module; m != nil && !m.Main {
				found[m.Path] = m.module
			}
		}
	}
	all := make([]module, 0, len(found))
	for _, m := range found {
		all = append(all, m)
	}
	slices.SortFunc(all, func(a, b module) int { return cmp.Compare(a.Path, b.Path) })
	return all, nil
}

// licenses returns the license texts of the modules and of Go. A module without one is an error.
func licenses(ctx context.Context, modules []module) ([]byte, error) {
	root, err := output(exec.CommandContext(ctx, "go", "env", "GOROOT"))
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	b.WriteString("adze contains the following software.\n")
	all := append([]module{{Path: "Go", Version: runtime.Version(), Dir: strings.TrimSpace(string(root))}}, modules...)
	for _, m := range all {
		texts, err := licenseFiles(m.Dir)
		if err != nil {
			return nil, err
		}
		if len(texts) == 0 && m.Path != "Go" {
			return nil, fmt.Errorf("no license file in %s %s", m.Path, m.Version)
		}
		fmt.Fprintf(&b, "\n%s\n%s %s\n%[1]s\n", strings.Repeat("=", 78), m.Path, m.Version)
		for _, text := range texts {
			b.WriteString("\n" + strings.TrimSpace(string(text)) + "\n")
		}
	}
	return b.Bytes(), nil
}

var licenseName = regexp.MustCompile(`(?i)^(un)?(license|licence|copying|notice|patents)([.-].*)?$`)

// licenseFiles returns the licenses and notices at the top of a directory.
func licenseFiles(dir string) (texts [][]byte, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if e.IsDir() || !licenseName.MatchString(e.Name()) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, err
		}
		texts = append(texts, text)
	}
	return texts, nil
}
