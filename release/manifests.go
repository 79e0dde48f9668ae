package main

import (
	"context"
	"embed"
	"fmt"
	"path"
	"strings"
	"text/template"
)

//go:embed templates
var templates embed.FS

// names are the names of systems and architectures elsewhere, by Go's.
var names = template.FuncMap{
	"oses":     func() map[string]string { return map[string]string{"darwin": "macos", "linux": "linux"} },
	"cpus":     func() map[string]string { return map[string]string{"amd64": "intel", "arm64": "arm"} },      // Homebrew
	"bits":     func() map[string]string { return map[string]string{"amd64": "64bit", "arm64": "arm64"} },    // Scoop
	"machines": func() map[string]string { return map[string]string{"amd64": "x86_64", "arm64": "aarch64"} }, // uname
	"stem":     func(name string) string { return strings.TrimSuffix(name, ".zip") },
}

// manifests writes the files that contain addresses: install.sh, and the descriptions for
// Homebrew, Scoop and the AUR.
func (r *release) manifests(_ context.Context, _ string) error {
	if !r.config.published() {
		fmt.Println("  left out: install.sh, channels, Homebrew, Scoop and AUR, because the configuration has no address or key")
		return nil
	}
	all, err := template.New("").Funcs(names).ParseFS(templates, "templates/*.tmpl")
	if err != nil {
		return err
	}
	data := struct {
		config
		Version, PkgVersion, Base string
		Sum, File                 map[string]string // key: OS-ARCH
	}{config: r.config, Version: r.version, PkgVersion: strings.ReplaceAll(r.version, "-", "_"), Base: r.config.Downloads + "/v" + r.version, Sum: map[string]string{}, File: map[string]string{}}
	for _, p := range r.platforms {
		name := r.archiveName(p)
		data.File[p.os+"-"+p.arch], data.Sum[p.os+"-"+p.arch] = name, r.hashes[name]
	}
	for _, t := range all.Templates() {
		var b strings.Builder
		if err := t.Execute(&b, data); err != nil {
			return err
		}
		if err := r.write(strings.TrimSuffix(path.Base(t.Name()), ".tmpl"), []byte(b.String())); err != nil {
			return err
		}
	}
	return nil
}
