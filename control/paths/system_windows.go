package paths

import (
	"path/filepath"
	"strings"

	"golang.org/x/sys/windows"
)

// noWait is not needed: pipes do not stand in folders.
const noWait = 0

func badText(p string) string { return badWindowsText(p) }

// absolute collapses "..", as the system itself does.
func absolute(p string) (string, error) { return filepath.Abs(p) }

// resolve asks the system for the final path of what is opened, which follows
// links, junctions and mount points alike.
func resolve(p string) (string, error) {
	name, err := windows.UTF16PtrFromString(p)
	if err != nil {
		return "", err
	}
	h, err := windows.CreateFile(name, 0, windows.FILE_SHARE_READ|windows.FILE_SHARE_WRITE|windows.FILE_SHARE_DELETE, nil,
		windows.OPEN_EXISTING, windows.FILE_FLAG_BACKUP_SEMANTICS, 0)
	if err != nil {
		return "", err
	}
	defer windows.CloseHandle(h)
	buf := make([]uint16, windows.MAX_LONG_PATH)
	n, err := windows.GetFinalPathNameByHandle(h, &buf[0], uint32(len(buf)), 0)
	if err != nil {
		return "", err
	}
	if int(n) > len(buf) {
		return "", windows.ERROR_FILENAME_EXCED_RANGE
	}
	return plainWindowsPath(windows.UTF16ToString(buf[:n])), nil
}

func sameName(a, b string) bool { return strings.EqualFold(a, b) }
