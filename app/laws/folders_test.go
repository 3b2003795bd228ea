package laws

import (
	"slices"
	"testing"
)

// Only control/paths opens local files on behalf of an agent: what serves the
// tools has no way to open one by itself.
func TestOnlyPathsOpensFilesForAgents(t *testing.T) {
	for _, p := range list(t, "./control", "./control/plane", "./control/grant", "./control/wheel", "./control/server", "./mcpbridge") {
		for _, banned := range []string{"os", "os/exec", "io/ioutil", "syscall"} {
			if slices.Contains(p.Imports, banned) {
				t.Errorf("%s imports %s: local files of an agent go through control/paths", p.ImportPath, banned)
			}
		}
	}
}
