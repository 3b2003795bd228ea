package control

import (
	"encoding/json"
	"strings"
	"testing"
)

// sampleArgs gives a tool every argument it must have.
func sampleArgs(row Row) map[string]any {
	args := map[string]any{}
	for _, a := range row.Arguments() {
		switch {
		case !a.Required:
		case len(a.Enum) > 0:
			args[a.Name] = a.Enum[0]
		case a.Type == Number:
			args[a.Name] = a.Min
		default:
			args[a.Name] = "x"
		}
	}
	return args
}

func TestCheckEveryToolRefusesAStrayName(t *testing.T) {
	for _, row := range Rows() {
		args := sampleArgs(row)
		raw, _ := json.Marshal(args)
		if _, r := Check(row, raw); r != nil {
			t.Errorf("%s: refuses what it requires: %v", row.Name, r)
		}
		args["bogus"] = 1
		raw, _ = json.Marshal(args)
		want := row.Name + `: unknown argument "bogus" (expected: ` + names(row.Arguments()) + `)`
		for _, raw := range []string{string(raw), `{"bogus":null}`} {
			if _, r := Check(row, json.RawMessage(raw)); r == nil || r.Message != want || r.Code != BadRequest {
				t.Errorf("%s %s: got %v, want %s", row.Name, raw, r, want)
			}
		}
	}
}

func TestCheckRefusals(t *testing.T) {
	deep := strings.Repeat(`{"a":`, 9990) + "1" + strings.Repeat("}", 9990)
	for _, c := range []struct{ name, tool, raw, want string }{
		{"order of the list", "dvv_close", `{"limb":"x"}`, `dvv_close: unknown argument "limb" (expected: limbId)`},
		{"first in the alphabet", "dvv_close", `{"zebra":1,"ant":2,"limbId":"x"}`, `dvv_close: unknown argument "ant" (expected: limbId)`},
		{"no arguments at all", "dvv_limbs", `{"x":1}`, `dvv_limbs: unknown argument "x" (expected: none)`},
		{"another case", "dvv_close", `{"limbid":"x"}`, `dvv_close: unknown argument "limbid" (expected: limbId)`},
		{"stray before missing", "dvv_type", `{"txt":"a"}`, `dvv_type: unknown argument "txt" (expected: groupId, limbId, member, text, wpm)`},
		{"stray before wrong type", "dvv_type", `{"text":5,"txt":"a"}`, `dvv_type: unknown argument "txt" (expected: groupId, limbId, member, text, wpm)`},
		{"nested, with its place", "dvv_screen", `{"region":{"x":1,"y":1,"width":5}}`, `dvv_screen: unknown argument "region.width" (expected: h, w, x, y)`},
		{"meta is no argument", "dvv_limbs", `{"_meta":{}}`, `dvv_limbs: unknown argument "_meta" (expected: none)`},
		{"a secret by name", "dvv_open", `{"address":"a","password":"hunter2"}`, `dvv_open: unknown argument "password" (expected: address, hostId, perceive, port, protocol, slot)`},
		{"control characters in a name", "dvv_limbs", `{"a\nb":1}`, `dvv_limbs: unknown argument "a\nb" (expected: none)`},
		{"a very long name", "dvv_limbs", `{"` + strings.Repeat("é", 99) + `":1}`, `dvv_limbs: unknown argument "` + strings.Repeat("é", 32) + `..." (expected: none)`},

		{"missing", "dvv_type", `{}`, `dvv_type: "text" is required (a string)`},
		{"missing, of an enum", "dvv_transfer", ``, `dvv_transfer: "action" is required (one of status, cancel)`},
		{"missing, in order", "dvv_run", `{}`, `dvv_run: "command" is required (a string)`},
		{"missing, second", "dvv_run", `{"command":"ls"}`, `dvv_run: "timeoutMs" is required (an integer)`},
		{"missing, nested", "dvv_screen", `{"region":{"x":1,"y":1,"w":5}}`, `dvv_screen: "region.h" is required (an integer)`},
		{"missing before wrong type", "dvv_run", `{"command":5}`, `dvv_run: "timeoutMs" is required (an integer)`},

		{"array", "dvv_limbs", `[]`, `dvv_limbs: the arguments must be an object, got an array`},
		{"string", "dvv_limbs", `"{}"`, `dvv_limbs: the arguments must be an object, got a string`},
		{"number", "dvv_limbs", `0`, `dvv_limbs: the arguments must be an object, got the number 0`},
		{"boolean", "dvv_limbs", `true`, `dvv_limbs: the arguments must be an object, got true`},
		{"not JSON", "dvv_limbs", `{`, `dvv_limbs: the arguments are not valid JSON`},
		{"NaN", "dvv_screen", `{"scale":NaN}`, `dvv_screen: the arguments are not valid JSON`},
		{"not UTF-8", "dvv_type", "{\"text\":\"\xff\"}", `dvv_type: the arguments are not valid UTF-8`},
		{"doubled", "dvv_close", `{"limbId":"a","limbId":"a"}`, `dvv_close: argument "limbId" is given twice`},
		{"doubled by an escape", "dvv_close", `{"limbId":"a","limb\u0049d":"b"}`, `dvv_close: argument "limbId" is given twice`},
		{"doubled before stray", "dvv_close", `{"a":1,"limbId":"a","limbId":"a"}`, `dvv_close: argument "limbId" is given twice`},
		{"doubled, nested", "dvv_screen", `{"region":{"x":1,"y":1,"w":5,"h":1,"w":2}}`, `dvv_screen: argument "w" is given twice`},
		{"doubled, passed on", "dvv_group_run", `{"groupId":"grp_1","action":"click","arguments":{"x":[{"k":1},{"k":2,"k":3}]}}`, `dvv_group_run: argument "k" is given twice`},

		{"number as text", "dvv_click", `{"action":"click","x":"100","y":1}`, `dvv_click: "x" must be an integer, got the string "100"; send it without quotes`},
		{"text for a number", "dvv_click", `{"action":"click","x":"left","y":1}`, `dvv_click: "x" must be an integer, got a string`},
		{"boolean as text", "dvv_hosts", `{"discovered":"true"}`, `dvv_hosts: "discovered" must be true or false, got the string "true"; send it without quotes`},
		{"number for text", "dvv_type", `{"text":5}`, `dvv_type: "text" must be a string, got the number 5`},
		{"null", "dvv_type", `{"text":"a","wpm":null}`, `dvv_type: "wpm" must be a number, got null; leave it out instead`},
		{"null for a required one", "dvv_type", `{"text":null}`, `dvv_type: "text" must be a string, got null; leave it out instead`},
		{"fraction", "dvv_click", `{"action":"click","x":1.5,"y":1}`, `dvv_click: "x" must be an integer, got 1.5`},
		{"fraction lost in a float", "dvv_click", `{"action":"click","x":0.99999999999999999999,"y":1}`, `dvv_click: "x" must be an integer, got 0.99999999999999999999`},
		{"vanishing fraction", "dvv_click", `{"action":"click","x":1e-400,"y":1}`, `dvv_click: "x" must be an integer, got 1e-400`},
		{"too large for a float", "dvv_screen", `{"scale":1e400}`, `dvv_screen: "scale" is too large a number, got 1e400`},
		{"too large for an integer", "dvv_click", `{"action":"click","x":9223372036854775808,"y":1}`, `dvv_click: "x" is too large a number, got 9223372036854775808`},
		{"a huge exponent", "dvv_click", `{"action":"click","x":1e99999999999999999999,"y":1}`, `dvv_click: "x" is too large a number, got 1e99999999999999999999`},
		{"outside bounds", "dvv_open", `{"port":65536}`, `dvv_open: "port" must be from 1 to 65535, got 65536`},
		{"exact when refused", "dvv_click", `{"generation":9007199254740993,"action":"click"}`, `dvv_click: "generation" must be from 0 to 4294967295, got 9007199254740993`},
		{"zero timeout", "dvv_run", `{"command":"ls","timeoutMs":0}`, `dvv_run: "timeoutMs" must be from 1 to 86400000, got 0`},
		{"no such choice", "dvv_click", `{"action":"clik"}`, `dvv_click: "action" must be one of move, click, double, right, middle, drag, scroll, got "clik"`},
		{"choice in another case", "dvv_control", `{"action":"Acquire"}`, `dvv_control: "action" must be one of acquire, release, status, yield, yield_status, got "Acquire"`},
		{"list of the wrong kind", "dvv_click", `{"action":"click","modifiers":"ctrl"}`, `dvv_click: "modifiers" must be an array of strings, got a string`},
		{"item of the wrong kind", "dvv_click", `{"action":"click","modifiers":["ctrl",5]}`, `dvv_click: "modifiers[1]" must be a string, got the number 5`},
		{"object of the wrong kind", "dvv_screen", `{"region":[1,2,3,4]}`, `dvv_screen: "region" must be an object, got an array`},
		{"anything but an object", "dvv_group_run", `{"groupId":"grp_1","action":"click","arguments":"x"}`, `dvv_group_run: "arguments" must be an object, got a string`},
		{"member of the wrong kind", "dvv_status", `{"groupId":"grp_1","member":true}`, `dvv_status: "member" must be an integer or a string, got true`},
		{"member with a fraction", "dvv_status", `{"groupId":"grp_1","member":1.5}`, `dvv_status: "member" must be an integer, got 1.5`},
		{"half a character", "dvv_type", `{"text":"a\ud83d"}`, `dvv_type: "text" holds half of a surrogate pair, which is not a character`},
		{"two first halves", "dvv_type", `{"text":"\ud83d\ud83d"}`, `dvv_type: "text" holds half of a surrogate pair, which is not a character`},
		{"very deep", "dvv_type", `{"text":` + deep + `}`, `dvv_type: "text" must be a string, got an object`},
	} {
		t.Run(c.name, func(t *testing.T) {
			row, ok := RowByName(c.tool)
			if !ok {
				t.Fatalf("no tool %s", c.tool)
			}
			_, r := Check(row, json.RawMessage(c.raw))
			if r == nil {
				t.Fatalf("accepted, want %s", c.want)
			}
			if r.Message != c.want || r.Code != BadRequest {
				t.Errorf("got  %s %s\nwant %s", r.Code, r.Message, c.want)
			}
			if strings.Contains(r.Error()+r.Hint, "hunter2") {
				t.Errorf("says a secret back: %v %s", r, r.Hint)
			}
		})
	}
}

func TestCheckAccepts(t *testing.T) {
	get := func(tool, raw string) Args {
		t.Helper()
		row, _ := RowByName(tool)
		a, r := Check(row, json.RawMessage(raw))
		if r != nil {
			t.Fatalf("%s %s: %v", tool, raw, r)
		}
		return a
	}
	for _, raw := range []string{"", "null", " \n{} ", "{}"} {
		if a := get("dvv_limbs", raw); a.Has("limbId") {
			t.Errorf("%q: has an argument", raw)
		}
	}
	a := get("dvv_click", ` { "x" : 100.0, "y":3e2, "action":"drag", "toX":-0, "toY":-12, "modifiers":["ctrl","shift"], "generation":4294967295, "member":"2", "groupId":"grp_1" } `)
	if a.Int("x") != 100 || a.Int("y") != 300 || a.Int("toX") != 0 || a.Int("toY") != -12 || a.Int("generation") != 4294967295 {
		t.Errorf("got x %d y %d toX %d toY %d generation %d", a.Int("x"), a.Int("y"), a.Int("toX"), a.Int("toY"), a.Int("generation"))
	}
	if got := strings.Join(a.Strings("modifiers"), "+"); got != "ctrl+shift" {
		t.Errorf("got modifiers %s", got)
	}
	if a.Text("member") != "2" || a.Text("action") != "drag" || a.Has("button") || a.Int("clicks") != 0 {
		t.Errorf("got member %q action %q, button %v", a.Text("member"), a.Text("action"), a.Has("button"))
	}
	if got := get("dvv_status", `{"member":2.0}`).Text("member"); got != "2" {
		t.Errorf("got member %q, want 2", got)
	}
	if got := get("dvv_click", `{"action":"move","x":9007199254740993}`).Int("x"); int64(got) != 9007199254740993 {
		t.Errorf("got x %d, want 9007199254740993", got)
	}
	if got := get("dvv_click", `{"action":"move","x":-9223372036854775808}`).Int("x"); int64(got) != -1<<63 {
		t.Errorf("got x %d", got)
	}
	if got := get("dvv_screen", `{"scale":0.5}`); got.Number("scale") != 0.5 || got.Int("scale") != 0 {
		t.Errorf("got scale %v %d", got.Number("scale"), got.Int("scale"))
	}
	if got := get("dvv_screen", `{"region":{"x":1,"y":2,"w":3,"h":4}}`).Object("region"); got.Int("w") != 3 || !got.Has("h") || got.Has("z") {
		t.Errorf("got region %+v", got)
	}
	if got := get("dvv_type", `{"text":"a\u0000\n\ud83d\ude00\\ud83d é"}`).Text("text"); got != "a\x00\n😀\\ud83d é" {
		t.Errorf("got text %q", got)
	}
	if !get("dvv_hosts", `{"discovered":true}`).Bool("discovered") {
		t.Error("discovered was lost")
	}
	if got := string(get("dvv_group_run", `{"groupId":"grp_1","action":"click","arguments":{"x": 1, "bogus":2}}`).Raw("arguments")); got != `{"x": 1, "bogus":2}` {
		t.Errorf("got arguments %s", got)
	}
}

// The getters of a Check that refused, or of a name that is no argument, give
// nothing rather than panic.
func TestArgsZero(t *testing.T) {
	var a Args
	if a.Has("x") || a.Text("x") != "" || a.Number("x") != 0 || a.Int("x") != 0 || a.Bool("x") || a.Strings("x") != nil || a.Raw("x") != nil || a.Object("x").Has("y") {
		t.Error("the zero Args has something")
	}
}

func FuzzCheck(f *testing.F) {
	for _, s := range []string{``, `null`, `{}`, `[]`, `{"x":1e400}`, `{"region":{"x":1}}`, `{"text":"\ud83d"}`, `{"member":-1e-1}`, `{"modifiers":["a",null]}`, "\xff", `{"a":{"b":1,"b":2}}`} {
		f.Add(uint8(7), s)
	}
	rows := Rows()
	f.Fuzz(func(t *testing.T, n uint8, raw string) {
		row := rows[int(n)%len(rows)]
		a, r := Check(row, json.RawMessage(raw))
		if r != nil {
			if !strings.HasPrefix(r.Message, row.Name+": ") || r.Code != BadRequest {
				t.Fatalf("got refusal %v", r)
			}
			return
		}
		for _, arg := range row.Arguments() {
			if arg.Required && !a.Has(arg.Name) {
				t.Fatalf("%s accepted without %s: %s", row.Name, arg.Name, raw)
			}
			if arg.Type == Number && arg.Max > arg.Min && a.Has(arg.Name) && (a.Number(arg.Name) < arg.Min || a.Number(arg.Name) > arg.Max) {
				t.Fatalf("%s accepted %s out of bounds: %s", row.Name, arg.Name, raw)
			}
		}
	})
}
