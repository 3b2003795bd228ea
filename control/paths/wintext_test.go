package paths

import (
	"strings"
	"testing"
)

// The rows of the contract's table that speak of the text of a Windows path.
func TestWindowsText(t *testing.T) {
	const device, stream, trail = "reserved device name", "a second stream", "dot or a space"
	for _, c := range []struct{ row, path, want string }{
		{"24", ` `, trail},
		{"49", `C:\B\IN\A.KEY`, ""},
		{"51", `C:/B/in/a.key`, ""},
		{"52", `C:\B\out\NUL`, device},
		{"53", `C:\B\out\com1.txt`, device}, {"53", `C:\B\out\LPT9`, device}, {"53", `C:\B\out\aux.key`, device}, {"53", `C:\B\out\Con`, device},
		{"54", `C:\B\out\CONIN$`, device}, {"54", `C:\B\out\CONOUT$`, device}, {"54", `C:\B\out\CLOCK$`, device}, {"54", `C:\B\out\PRN`, device},
		{"55", `C:\B\out\NUL `, device}, {"55", `C:\B\out\NUL .txt`, device},
		{"56", `C:\B\out\NUL\x.png`, device},
		{"57", `C:\B\out\console.txt`, ""}, {"57", `C:\B\out\com10`, ""}, {"57", `C:\B\out\COM0`, ""}, {"57", `C:\B\out\lpt`, ""}, {"57", `C:\B\out\nul-x`, ""},
		{"58", `C:\B\out\COM¹.txt`, device},
		{"59", `\\.\NUL`, device}, {"59", `\\.\PhysicalDrive0`, device}, {"59", `\\.\pipe\x`, device}, {"59", `//./pipe/x`, device}, {"59", `\??\C:\x`, device},
		{"59", `\\?\Volume{1}\x`, device}, {"59", `\\?\GLOBALROOT\x`, device},
		{"60", `C:\B\out\x.png:stream`, stream}, {"60", `C:\B\out\x.png::$DATA`, stream}, {"60", `C:\B\C:\x`, stream},
		{"61", `\\SRV\Share\in\a.key`, ""},
		{"63", `\\?\C:\B\in\a.key`, ""}, {"63", `\\?\UNC\srv\share\in\a.key`, ""},
		{"64", `C:a.key`, ""},
		{"65", `C:\B\out\x.png.`, trail}, {"65", `C:\B\out\x.png `, trail}, {"65", `C:\B\out\x. \y`, trail},
		{"", `C:\B\..\out\.\x`, ""}, {"", `C:\B\...\x`, trail}, {"", `C:\B\PROGRA~1\x`, ""},
		{"", `C:\B\a*`, "no name can have"}, {"", "C:\\B\\a\x00b", "no name can have"},
	} {
		got := badWindowsText(c.path)
		if c.want == "" && got != "" || c.want != "" && !strings.Contains(got, c.want) {
			t.Errorf("row %s %q: got %q, want %q", c.row, c.path, got, c.want)
		}
	}
	for in, want := range map[string]string{`\\?\C:\x`: `C:\x`, `\\?\UNC\srv\share`: `\\srv\share`, `C:\x`: `C:\x`} {
		if got := plainWindowsPath(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

func FuzzWindowsText(f *testing.F) {
	for _, s := range []string{`C:\x`, `\\?\`, `\\?\C`, `\\?\UNC\`, "NUL", "com\u00b9", "C:", ":", ""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, p string) {
		why := badWindowsText(p)
		if why == "" && strings.Contains(strings.ToUpper(p), `\NUL\`) {
			t.Errorf("%q passes", p)
		}
		if again := badWindowsText(strings.ReplaceAll(p, "/", `\`)); again != why {
			t.Errorf("%q: %q with one separator and %q with the other", p, why, again)
		}
	})
}
