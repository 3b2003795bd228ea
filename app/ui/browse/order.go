package browse

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"deskvnc/viewer"
)

// A column is what a listing is sorted by.
type column int

const (
	byName column = iota
	bySize
	byTime
	byMode
	columns = iota
)

// columnNames are the heads of the columns.
var columnNames = [columns]string{"Name", "Size", "Changed", "Permissions"}

// An order is how a listing is shown.
type order struct {
	by      column
	down    bool   // largest first
	hidden  bool   // names that begin with a dot too
	pattern string // part of the names shown, in any case
}

// apply is the entries to be shown, in their order: folders first.
func (o order) apply(all []viewer.FileEntry) []viewer.FileEntry {
	type keyed struct {
		e    viewer.FileEntry
		name string
	}
	pattern := strings.ToLower(o.pattern)
	list := make([]keyed, 0, len(all))
	for _, e := range all {
		name := strings.ToLower(e.Shown)
		if !o.hidden && strings.HasPrefix(e.Name, ".") || !strings.Contains(name, pattern) {
			continue
		}
		list = append(list, keyed{e, name})
	}
	slices.SortFunc(list, func(a, b keyed) int {
		if x, y := a.e.IsFolder(), b.e.IsFolder(); x != y {
			if x {
				return -1
			}
			return 1
		}
		n := 0
		switch o.by {
		case bySize:
			n = cmp.Compare(a.e.Size, b.e.Size)
		case byTime:
			n = a.e.Modified.Compare(b.e.Modified)
		case byMode:
			n = cmp.Compare(a.e.Mode, b.e.Mode)
		}
		names := cmp.Or(natural(a.name, b.name), cmp.Compare(a.e.Name, b.e.Name))
		if n == 0 {
			if o.by != byName {
				return names
			}
			n = names
		}
		if o.down {
			return -n
		}
		return n
	})
	out := make([]viewer.FileEntry, len(list))
	for i, k := range list {
		out[i] = k.e
	}
	return out
}

// natural compares names so that 2 comes before 10.
func natural(a, b string) int {
	digit := func(c byte) bool { return c >= '0' && c <= '9' }
	for a != "" && b != "" {
		if !digit(a[0]) || !digit(b[0]) {
			if a[0] != b[0] {
				return cmp.Compare(a[0], b[0])
			}
			a, b = a[1:], b[1:]
			continue
		}
		cut := func(s string) (number, rest string) {
			i := 0
			for i < len(s) && digit(s[i]) {
				i++
			}
			return strings.TrimLeft(s[:i], "0"), s[i:]
		}
		x, restA := cut(a)
		y, restB := cut(b)
		if n := cmp.Or(cmp.Compare(len(x), len(y)), cmp.Compare(x, y)); n != 0 {
			return n
		}
		a, b = restA, restB
	}
	return cmp.Compare(len(a), len(b))
}

// bytes is a number of bytes for a person.
func bytes(n int64) string {
	if n < 0 {
		return "?"
	}
	units := []string{"B", "kB", "MB", "GB", "TB", "PB", "EB"}
	f, i := float64(n), 0
	for f >= 999.5 && i < len(units)-1 {
		f /= 1000
		i++
	}
	if i == 0 {
		return fmt.Sprintf("%d B", n)
	}
	if f < 9.95 {
		return fmt.Sprintf("%.1f %s", f, units[i])
	}
	return fmt.Sprintf("%.0f %s", f, units[i])
}

// sizeOf is the size of an entry; folders have none.
func sizeOf(e viewer.FileEntry) string {
	switch {
	case e.IsFolder() || e.Type == viewer.Special || e.Broken:
		return ""
	case e.Size < 0:
		return "?"
	}
	return bytes(e.Size)
}

// timeOf is when an entry was changed.
func timeOf(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Local().Format("2006-01-02 15:04")
}

// modeText is permissions as ls writes them.
func modeText(e viewer.FileEntry) string {
	if !e.HasMode {
		return ""
	}
	out := []byte(letterOf(e.Type) + "rwxrwxrwx")
	for i := range 9 {
		if e.Mode&(1<<(8-i)) == 0 {
			out[1+i] = '-'
		}
	}
	special := func(bit uint32, at int, with, without byte) {
		if e.Mode&bit == 0 {
			return
		}
		if out[at] == 'x' {
			out[at] = with
		} else {
			out[at] = without
		}
	}
	special(setUser, 3, 's', 'S')
	special(setGroup, 6, 's', 'S')
	special(sticky, 9, 't', 'T')
	return string(out)
}

func letterOf(t viewer.FileType) string {
	switch t {
	case viewer.Folder:
		return "d"
	case viewer.Link:
		return "l"
	case viewer.Special:
		return "s"
	}
	return "-"
}

// nameOf is an entry's name for a person, with where a link leads.
func nameOf(e viewer.FileEntry) string {
	if e.Type != viewer.Link || e.Target == "" {
		return e.Shown
	}
	return e.Shown + " → " + e.Target
}
