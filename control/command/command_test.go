package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
)

// sample is a registry with a bit of everything.
func sample(t *testing.T, home Home) (*Registry, map[string]int) {
	t.Helper()
	ran := map[string]int{}
	r := New(home)
	err := r.Add(
		Command{
			ID: "view.zoom", Label: "Zoom", Kind: Action, Menu: []string{"View"}, Shortcuts: []Shortcut{{Chord: "Viewer+="}, {Chord: "Viewer+1", Params: Params{"percent": 100}}},
			Params: []Param{{Name: "percent", Type: Integer}, {Name: "mode", Type: String, Enum: []string{"soft", "hard"}}, {Name: "now", Type: Bool, Default: true}},
			Run:    func(_ context.Context, p Params) (any, error) { ran["view.zoom"]++; return p, nil },
		},
		Command{
			ID: "session.close", Label: "Close session", Kind: Action, Params: []Param{{Name: "session", Type: String, Required: true}},
			Enabled: func(p Params) error {
				if p.Text("session") == "s_1" {
					return nil
				}
				return errors.New("no such session")
			},
			Run: func(context.Context, Params) (any, error) { ran["session.close"]++; return nil, nil },
		},
		Command{ID: "session.slow", Label: "Slow", Kind: Query, Run: func(context.Context, Params) (any, error) {
			return Later(func(ctx context.Context) (any, error) { <-ctx.Done(); return nil, ctx.Err() }), nil
		}},
		Command{ID: "app.panic", Label: "Panic", Kind: Query, Run: func(context.Context, Params) (any, error) { panic("boo") }},
		Command{ID: "control.takeWheel", Label: "Take", Kind: Action, Person: true, Run: func(context.Context, Params) (any, error) { ran["take"]++; return nil, nil }},
	)
	if err != nil {
		t.Fatal(err)
	}
	return r, ran
}

func TestExecute(t *testing.T) {
	tests := []struct {
		id, params string
		want       string // JSON of the result, or what the error holds after "!"
	}{
		{"view.zoom", `{"percent": 50, "mode": "soft"}`, `{"mode":"soft","percent":50}`},
		{"view.zoom", ``, `{}`},
		{"view.zoom", `null`, `{}`},
		{"view.zoom", ` {"percent": 1e2, "now": false} `, `{"now":false,"percent":100}`},
		{"view.zoom", `{"percent": null}`, `{}`},
		{"view.zoom", `{"percent": "50"}`, `!"percent" must be a whole number, without quotes`},
		{"view.zoom", `{"percent": 1.5}`, `!must be a whole number`},
		{"view.zoom", `{"percent": 1e40}`, `!must be a whole number`},
		{"view.zoom", `{"mode": "loud"}`, `!must be one of soft, hard`},
		{"view.zoom", `{"mode": 3}`, `!must be a text`},
		{"view.zoom", `{"now": "true"}`, `!must be true or false`},
		{"view.zoom", `{"prozent": 50}`, `!unknown parameter "prozent"; it takes {percent?: int, mode?: soft|hard, now?: bool=true}`},
		{"view.zoom", `{"prozent": null}`, `!unknown parameter "prozent"`},
		{"view.zoom", `{"percent": 1, "percent": 2}`, `!given twice`},
		{"view.zoom", `[]`, `!not a JSON object`},
		{"view.zoom", `{"percent": 1`, `!not valid JSON`},
		{"view.zoom", `{"percent": 1} x`, `!after the parameters' closing brace`},
		{"session.close", `{}`, `!parameter "session" is missing`},
		{"session.close", `{"session": "s_9"}`, `!session.close: no such session`},
		{"session.close", `{"session": "s_1"}`, `null`},
		{"app.panic", ``, `!internal fault: boo`},
		{"control.takeWheel", ``, `!only a person`},
		{"session.clsoe", ``, `!unknown command "session.clsoe"; did you mean session.close`},
		{"nothing.likeIt", ``, `!unknown command "nothing.likeIt"`},
		{strings.Repeat("x", 100000), ``, `!unknown command "xxx`},
	}
	for _, tt := range tests {
		r, ran := sample(t, Here)
		v, err := r.Execute(context.Background(), tt.id, json.RawMessage(tt.params))
		if want, failing := strings.CutPrefix(tt.want, "!"); failing {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%.20s %s: error %v, want one with %q", tt.id, tt.params, err, want)
			}
			if len(ran) != 0 {
				t.Errorf("%.20s %s: ran although it was refused", tt.id, tt.params)
			}
			continue
		}
		got, _ := json.Marshal(v)
		if err != nil || string(got) != tt.want {
			t.Errorf("%s %s = %s, %v; want %s", tt.id, tt.params, got, err, tt.want)
		}
	}
}

func TestLaterIsWaitedFor(t *testing.T) {
	r, _ := sample(t, Here)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() {
		_, err := r.Execute(ctx, "session.slow", nil)
		done <- err
	}()
	select {
	case err := <-done:
		t.Fatalf("it came back at once: %v", err)
	default:
	}
	cancel()
	select {
	case err := <-done:
		if !errors.Is(err, context.Canceled) {
			t.Errorf("error %v, want the context's", err)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("it did not come back")
	}
	if v, err := r.Invoke("session.slow", nil); v != nil || err != nil {
		t.Errorf("Invoke waited or failed: %v, %v", v, err)
	}
}

// A home that is busy does not run what was given up.
func TestHomeRefuses(t *testing.T) {
	r, ran := sample(t, func(context.Context, func()) error { return errors.New("busy; it was not started") })
	if _, err := r.Execute(context.Background(), "view.zoom", nil); err == nil || !strings.Contains(err.Error(), "not started") {
		t.Errorf("error %v", err)
	}
	if _, err := r.List(context.Background(), ""); err == nil {
		t.Error("the list came without home")
	}
	if len(ran) != 0 {
		t.Error("it ran")
	}
}

func TestInvoke(t *testing.T) {
	r, ran := sample(t, Here)
	if _, err := r.Invoke("control.takeWheel", nil); err != nil || ran["take"] != 1 {
		t.Errorf("a person could not take the wheel: %v", err)
	}
	if _, err := r.Invoke("view.zoom", Params{"percent": "x"}); err == nil {
		t.Error("a wrong parameter was taken")
	}
	if _, err := r.Invoke("session.close", nil); err == nil {
		t.Error("a missing parameter was not missed")
	}
	if _, err := r.Invoke("no.such", nil); err == nil {
		t.Error("an unknown command ran")
	}
}

func TestList(t *testing.T) {
	r, _ := sample(t, Here)
	list, err := r.List(context.Background(), "ZOOM")
	if err != nil || len(list) != 1 {
		t.Fatalf("list %v, %v", list, err)
	}
	got, _ := json.Marshal(list[0])
	want := `{"id":"view.zoom","label":"Zoom","menu":["View"],"shortcut":"Ctrl+Alt+Shift+=","params":"{percent?: int, mode?: soft|hard, now?: bool=true}",` +
		`"paramList":[{"name":"percent","type":"integer","required":false,"doc":"","access":"none"},{"name":"mode","type":"string","required":false,"enum":["soft","hard"],"doc":"","access":"none"},` +
		`{"name":"now","type":"boolean","required":false,"default":true,"doc":"","access":"none"}],"enabled":true,"kind":"action","ui":false,"confirm":false}`
	if string(got) != want {
		t.Errorf("record\n%s\nwant\n%s", got, want)
	}
	all, err := r.List(context.Background(), "")
	if err != nil || len(all) != 5 {
		t.Fatalf("%d commands, %v", len(all), err)
	}
	for _, rec := range all {
		if rec.ID == "session.close" && (rec.Enabled || rec.DisabledReason != "no such session" || rec.Shortcut != nil) {
			t.Errorf("record %+v", rec)
		}
		if rec.ID == "control.takeWheel" && (rec.Enabled || rec.DisabledReason == "") {
			t.Errorf("record %+v", rec)
		}
	}
}

func TestAddRefuses(t *testing.T) {
	run := func(context.Context, Params) (any, error) { return nil, nil }
	ok := Command{ID: "a.b", Label: "A", Kind: Action, Run: run, Shortcuts: []Shortcut{{Chord: "Viewer+A"}}}
	for name, c := range map[string]Command{
		"the same id":           {ID: "a.b", Label: "A", Kind: Action, Run: run},
		"no area":               {ID: "b", Label: "A", Kind: Action, Run: run},
		"no label":              {ID: "a.c", Kind: Action, Run: run},
		"nothing to do":         {ID: "a.c", Label: "A", Kind: Action},
		"no kind":               {ID: "a.c", Label: "A", Run: run},
		"the same chord":        {ID: "a.c", Label: "A", Kind: Action, Run: run, Shortcuts: []Shortcut{{Chord: "Ctrl+Alt+Shift+A"}}},
		"no chord":              {ID: "a.c", Label: "A", Kind: Action, Run: run, Shortcuts: []Shortcut{{Chord: "Hyper+A"}}},
		"parameters it has not": {ID: "a.c", Label: "A", Kind: Action, Run: run, Shortcuts: []Shortcut{{Chord: "Viewer+B", Params: Params{"x": 1}}}},
	} {
		r := New(Here)
		if err := r.Add(ok); err != nil {
			t.Fatal(err)
		}
		if err := r.Add(c); err == nil {
			t.Errorf("%s was added", name)
		}
	}
}

func TestChords(t *testing.T) {
	r, _ := sample(t, Here)
	if c, p, ok := r.Chord(ViewerChord("1")); !ok || c.ID != "view.zoom" || p.Int("percent") != 100 {
		t.Errorf("Viewer+1 is %v %v %v", c, p, ok)
	}
	if _, _, ok := r.Chord(Chord{Ctrl: true, Key: "1"}); ok {
		t.Error("Ctrl+1 is taken")
	}
	for in, want := range map[string]string{"Viewer+F": "Ctrl+Alt+Shift+F", "Ctrl+K": "Ctrl+K", "F11": "F11", "Viewer++": "Ctrl+Alt+Shift++", "Shift+Alt+]": "Alt+Shift+]"} {
		c, err := ParseChord(in)
		if err != nil || c.String() != want {
			t.Errorf("%s is %s, %v; want %s", in, c, err, want)
		}
	}
	for _, in := range []string{"", "Ctrl+", "Meta+X"} {
		if c, err := ParseChord(in); err == nil {
			t.Errorf("%q is the chord %v", in, c)
		}
	}
}

func TestDistance(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		d    int
	}{{"", "", 0}, {"abc", "abc", 0}, {"abc", "", 3}, {"kitten", "sitting", 3}, {"ab", "ba", 2}} {
		if d := distance(tt.a, tt.b); d != tt.d {
			t.Errorf("distance(%q, %q) = %d, want %d", tt.a, tt.b, d, tt.d)
		}
	}
}

func FuzzParams(f *testing.F) {
	for _, s := range []string{`{}`, `{"percent":1}`, `{"percent":{}}`, `[1,2`, `{"mode":"soft"}{}`, "\x00"} {
		f.Add(s)
	}
	c := &Command{ID: "a.b", Params: []Param{{Name: "percent", Type: Integer}, {Name: "mode", Type: String}, {Name: "now", Type: Bool}}}
	f.Fuzz(func(t *testing.T, s string) {
		p, err := c.parse(json.RawMessage(s))
		if err == nil {
			if again := c.check(p); again != nil {
				t.Errorf("%q parsed to %v, which is refused: %v", s, fmt.Sprint(p), again)
			}
		}
	})
}
