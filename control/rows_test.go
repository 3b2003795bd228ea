package control

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// declared is the tool reference: names in order, arguments in order, a star
// on the required ones.
var declared = []struct{ name, args string }{
	{"dvv_hosts", "discovered"},
	{"dvv_limbs", ""},
	{"dvv_open", "hostId address port protocol slot perceive"},
	{"dvv_close", "limbId*"},
	{"dvv_reconnect", "limbId groupId member timeoutMs"},
	{"dvv_status", "limbId groupId member"},
	{"dvv_control", "limbId groupId member action* reason waitMs"},
	{"dvv_click", "limbId groupId member generation action* x y toX toY button direction clicks modifiers"},
	{"dvv_type", "limbId groupId member text* wpm"},
	{"dvv_key", "limbId groupId member keys*"},
	{"dvv_screen", "limbId groupId member form region scale"},
	{"dvv_wait", "limbId groupId member until* text quietMs timeoutMs"},
	{"dvv_clipboard", "limbId groupId member action* text"},
	{"dvv_run", "limbId groupId member command* cwd timeoutMs* maxOutputBytes"},
	{"dvv_term_read", "limbId groupId member since"},
	{"dvv_term_send", "limbId groupId member text bytesHex"},
	{"dvv_files", "limbId groupId member action* path to from contentBase64 mode recursive"},
	{"dvv_transfer", "limbId groupId member action* transferId"},
	{"dvv_group_open", "hostIds addresses protocol perceive"},
	{"dvv_group_list", "groupId"},
	{"dvv_group_grow", "groupId* hostIds addresses protocol perceive"},
	{"dvv_group_shrink", "groupId* n*"},
	{"dvv_group_close", "groupId*"},
	{"dvv_group_run", "groupId* action* arguments"},
	{"dvv_signals", "limbId groupId member"},
}

func TestRowsAreTheReference(t *testing.T) {
	rows := Rows()
	if len(rows) != ToolCount || len(declared) != ToolCount {
		t.Fatalf("got %d tools, want %d", len(rows), ToolCount)
	}
	for i, want := range declared {
		row := rows[i]
		if row.Name != want.name {
			t.Errorf("tool %d: got %s, want %s", i, row.Name, want.name)
			continue
		}
		var args []string
		for _, a := range row.Arguments() {
			n := a.Name
			if a.Required {
				n += "*"
			}
			args = append(args, n)
		}
		if got := strings.Join(args, " "); got != want.args {
			t.Errorf("%s: got arguments %q, want %q", row.Name, got, want.args)
		}
		if by, ok := RowByName(want.name); !ok || by.Name != want.name {
			t.Errorf("RowByName(%s) finds %q", want.name, by.Name)
		}
	}
	if _, ok := RowByName("dvv_click "); ok {
		t.Error("RowByName finds a tool that does not exist")
	}
}

func TestRowsAreComplete(t *testing.T) {
	for _, row := range Rows() {
		if len(row.Doc) <= 80 || row.Title == "" || row.CLI.Verb == "" || row.Output == "" {
			t.Errorf("%s: doc, title, verb or output schema is missing", row.Name)
		}
		switch row.Deadline {
		case Own:
			if _, ok := argNamed(row.Args, "timeoutMs"); !ok {
				t.Errorf("%s: has its own deadline and no timeoutMs", row.Name)
			}
		case Short, Stream:
		default:
			t.Errorf("%s: got deadline %q", row.Name, row.Deadline)
		}
		if action, ok := argNamed(row.Args, "action"); ok && row.Actions != nil {
			for _, a := range action.Enum {
				if _, ok := row.Actions[a]; !ok {
					t.Errorf("%s: action %s names no capability", row.Name, a)
				}
			}
			if len(row.Actions) != len(action.Enum) || row.Capability != "" {
				t.Errorf("%s: capabilities of actions do not fit its actions", row.Name)
			}
		}
		for _, a := range row.Arguments() {
			if a.Doc == "" {
				t.Errorf("%s: argument %s has no doc", row.Name, a.Name)
			}
			if a.Name == "action" && len(a.Enum) == 0 {
				t.Errorf("%s: action lists nothing", row.Name)
			}
		}
		for _, p := range row.CLI.Positionals {
			if _, ok := argNamed(row.Arguments(), p); !ok {
				t.Errorf("%s: positional %s is no argument", row.Name, p)
			}
		}
		for arg := range row.CLI.Flags {
			if _, ok := argNamed(row.Arguments(), arg); !ok {
				t.Errorf("%s: flag for %s, which is no argument", row.Name, arg)
			}
		}
		if h := row.Hints; h.ReadOnly && h.Destructive {
			t.Errorf("%s: is both read-only and destructive", row.Name)
		}
		if row.Needs.Lease && !row.Hints.OpenWorld {
			t.Errorf("%s: acts on a remote machine and says it does not", row.Name)
		}
	}
}

func TestSelectorIsWhole(t *testing.T) {
	trio := []string{"limbId", "groupId", "member"}
	for _, row := range Rows() {
		n := 0
		for _, a := range row.Arguments() {
			if slices.Contains(trio, a.Name) {
				n++
			}
		}
		if row.Selector != (n == 3) {
			t.Errorf("%s: has %d of the three selectors", row.Name, n)
		}
	}
}

// A model that reads one of these words asks for things that no connection
// carries.
var forbidden = regexp.MustCompile(`active_window|app_name|foreground_handle|window_list|z_order`)

func TestSchemas(t *testing.T) {
	for _, row := range Rows() {
		in, out := InputSchema(row), OutputSchema(row)
		for _, text := range []string{row.Doc, string(in), string(out)} {
			if m := forbidden.FindString(text); m != "" {
				t.Errorf("%s: names %s", row.Name, m)
			}
		}
		var input struct {
			Type       string
			Properties map[string]struct{ Description string }
			Required   []string
			Additional *bool `json:"additionalProperties"`
		}
		if err := json.Unmarshal(in, &input); err != nil {
			t.Errorf("%s: input schema: %v\n%s", row.Name, err, in)
			continue
		}
		if input.Type != "object" || input.Additional == nil || *input.Additional || len(input.Properties) != len(row.Arguments()) {
			t.Errorf("%s: input schema is not a closed object of its arguments: %s", row.Name, in)
		}
		at := -1
		for _, a := range row.Arguments() {
			i := strings.Index(string(in), `"`+a.Name+`":{`)
			if i < at {
				t.Errorf("%s: argument %s is out of order", row.Name, a.Name)
			}
			at = i
			if input.Properties[a.Name].Description != a.Doc {
				t.Errorf("%s: argument %s lost its doc", row.Name, a.Name)
			}
			if slices.Contains(input.Required, a.Name) != a.Required {
				t.Errorf("%s: argument %s: required is wrong", row.Name, a.Name)
			}
		}
		var output struct {
			Type  string
			AnyOf []struct {
				Type       string
				Required   []string
				Properties map[string]json.RawMessage
			}
		}
		if err := json.Unmarshal(out, &output); err != nil {
			t.Errorf("%s: output schema: %v\n%s", row.Name, err, out)
			continue
		}
		if output.Type != "object" || len(output.AnyOf) != 2 || output.AnyOf[0].Type != "object" ||
			strings.Join(output.AnyOf[1].Required, " ") != "code message hint" {
			t.Errorf("%s: output schema is not an object of success or refusal: %s", row.Name, out)
		}
		for _, alt := range output.AnyOf {
			for _, name := range alt.Required {
				if _, ok := alt.Properties[name]; !ok {
					t.Errorf("%s: output requires %s and does not describe it", row.Name, name)
				}
			}
		}
	}
}

func TestInputSchemaText(t *testing.T) {
	row := Row{Name: "t", Args: []Arg{
		{Name: "who", Type: NumberOrString, Doc: "a < b"},
		{Name: "n", Type: Number, Whole: true, Min: 1, Max: 9, Required: true},
		{Name: "at", Type: Object, Doc: "where", Fields: []Arg{{Name: "x", Type: Number, Required: true}}},
		{Name: "how", Type: String, Enum: []string{"a", "b"}},
	}}
	want := `{"type":"object","properties":{"who":{"anyOf":[{"type":"integer"},{"type":"string"}],"description":"a < b"},` +
		`"n":{"type":"integer","minimum":1,"maximum":9},` +
		`"at":{"type":"object","properties":{"x":{"type":"number"}},"required":["x"],"additionalProperties":false,"description":"where"},` +
		`"how":{"type":"string","enum":["a","b"]}},"required":["n"],"additionalProperties":false}`
	if got := string(InputSchema(row)); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got, want := string(InputSchema(Row{})), `{"type":"object","properties":{},"additionalProperties":false}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
