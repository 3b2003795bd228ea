package laws

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const module = "deskvnc"

// Short names of the outside libraries and of groups of our packages.
const (
	fyne     = "fyne.io/fyne/v2"
	fyneApp  = "fyne.io/fyne/v2/app"
	goGL     = "github.com/go-gl"
	goVNC    = "github.com/mitchellh/go-vnc"
	mcpGo    = "github.com/mark3labs/mcp-go"
	sqlite   = "modernc.org/sqlite"
	xgb      = "github.com/jezek/xgb"
	compress = "github.com/klauspost/compress"
	ximage   = "golang.org/x/image"
	xsys     = "golang.org/x/sys"
	cobra    = "github.com/spf13/cobra"
	keyring  = "github.com/zalando/go-keyring"
	dbus     = "github.com/godbus/dbus"
	xcrypto  = "golang.org/x/crypto"
	sftp     = "github.com/pkg/sftp"
	xtext    = "golang.org/x/text"
)

// allowed lists, for each outside library, the packages that may import it.
// A library that is not listed may be imported by nobody.
var allowed = map[string][]string{
	fyne:     {"app/ui", "app/deskvnc"},
	goVNC:    {"viewer/rfb"},
	mcpGo:    {"mcpbridge"},
	sqlite:   {"keychain/store"},
	xgb:      {"app/ui/x11"},
	compress: {"viewer/frame", "viewer/rfb/rfbtest", "viewer/sample"},
	ximage:   {"viewer/sample", "app/ui"},
	xsys:     {"control/socket", "viewer/conn", "app/bench", "app/shell"},
	cobra:    {"app/dvv", "app/bench", "app/shell"},
	keyring:  {"keychain/secret"},
	dbus:     {"keychain/secret"},
	xcrypto:  {"viewer/sshdial", "viewer/shell", "viewer/files", "viewer/sample"},
	sftp:     {"viewer/sample"},
	xtext:    {"viewer/shell"},
}

// banned lists what a package, and every package below it, never imports
// directly. A trailing slash means the packages below and not the one named.
var banned = []struct {
	from string
	to   []string
	but  []string
}{
	{"viewer", []string{"control", "mcpbridge", "keychain", "app"}, nil},
	{"viewer/frame", []string{module + "/viewer"}, nil},
	{"viewer/key", []string{module}, nil},
	{"viewer/engine", []string{"viewer/rfb", "viewer/shell", "viewer/sshdial", "viewer/drivers", "viewer/sample"}, nil},
	{"viewer/grid", []string{module}, nil},
	{"viewer/shell", []string{"viewer/files", "viewer/engine", "viewer/drivers", "viewer/sample", "viewer/rfb", "viewer/frame"}, nil},
	{"viewer/tunnel", []string{"viewer/shell", "viewer/sshdial", "viewer/files", "viewer/engine", "viewer/drivers"}, nil},
	{"viewer/files", []string{"viewer/shell", "viewer/sshdial", "viewer/engine", "viewer/drivers", "viewer/sample", "viewer/rfb", "viewer/frame"}, nil},
	{"viewer/conn", []string{"viewer/rfb", "viewer/engine"}, nil},
	{"viewer/trust", []string{"viewer/rfb", "viewer/engine", "viewer/conn"}, nil},
	{"viewer/rfb", []string{"viewer/engine", "viewer/drivers", "viewer/sample"}, nil},
	{"viewer/sshdial", []string{"viewer/shell", "viewer/files", "viewer/engine", "viewer/drivers", "viewer/sample", "viewer/rfb"}, nil},
	{"control", []string{"mcpbridge", "app", "keychain/store", "viewer/rfb", "viewer/drivers", "viewer/sample"}, nil},
	{"control/wheel", []string{"viewer/engine", "control/plane"}, nil},
	{"control/command", []string{"control/plane", "viewer/engine"}, nil},
	{"control/client", []string{"control/plane", "viewer/engine"}, nil},
	{"mcpbridge", []string{"app", "viewer/engine", "viewer/rfb", "control/plane", "control/server"}, nil},
	{"keychain", []string{"control", "mcpbridge", "app", "viewer/"}, nil},
	{"app/ui", []string{"viewer/rfb", "viewer/drivers", "viewer/sample", "mcpbridge", "keychain/store", fyneApp, goGL}, nil},
	{"app/callers", []string{"app/ui", "app/deskvnc", "app/shell", "app/library", "control", "mcpbridge", "keychain"}, nil},
	{"app/bench", []string{"app/ui", "app/deskvnc"}, nil},
	{"app/dvv", []string{"app/ui", "app/deskvnc"}, nil},
}

// importers lists packages that only some may import.
var importers = map[string][]string{
	"viewer/drivers": {"app"},
	"viewer/shell":   {"viewer/drivers"},
	"viewer/sample":  {"app", "viewer/sample"},
	fyneApp:          {"app/deskvnc"},
	goGL:             {"app/deskvnc"},
}

// notLinked lists what a program never links, however deep.
var notLinked = map[string][]string{
	"app/dvv":     {fyne, goGL, xgb},
	"app/deskvnc": {mcpGo},
}

type pkg struct {
	ImportPath string
	Imports    []string
	Deps       []string
	Standard   bool
	Module     *struct{ Path, Dir string }
	Error      *struct{ Err string }
}

// list runs go list on this module.
func list(t *testing.T, args ...string) []pkg {
	t.Helper()
	cmd := exec.Command("go", append([]string{"list", "-e", "-json=ImportPath,Imports,Deps,Standard,Module,Error"}, args...)...)
	cmd.Dir = root(t)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, stderr.Bytes())
	}
	var all []pkg
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p pkg
		if err := d.Decode(&p); err == io.EOF {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
}

func root(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Dir(filepath.Dir(dir))
}

// full gives a package of ours its import path.
func full(p string) string {
	if strings.HasPrefix(p, module) || strings.Contains(strings.SplitN(p, "/", 2)[0], ".") {
		return p
	}
	return module + "/" + p
}

// within reports whether p is the package named or one below it.
func within(p, named string) bool {
	if below, ok := strings.CutSuffix(named, "/"); ok {
		return strings.HasPrefix(p, full(below)+"/")
	}
	return p == full(named) || strings.HasPrefix(p, full(named)+"/")
}

func withinAny(p string, names []string) bool {
	return slices.ContainsFunc(names, func(n string) bool { return within(p, n) })
}

func TestImports(t *testing.T) {
	for _, p := range list(t, "./...") {
		if p.Error != nil {
			t.Errorf("%s: %s", p.ImportPath, p.Error.Err)
		}
		for _, imp := range p.Imports {
			for _, b := range banned {
				// "viewer" bans for itself and below; a rule for frame that
				// names viewer means the package itself.
				if within(p.ImportPath, b.from) && !withinAny(imp, b.but) {
					for _, to := range b.to {
						exact := to == module+"/viewer"
						if exact && imp == to || !exact && within(imp, to) {
							if !within(p.ImportPath, to) {
								t.Errorf("%s imports %s: %s never does", p.ImportPath, imp, b.from)
							}
						}
					}
				}
			}
			for of, by := range importers {
				if within(imp, of) && !withinAny(p.ImportPath, by) {
					t.Errorf("%s imports %s: only %s may", p.ImportPath, imp, strings.Join(by, ", "))
				}
			}
			if outside(imp) && !mayImport(p.ImportPath, imp) {
				t.Errorf("%s imports %s, which the list does not allow it", p.ImportPath, imp)
			}
		}
	}
}

// outside reports whether an import is neither ours nor of the standard
// library: its first element has a dot.
func outside(imp string) bool {
	return strings.Contains(strings.SplitN(imp, "/", 2)[0], ".")
}

func mayImport(p, imp string) bool {
	for lib, by := range allowed {
		if strings.HasPrefix(imp, lib) && withinAny(p, by) {
			return true
		}
	}
	return false
}

func TestProgramsLink(t *testing.T) {
	for program, never := range notLinked {
		for _, p := range list(t, full(program)) {
			for _, dep := range p.Deps {
				if outside(dep) && withinAny(dep, never) {
					t.Errorf("%s links %s", program, dep)
				}
			}
		}
	}
}

// TestLicences looks at the licence text of every module a program links.
func TestLicences(t *testing.T) {
	gpl := regexp.MustCompile(`(?m)^\s*GNU (AFFERO |LESSER )?GENERAL PUBLIC LICENSE\s*$`)
	seen := map[string]bool{}
	for _, p := range list(t, "-deps", "./app/...") {
		if p.Module == nil || p.Module.Path == module || seen[p.Module.Path] || p.Module.Dir == "" {
			continue
		}
		seen[p.Module.Path] = true
		files, err := filepath.Glob(filepath.Join(p.Module.Dir, "[LCUlcu][IiOoNn]*"))
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for _, f := range files {
			name := strings.ToUpper(path.Base(f))
			if !strings.HasPrefix(name, "LICEN") && !strings.HasPrefix(name, "COPYING") && !strings.HasPrefix(name, "UNLICENSE") {
				continue
			}
			b, err := os.ReadFile(f)
			if err != nil {
				continue // a folder
			}
			found = true
			if gpl.Match(b) {
				t.Errorf("%s is under a GPL: %s", p.Module.Path, path.Base(f))
			}
		}
		if !found && !noLicenceFile[p.Module.Path] {
			t.Errorf("%s has no licence file to look at", p.Module.Path)
		}
	}
	if len(seen) == 0 {
		t.Error("no modules were looked at")
	}
}

// noLicenceFile lists modules whose licence was read elsewhere.
var noLicenceFile = map[string]bool{
	// MIT, stated in its readme.
	goVNC: true,
}

func TestTopLevel(t *testing.T) {
	cmd := exec.Command("git", "ls-files")
	cmd.Dir = root(t)
	out, err := cmd.Output()
	if err != nil {
		t.Skipf("not a git checkout: %v", err)
	}
	fixed := []string{"app", "viewer", "control", "mcpbridge", "keychain", "go.mod", "go.sum", "FyneApp.toml", "README.md", "LICENSE", "Makefile",
		"CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "docs", ".ci", ".gitignore", ".gitattributes"}
	for _, f := range strings.Fields(string(out)) {
		if top := strings.SplitN(f, "/", 2)[0]; !slices.Contains(fixed, top) {
			t.Errorf("%s: %s is not a top-level name of this house", f, top)
		}
	}
}

// TestOnlyFenceTouchesTheToolkitThread finds calls that belong in app/ui/fence.
func TestOnlyFenceTouchesTheToolkitThread(t *testing.T) {
	calls := regexp.MustCompile(`\bfyne\.(Do|DoAndWait)\(`)
	for name, text := range sources(t, "app") {
		if strings.HasPrefix(name, "app/ui/fence/") || strings.HasSuffix(name, "_test.go") {
			continue
		}
		if m := calls.Find(text); m != nil {
			t.Errorf("%s calls %s; only app/ui/fence does", name, m)
		}
	}
}

// TestOwnTransports finds uses of the MCP library's transports, which lose
// calls.
func TestOwnTransports(t *testing.T) {
	use := regexp.MustCompile(`server\.(NewStdioServer|ServeStdio|NewStreamableHTTPServer|NewSSEServer)\b`)
	for name, text := range sources(t, "mcpbridge") {
		if m := use.Find(text); m != nil {
			t.Errorf("%s uses %s", name, m)
		}
	}
}

// TestFilesHaveOneIdea bounds the length of a source file.
func TestFilesHaveOneIdea(t *testing.T) {
	const most = 600
	for _, dir := range []string{"app", "viewer", "control", "mcpbridge", "keychain"} {
		for name, text := range sources(t, dir) {
			if n := bytes.Count(text, []byte("\n")); n > most && !strings.HasSuffix(name, "_test.go") {
				t.Errorf("%s has %d lines, more than %d: it holds two ideas", name, n, most)
			}
		}
	}
}

// sources reads every Go file below a folder, by its path from the root.
func sources(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	out := map[string][]byte{}
	base := root(t)
	err := filepath.WalkDir(filepath.Join(base, dir), func(p string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(p, ".go") {
			return err
		}
		b, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(base, p)
		out[filepath.ToSlash(rel)] = b
		return err
	})
	if err != nil {
		t.Fatal(fmt.Errorf("reading the sources: %w", err))
	}
	return out
}
