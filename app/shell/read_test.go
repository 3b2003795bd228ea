package shell

import (
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"deskvnc/control"
)

// read reads a command line as its verb does, before anything is looked up.
func read(t *testing.T, line ...string) (*call, error) {
	t.Helper()
	for _, row := range control.Rows() {
		words := strings.Fields(row.CLI.Verb)
		if len(line) < len(words) || strings.Join(line[:len(words)], " ") != row.CLI.Verb {
			continue
		}
		v := &verb{row: row}
		cmd := v.command()
		if err := cmd.ParseFlags(line[len(words):]); err != nil {
			return nil, badUsage(cmd, "%w", err)
		}
		c := &call{verb: v, cmd: cmd, args: map[string]any{}}
		return c, c.read(cmd.Flags().Args())
	}
	t.Fatalf("no verb for %v", line)
	return nil, nil
}

const limb = "lmb_vnc_0123456789ab_0"

// What stands in the place of the ID, and what the tool is given.
func TestRead(t *testing.T) {
	for _, c := range []struct {
		line  string // ~ is a space inside an argument
		id    string
		maybe string
		args  string // of the tool, or what the error says
	}{
		{"limbs", "", "", `{}`},
		{"limbs x", "", "", `unknown argument "x"`},
		{"hosts --discovered", "", "", `{"discovered":true}`},
		{"status", "", "", `{}`},
		{"status lab", "lab", "", `{}`},
		{"status " + limb, limb, "", `{}`},
		{"status a b", "", "", `too many arguments after "a"`},
		{"status --group g --member 1", "", "", `{"groupId":"g","member":1}`},
		{"status --group g --member " + limb, "", "", `{"groupId":"g","member":"` + limb + `"}`},
		{"status --group g lab", "", "", `unknown argument "lab"`},
		{"click 1 2", "", "", `{"action":"click","x":1,"y":2}`},
		{"click lab 1 2 --generation 3", "lab", "", `{"action":"click","generation":3,"x":1,"y":2}`},
		{"click 1 2 --action drag --to-x 5 --to-y 6 --button right", "", "", `{"action":"drag","button":"right","toX":5,"toY":6,"x":1,"y":2}`},
		{"click 1 2 --modifiers ctrl,shift", "", "", `{"action":"click","modifiers":["ctrl","shift"],"x":1,"y":2}`},
		{"click -- -1 2", "", "", `{"action":"click","x":-1,"y":2}`},
		{"click", "", "", "X is missing"},
		{"click 1", "", "", "Y is missing"},
		{"click 1.5 2", "", "", "X: \"1.5\" is not a whole number"},
		{"click 1 2 3 4", "", "", "too many arguments"},
		{"click 1 2 --action hop", "", "", "--action"},
		{"click 1 2 --generation x", "", "", "--generation"},
		{"type hello", "", "", `{"text":"hello"}`},
		{"type lab hello~world", "lab", "", `{"text":"hello world"}`},
		{"type hello --wpm 60", "", "", `{"text":"hello","wpm":60}`},
		{"type -- -x", "", "", `{"text":"-x"}`},
		{"type", "", "", "TEXT is missing"},
		{"type " + limb, "", "", "TEXT is missing after the ID"},
		{"type one two three", "", "", "quotes"},
		{"key ctrl+c", "", "", `{"keys":"ctrl+c"}`},
		{"key lab ctrl+c", "lab", "", `{"keys":"ctrl+c"}`},
		{"screen", "", "", `{}`},
		{"screen lab --scale 0.5", "lab", "", `{"scale":0.5}`},
		{"screen --region 1,2,30,40", "", "", `{"form":"region","region":{"h":40,"w":30,"x":1,"y":2}}`},
		{"screen --region 1,2", "", "", "4 numbers"},
		{"screen --region 1,2,3,x", "", "", `"x" is not a whole number`},
		{"wait --until connected --timeout 500 --quiet 5", "", "", `{"quietMs":5,"timeoutMs":500,"until":"connected"}`},
		{"wait lab --until text --text hello", "lab", "", `{"text":"hello","until":"text"}`},
		{"wait", "", "", "--until is required"},
		{"wait --until never", "", "", "--until"},
		{"control acquire --reason why --wait-ms 10", "", "", `{"action":"acquire","reason":"why","waitMs":10}`},
		{"control acquire lab", "lab", "", `{"action":"acquire"}`},
		{"control", "", "", "ACTION is missing: acquire, release"},
		{"control grab", "", "", "ACTION"},
		{"clip get", "", "", `{"action":"get"}`},
		{"clip get lab", "lab", "", `{"action":"get"}`},
		{"clip get lab text", "", "", "too many"},
		{"clip set hello", "", "", `{"action":"set","text":"hello"}`},
		{"clip set lab hello", "lab", "", `{"action":"set","text":"hello"}`},
		{"clip set", "", "", "TEXT is missing"},
		{"run ls", "", "", `{"command":"ls","timeoutMs":30000}`},
		{"run lab ls~-l --timeout 5000 --cwd /tmp", "lab", "", `{"command":"ls -l","cwd":"/tmp","timeoutMs":5000}`},
		{"run lab -- ls -l", "lab", "", `{"command":"ls -l","timeoutMs":30000}`},
		{"run -- ls -l", "", "", `{"command":"ls -l","timeoutMs":30000}`},
		{"term read", "", "", `{}`},
		{"term read lab --since 5", "lab", "", `{"since":"5"}`},
		{"term send hello", "", "", `{"text":"hello"}`},
		{"term send lab hello", "lab", "", `{"text":"hello"}`},
		{"term send --hex 03", "", "", `{"bytesHex":"03"}`},
		{"term send lab --hex 03", "lab", "", `{"bytesHex":"03"}`},
		{"files list", "", "", `{"action":"list"}`},
		{"files list /tmp", "/tmp", "path", `{"action":"list"}`},
		{"files list " + limb, limb, "", `{"action":"list"}`},
		{"files list lab /tmp", "lab", "", `{"action":"list","path":"/tmp"}`},
		{"files home", "", "", `{"action":"home"}`},
		{"files get /a --to /b", "", "", `{"action":"get","path":"/a","to":"/b"}`},
		{"files remove lab /a --recursive", "lab", "", `{"action":"remove","path":"/a","recursive":true}`},
		{"files get", "", "", "PATH is missing"},
		{"reconnect lab --timeout 9", "lab", "", `{"timeoutMs":9}`},
		{"close", "", "", `{}`},
		{"close lab", "lab", "", `{}`},
		{"transfer cancel --transfer-id t", "", "", `{"action":"cancel","transferId":"t"}`},
		{"group list", "", "", `{}`},
		{"group list g", "", "", `{"groupId":"g"}`},
		{"group shrink g 2", "", "", `{"groupId":"g","n":2}`},
		{"group shrink g two", "", "", "N: \"two\" is not a whole number"},
		{"group shrink g", "", "", "N is required"},
		{"group close", "", "", "GROUP is required"},
		{"group run g key ctrl+c", "", "", `{"action":"key","arguments":{"keys":"ctrl+c"},"groupId":"g"}`},
		{"group run g click 1 2", "", "", `{"action":"click","arguments":{"action":"click","x":1,"y":2},"groupId":"g"}`},
		{`group run g wait --arguments {"until":"idle"}`, "", "", `{"action":"wait","arguments":{"until":"idle"},"groupId":"g"}`},
		{`group run g key Enter --arguments {}`, "", "", "not both"},
		{"open", "", "", "NAME or ADDRESS is missing"},
		{"open a b", "", "", `unknown argument "b"`},
		{"open --host-id h_1 --perceive", "", "", `{"hostId":"h_1","perceive":true}`},
		{"open a --address b", "", "", "not both"},
	} {
		line := strings.Fields(c.line)
		for i := range line {
			line[i] = strings.ReplaceAll(line[i], "~", " ")
		}
		got, err := read(t, line...)
		if err != nil {
			var e *exit
			if !errors.As(err, &e) || e.code != exitUsage || e.usage == "" || !strings.Contains(err.Error(), c.args) {
				t.Errorf("%s: got error %v, want %s", c.line, err, c.args)
			}
			continue
		}
		b, err := json.Marshal(got.args)
		if err != nil {
			t.Fatal(err)
		}
		if string(b) != c.args || got.id != c.id || got.maybe != c.maybe {
			t.Errorf("%s: got %s, id %q, maybe %q; want %s, %q, %q", c.line, b, got.id, got.maybe, c.args, c.id, c.maybe)
		}
	}
}

// Every row has its verb, every argument its flag or place, and none of them
// has changed the rows that all programs share.
func TestEveryRow(t *testing.T) {
	before, err := json.Marshal(control.Rows())
	if err != nil {
		t.Fatal(err)
	}
	root := &cobra.Command{Use: "dvv"}
	root.SetOut(io.Discard)
	Register(root, "0")
	for _, row := range control.Rows() {
		cmd, rest, err := root.Find(strings.Fields(row.CLI.Verb))
		if err != nil || len(rest) > 0 {
			t.Errorf("%s: %v %v", row.Name, rest, err)
			continue
		}
		v := &verb{row: row}
		for _, a := range row.Arguments() {
			flag := cmd.Flags().Lookup(v.flagName(a)) != nil
			place := strings.Contains(" "+strings.Join(row.CLI.Positionals, " ")+" ", " "+a.Name+" ")
			if flag == place && row.CLI.Verb != "open" {
				t.Errorf("%s: %s is a flag %v and has a place %v", row.Name, a.Name, flag, place)
			}
		}
		if strings.Contains(cmd.Long, "dvv_") || cmd.Short == "" || cmd.GroupID == "" && !strings.Contains(row.CLI.Verb, " ") {
			t.Errorf("%s: its help is not one of a command line", row.Name)
		}
		if err := cmd.Help(); err != nil {
			t.Error(err)
		}
	}
	after, err := json.Marshal(control.Rows())
	if err != nil || string(before) != string(after) {
		t.Error("the rows were changed")
	}
}

// Text from elsewhere does not move the cursor or turn the line around.
func TestScreenText(t *testing.T) {
	if got := screenText("a\x1b[2Jb\u202ec\nd\r\u0007"); got != "a[2Jbc\nd" {
		t.Errorf("got %q", got)
	}
	for in, want := range map[string]string{
		"vnc://bob:pw@host": "...@host", "bob:pw@": "...@", "host": "host", "a@b@c": "...@c",
	} {
		if got := addressed(in); got != want {
			t.Errorf("%s: got %s, want %s", in, got, want)
		}
	}
	if got := quoted(strings.Repeat("ä", 100)); got != strings.Repeat("ä", 64)+"..." {
		t.Errorf("got %s", got)
	}
}

// The structured form stays what it was, with the files beside it.
func TestWithPaths(t *testing.T) {
	for _, c := range []struct {
		in    string
		paths []string
		want  string
	}{
		{`{"a":1}`, nil, `{"a":1}`},
		{`{"a":1}`, []string{`x"y`}, `{"a":1,"imagePath":"x\"y"}`},
		{`{"a":1}`, []string{"x", "y"}, `{"a":1,"imagePaths":["x","y"]}`},
		{``, []string{"x"}, `{"imagePath":"x"}`},
	} {
		got, err := withPaths(json.RawMessage(c.in), c.paths)
		if err != nil || got != c.want || !json.Valid([]byte(got)) {
			t.Errorf("got %s %v, want %s", got, err, c.want)
		}
	}
}
