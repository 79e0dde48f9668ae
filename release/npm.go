package main

import (
	"context"
	_ "embed"
	"encoding/json"
)

// npmLauncher starts the program from the package for the platform.
//
//go:embed templates/launcher.js
var npmLauncher []byte

// npmNames are the names of platforms in Node.js.
var npmNames = map[string]string{"linux": "linux", "darwin": "darwin", "windows": "win32", "amd64": "x64", "arm64": "arm64"}

// A manifest is a package.json.
type manifest struct {
	Name                 string            `json:"name"`
	Version              string            `json:"version"`
	Description          string            `json:"description"`
	License              string            `json:"license"`
	Homepage             string            `json:"homepage,omitempty"`
	Bin                  map[string]string `json:"bin,omitempty"`
	Files                []string          `json:"files"`
	OS                   []string          `json:"os,omitempty"`
	CPU                  []string          `json:"cpu,omitempty"`
	OptionalDependencies map[string]string `json:"optionalDependencies,omitempty"`
}

// npmPackages writes a package with the launcher, which depends on one package with the program
// for each platform. npm installs only the one that fits; nothing runs while it installs.
func (r *release) npmPackages(_ context.Context, _ string) error {
	main := manifest{
		Name: r.config.NPM, Version: r.version, Description: r.config.Summary, License: r.config.License, Homepage: r.config.Homepage,
		Bin: map[string]string{"adze": "adze.js"}, Files: []string{"adze.js"}, OptionalDependencies: map[string]string{},
	}
	update := mark("npm", "npm install -g "+main.Name)
	for _, p := range r.platforms {
		part := main
		part.Name = "@" + main.Name + "/" + npmNames[p.os] + "-" + npmNames[p.arch]
		part.Description += ": the program for " + p.String()
		part.Bin, part.OptionalDependencies, part.Files = nil, nil, []string{"bin", "share"}
		part.OS, part.CPU = []string{npmNames[p.os]}, []string{npmNames[p.arch]}
		main.OptionalDependencies[part.Name] = r.version
		all, err := r.installed(p)
		if err != nil {
			return err
		}
		if err := r.npmPackage(part, "adze-npm-"+npmNames[p.os]+"-"+npmNames[p.arch], append(all, update)); err != nil {
			return err
		}
	}
	return r.npmPackage(main, "adze-npm", []file{{"adze.js", npmLauncher, 0o755}})
}

func (r *release) npmPackage(m manifest, name string, content []file) error {
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	all := []file{{"package/package.json", append(text, '\n'), 0o644}}
	for _, f := range content {
		f.name = "package/" + f.name
		all = append(all, f)
	}
	data, err := tarGzip(all, r.commit.time)
	if err != nil {
		return err
	}
	return r.write(name+"-"+r.version+".tgz", data)
}
