package grid

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

const disagreementsFile = "testdata/DISAGREEMENTS.md"

// TestDisagreementsAreListed keeps the table for people in step with the cases.
func TestDisagreementsAreListed(t *testing.T) {
	var b strings.Builder
	b.WriteString("# Where tmux and xterm disagree\n\n" +
		"Of tmux 3.3a and xterm 379, both at 80 by 24. Written by `go test -run TestDisagreements -update`; the tests hold each line to be so.\n" +
		"`goldens.txt` has what each of them showed, `recordings` what vim, htop, less, mc, tmux and bash printed, each cut at seven places,\n" +
		"`vttest` what vttest had printed each time it waited for a key, `reflow.txt` what tmux made of resizes.\n\n" +
		"| case | we follow | why |\n|---|---|---|\n")
	for _, it := range items(t) {
		if it.follow != "both" {
			who := it.follow
			if who == "own" {
				who = "neither"
			}
			fmt.Fprintf(&b, "| %s | %s | %s |\n", it.name, who, it.why)
		}
	}
	for _, r := range resizes {
		if r.own != "" {
			fmt.Fprintf(&b, "| resize: %s | not tmux | %s |\n", r.name, r.own)
		}
	}
	if *update {
		if err := os.WriteFile(disagreementsFile, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(disagreementsFile)
	if err != nil {
		t.Fatal(err)
	}
	if d := same(string(got), b.String()); d != "" {
		t.Errorf("run go test -run TestDisagreements -update: %s", d)
	}
}
