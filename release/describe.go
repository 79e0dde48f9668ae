package main

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// describe writes the software bill of materials and the release notes.
func (r *release) describe(ctx context.Context, _ string) error {
	modules, err := r.modules(ctx)
	if err != nil {
		return err
	}
	sums, err := goSums(filepath.Join(r.root, "go.sum"))
	if err != nil {
		return err
	}
	for i, m := range modules {
		modules[i].Sum = sums[m.Path+" "+m.Version]
	}
	bill, err := r.bill(modules)
	if err != nil {
		return err
	}
	if err := r.write("adze-"+r.version+".cdx.json", bill); err != nil {
		return err
	}
	notes, err := r.notes()
	if err != nil {
		return err
	}
	return r.write("NOTES.md", notes)
}

// goSums returns the hashes of the modules in go.sum, by "PATH VERSION".
func goSums(path string) (map[string]string, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	sums := map[string]string{}
	s := bufio.NewScanner(f)
	for s.Scan() {
		if parts := strings.Fields(s.Text()); len(parts) == 3 {
			sums[parts[0]+" "+parts[1]] = parts[2]
		}
	}
	return sums, s.Err()
}

// A component is a part of a CycloneDX bill of materials.
type component struct {
	Type       string     `json:"type"`
	Ref        string     `json:"bom-ref"`
	Name       string     `json:"name"`
	Version    string     `json:"version"`
	PURL       string     `json:"purl,omitempty"`
	Properties []property `json:"properties,omitempty"`
}

type property struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// bill returns the bill of materials in CycloneDX 1.6.
func (r *release) bill(modules []module) ([]byte, error) {
	main := component{Type: "application", Ref: "adze", Name: "adze", Version: r.version, PURL: "pkg:generic/adze@" + r.version}
	main.Properties = []property{{"adze:commit", r.commit.id}}
	var parts []component
	refs := []string{}
	for _, m := range modules {
		purl := "pkg:golang/" + m.Path + "@" + m.Version
		parts = append(parts, component{
			Type: "library", Ref: purl, Name: m.Path, Version: m.Version, PURL: purl, Properties: []property{{"go.sum", m.Sum}},
		})
		refs = append(refs, purl)
	}
	type dependency struct {
		Ref       string   `json:"ref"`
		DependsOn []string `json:"dependsOn"`
	}
	text, err := json.MarshalIndent(map[string]any{
		"bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1,
		"serialNumber": "urn:uuid:" + nameUUID(r.version+" "+r.commit.id),
		"metadata":     map[string]any{"timestamp": r.commit.time.Format(time.RFC3339), "component": main},
		"components":   parts,
		"dependencies": []dependency{{"adze", refs}},
	}, "", "  ")
	return append(text, '\n'), err
}

// nameUUID returns a UUID (version 8) derived from a name.
func nameUUID(name string) string {
	h := sha256.Sum256([]byte(name))
	h[6], h[8] = h[6]&0x0f|0x80, h[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", h[:4], h[4:6], h[6:8], h[8:10], h[10:16])
}

// notes returns the version's section of CHANGELOG.md, which scripts/changelog writes. Test builds
// have none.
func (r *release) notes() ([]byte, error) {
	text, err := os.ReadFile(filepath.Join(r.root, "CHANGELOG.md"))
	if err != nil {
		return nil, err
	}
	title := "# adze " + r.version + "\n\n"
	_, section, found := strings.Cut(string(text), "\n## "+r.version+" ")
	if !found {
		return []byte(title + "CHANGELOG.md has no section for this version.\n"), nil
	}
	_, section, _ = strings.Cut(section, "\n") // the date
	section, _, _ = strings.Cut(section, "\n## ")
	return []byte(title + strings.TrimSpace(section) + "\n"), nil
}
