package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
)

// maxTypeErrors bounds the errors reported per platform.
const maxTypeErrors = 20

// A listed is a package in the output of go list.
type listed struct {
	ImportPath string
	Dir        string
	GoFiles    []string
	ImportMap  map[string]string
	ForTest    string
	Standard   bool
	Module     *struct {
		Main      bool
		GoVersion string
	}
	Error *struct{ Err string }
}

// checkPlatforms type-checks the packages of the module in the current directory and their
// tests for each platform, such as "darwin/arm64". It compiles nothing: packages outside the
// module are read as declarations only. That takes seconds, while a cold cross-build takes
// minutes.
func checkPlatforms(platforms []string, out io.Writer) error {
	files := &sources{fset: token.NewFileSet()}
	errs := make([]error, len(platforms))
	free := make(chan struct{}, runtime.GOMAXPROCS(0))
	var wg sync.WaitGroup
	for i, platform := range platforms {
		wg.Go(func() {
			free <- struct{}{}
			defer func() { <-free }()
			if err := checkPlatform(platform, files); err != nil {
				errs[i] = fmt.Errorf("%s:\n%w", platform, err)
			}
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	_, err := fmt.Fprintln(out, strings.Join(platforms, ", "))
	return err
}

func checkPlatform(platform string, files *sources) error {
	goos, goarch, ok := strings.Cut(platform, "/")
	if !ok {
		return errors.New("not of the form OS/ARCH")
	}
	packages, err := list(goos, goarch)
	if err != nil {
		return err
	}
	sizes := types.SizesFor("gc", goarch)
	if sizes == nil {
		return fmt.Errorf("unknown architecture %q", goarch)
	}

	// A package with internal tests is listed twice: the second entry has all files.
	tested := map[string]bool{}
	for _, p := range packages {
		if p.ForTest != "" {
			tested[p.ForTest] = tested[p.ForTest] || p.ImportPath == p.ForTest+" ["+p.ForTest+".test]"
		}
	}
	var problems []error
	done := map[string]*types.Package{"unsafe": types.Unsafe}
	for _, p := range packages {
		if p.Error != nil {
			problems = append(problems, errors.New(p.Error.Err))
			continue
		}
		if p.ImportPath == "unsafe" || strings.HasSuffix(p.ImportPath, ".test") {
			continue
		}
		parsed, err := files.parse(p)
		if err != nil {
			problems = append(problems, err)
			continue
		}
		ours := p.Module != nil && p.Module.Main
		conf := types.Config{
			Importer:         importer{p.ImportMap, done},
			Sizes:            sizes,
			FakeImportC:      true,
			IgnoreFuncBodies: !ours || tested[p.ImportPath],
			Error: func(err error) {
				if ours {
					problems = append(problems, err)
				}
			},
		}
		if p.Module != nil && p.Module.GoVersion != "" {
			conf.GoVersion = "go" + p.Module.GoVersion
		}
		path, _, _ := strings.Cut(p.ImportPath, " ")
		// ok: errors in our own packages are collected above; errors in others show where they
		// are used.
		done[p.ImportPath], _ = conf.Check(path, files.fset, parsed, nil)
	}
	if len(problems) > maxTypeErrors {
		problems = append(problems[:maxTypeErrors], errors.New("and more"))
	}
	return errors.Join(problems...)
}

// list runs go list for the module's packages, their tests and all dependencies, each after its
// imports.
func list(goos, goarch string) ([]listed, error) {
	cmd := exec.Command("go", "list", "-e", "-deps", "-test",
		"-json=ImportPath,Dir,GoFiles,ImportMap,ForTest,Standard,Module,Error", "./...")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+goos, "GOARCH="+goarch)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w\n%s", err, stderr.Bytes())
	}
	var packages []listed
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := dec.Decode(&p); err == io.EOF {
			return packages, nil
		} else if err != nil {
			return nil, err
		}
		packages = append(packages, p)
	}
}

// An importer resolves one package's imports among the packages checked before it. The map
// renames imports, for tests and vendored packages.
type importer struct {
	renamed map[string]string
	done    map[string]*types.Package
}

func (i importer) Import(path string) (*types.Package, error) {
	if to, ok := i.renamed[path]; ok {
		path = to
	}
	if p := i.done[path]; p != nil {
		return p, nil
	}
	return nil, fmt.Errorf("package %s is missing", path)
}

// sources holds parsed files, shared by the platforms.
type sources struct {
	fset *token.FileSet
	all  sync.Map // file name to *source
}

type source struct {
	once sync.Once
	file *ast.File
	err  error
}

func (s *sources) parse(p listed) ([]*ast.File, error) {
	var files []*ast.File
	for _, name := range p.GoFiles {
		name = filepath.Join(p.Dir, name)
		kept, _ := s.all.LoadOrStore(name, new(source))
		src := kept.(*source)
		src.once.Do(func() { src.file, src.err = parser.ParseFile(s.fset, name, nil, parser.SkipObjectResolution) })
		if src.err != nil {
			return nil, src.err
		}
		files = append(files, src.file)
	}
	return files, nil
}
