package files

import "testing"

func mkfifo(t testing.TB, _ string) { t.Skip("no pipes in folders on this system") }
