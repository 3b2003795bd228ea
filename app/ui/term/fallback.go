package term

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"golang.org/x/image/font/sfnt"
)

// The fonts of the system are looked for once, in the background, when the
// first character comes that the bundled ones do not have.

const (
	// maxFonts bounds the font files that are opened, and maxWalked the files
	// looked at to find them.
	maxFonts  = 24
	maxWalked = 20000
)

// wanted are parts of the names of font files, the best first: what is close to
// a terminal's own text, then what has many characters.
var wanted = []string{
	"dejavusansmono.", "notosansmonocjk", "sarasamono", "notosanscjk", "sourcehansans", "wqy", "droidsansfallback", "pingfang", "hiragino", "msyh", "msgothic",
	"malgun", "applesdgothicneo", "ipagothic", "vlgothic", "takaogothic", "nanumgothic", "unifont", "menlo", "consola", "freemono", "dejavusans.", "notosanssymbols",
	"seguisym", "applesymbols", "notoemoji", "symbola", "notosansmath", "notosansmono", "arialuni", "freesans",
}

// variants are the files of the bundled font's other styles, used when the
// system has them.
var variants = map[string]style{"dejavusansmono-bold.": bold, "dejavusansmono-oblique.": italic, "dejavusansmono-boldoblique.": bold | italic}

// A system is the fonts found.
type system struct {
	fonts  []*sfnt.Font
	styles [4]*sfnt.Font // of the bundled font
}

var (
	systemMu    sync.Mutex // guards below
	systemFonts *system    // nil until they have been looked for
	systemAsked []func()   // told when they have
	systemBusy  bool
)

// installed are the fonts of the system. Before they are known it returns nil
// and has them looked for; ready is then called, on another goroutine.
func installed(ready func()) *system {
	systemMu.Lock()
	defer systemMu.Unlock()
	if systemFonts != nil {
		return systemFonts
	}
	if ready != nil {
		systemAsked = append(systemAsked, ready)
	}
	if !systemBusy {
		systemBusy = true
		go func() {
			s := findFonts(fontFolders())
			systemMu.Lock()
			systemFonts = s
			asked := systemAsked
			systemAsked = nil
			systemMu.Unlock()
			for _, fn := range asked {
				fn()
			}
		}()
	}
	return nil
}

// fontFolders are where the system keeps its fonts.
func fontFolders() []string {
	home, _ := os.UserHomeDir()
	switch runtime.GOOS {
	case "windows":
		root := os.Getenv("WINDIR")
		if root == "" {
			root = `C:\Windows`
		}
		return []string{filepath.Join(root, "Fonts"), filepath.Join(os.Getenv("LOCALAPPDATA"), "Microsoft", "Windows", "Fonts")}
	case "darwin":
		return []string{filepath.Join(home, "Library/Fonts"), "/Library/Fonts", "/System/Library/Fonts"}
	}
	return []string{filepath.Join(home, ".local/share/fonts"), filepath.Join(home, ".fonts"), "/usr/local/share/fonts", "/usr/share/fonts"}
}

// findFonts opens the fonts that are wanted. The files stay open: their tables
// are read when a character is drawn.
func findFonts(folders []string) *system {
	type file struct {
		rank int
		path string
	}
	var files []file
	s := &system{}
	walked := 0
	for _, folder := range folders {
		filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
			if walked++; walked > maxWalked {
				return filepath.SkipAll
			}
			if err != nil || d.IsDir() {
				return nil
			}
			name := strings.ToLower(d.Name())
			switch filepath.Ext(name) {
			case ".ttf", ".otf", ".ttc", ".otc":
			default:
				return nil
			}
			flat := strings.NewReplacer("-regular", "", "_", "", " ", "").Replace(name)
			for part, st := range variants {
				if strings.HasPrefix(flat, part) && s.styles[st] == nil {
					s.styles[st] = openFont(path)
					return nil
				}
			}
			if strings.Contains(flat, "bold") || strings.Contains(flat, "italic") || strings.Contains(flat, "oblique") || strings.Contains(flat, "color") {
				return nil
			}
			for i, part := range wanted {
				if strings.HasPrefix(flat, part) {
					files = append(files, file{i, path})
					break
				}
			}
			return nil
		})
	}
	slices.SortStableFunc(files, func(a, b file) int { return a.rank - b.rank })
	for _, f := range files[:min(len(files), maxFonts)] {
		if p := openFont(f.path); p != nil {
			s.fonts = append(s.fonts, p)
		}
	}
	return s
}

// openFont opens a font file, or the first font of a collection; nil when it
// is none.
func openFont(path string) *sfnt.Font {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	c, err := sfnt.ParseCollectionReaderAt(f)
	if err == nil {
		if p, err := c.Font(0); err == nil {
			return p
		}
	}
	defer f.Close()
	if i, err := f.Stat(); err != nil || !i.Mode().IsRegular() || i.Size() > maxAligned {
		return nil
	}
	b, err := io.ReadAll(io.NewSectionReader(f, 0, maxAligned))
	if err != nil {
		return nil
	}
	p, err := sfnt.Parse(aligned(b))
	if err != nil {
		return nil
	}
	return p
}
