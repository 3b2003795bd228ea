package command

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// A Home runs fn on the one goroutine that commands run on and returns when it
// has run, or when ctx ends before it was started: then it never runs, and the
// error says so.
type Home func(ctx context.Context, fn func()) error

// Here is the Home of a program without a window: the caller's goroutine.
func Here(ctx context.Context, fn func()) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	fn()
	return nil
}

// A Registry holds the commands of a program. It is filled once, before use.
type Registry struct {
	home     Home
	commands []*Command
	byID     map[string]*Command
	byChord  map[Chord]*binding
}

type binding struct {
	command *Command
	params  Params
}

// New returns an empty registry whose commands run at home.
func New(home Home) *Registry {
	return &Registry{home: home, byID: map[string]*Command{}, byChord: map[Chord]*binding{}}
}

// Add adds commands. A command that is incomplete, or whose id or chord is
// taken, is an error.
func (r *Registry) Add(commands ...Command) error {
	for i := range commands {
		if err := r.add(&commands[i]); err != nil {
			return err
		}
	}
	return nil
}

func (r *Registry) add(c *Command) error {
	area, verb, ok := strings.Cut(c.ID, ".")
	switch {
	case !ok || area == "" || verb == "":
		return fmt.Errorf("command %q: an id has the form area.verb", c.ID)
	case r.byID[c.ID] != nil:
		return fmt.Errorf("command %q: there are two", c.ID)
	case c.Label == "" || c.Run == nil:
		return fmt.Errorf("command %q: it has no label or does nothing", c.ID)
	case c.Kind != Query && c.Kind != Edit && c.Kind != Action:
		return fmt.Errorf("command %q: its kind is none of query, edit and action", c.ID)
	}
	for _, s := range c.Shortcuts {
		chord, err := ParseChord(s.Chord)
		if err != nil {
			return fmt.Errorf("command %q: %w", c.ID, err)
		}
		if o := r.byChord[chord]; o != nil {
			return fmt.Errorf("command %q: %s runs %s already", c.ID, chord, o.command.ID)
		}
		if err := c.check(s.Params); err != nil {
			return err
		}
		r.byChord[chord] = &binding{c, s.Params}
	}
	r.byID[c.ID] = c
	r.commands = append(r.commands, c)
	return nil
}

// Commands are all commands in the order they were added.
func (r *Registry) Commands() []*Command { return slices.Clone(r.commands) }

// Command is the command with an id.
func (r *Registry) Command(id string) (*Command, bool) {
	c, ok := r.byID[id]
	return c, ok
}

// Chord is the command that a chord runs, and with what.
func (r *Registry) Chord(chord Chord) (c *Command, p Params, ok bool) {
	b := r.byChord[chord]
	if b == nil {
		return nil, nil, false
	}
	return b.command, b.params, true
}

// List describes the commands whose id or label holds filter, upper and lower
// case alike, as they are now.
func (r *Registry) List(ctx context.Context, filter string) ([]Record, error) {
	out := []Record{}
	filter = strings.ToLower(filter)
	err := r.home(ctx, func() {
		for _, c := range r.commands {
			if !strings.Contains(strings.ToLower(c.ID), filter) && !strings.Contains(strings.ToLower(c.Label), filter) {
				continue
			}
			rec := c.record()
			err := r.enabled(c, nil)
			if c.Person {
				err = ErrPerson
			}
			rec.Enabled = err == nil
			if err != nil {
				rec.DisabledReason = err.Error()
			}
			out = append(out, rec)
		}
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// Enabled says why a command cannot run now; nil means it can. It is called
// at home.
func (r *Registry) Enabled(id string, p Params) error {
	c, ok := r.byID[id]
	if !ok {
		return r.unknown(id)
	}
	return r.enabled(c, p)
}

func (r *Registry) enabled(c *Command, p Params) error {
	if c.Enabled == nil {
		return nil
	}
	return c.Enabled(p)
}

// ErrPerson is the reason why a command is refused to everybody but a person
// at the window.
var ErrPerson = errors.New("only a person at the window can do this; use the tools to act on a machine")

// Execute runs a command from any other goroutine than home, with parameters
// in JSON, and waits for its result.
func (r *Registry) Execute(ctx context.Context, id string, raw json.RawMessage) (any, error) {
	c, ok := r.byID[id]
	if !ok {
		return nil, r.unknown(id)
	}
	if c.Person {
		return nil, fmt.Errorf("%s: %w", id, ErrPerson)
	}
	p, err := c.parse(raw)
	if err != nil {
		return nil, err
	}
	var v any
	var failed error
	if err := r.home(ctx, func() { v, failed = r.run(ctx, c, p) }); err != nil {
		return nil, fmt.Errorf("%s: %w", id, err)
	}
	if failed != nil {
		return nil, failed
	}
	if later, ok := v.(Later); ok {
		if v, err = later(ctx); err != nil {
			return nil, fmt.Errorf("%s: %w", id, err)
		}
	}
	return v, nil
}

// Invoke runs a command at home, for a menu, a button or a key. A [Later] is
// not waited for: the window shows what becomes of it.
func (r *Registry) Invoke(id string, p Params) (any, error) {
	c, ok := r.byID[id]
	if !ok {
		return nil, r.unknown(id)
	}
	if err := c.check(p); err != nil {
		return nil, err
	}
	v, err := r.run(context.Background(), c, p)
	if _, ok := v.(Later); ok {
		return nil, err
	}
	return v, err
}

// run checks that c can run and runs it. A panic in it is an error: one
// command must not take the sessions down.
func (r *Registry) run(ctx context.Context, c *Command, p Params) (v any, err error) {
	defer func() {
		if x := recover(); x != nil {
			v, err = nil, fmt.Errorf("%s: internal fault: %v", c.ID, x)
		}
	}()
	if err := r.enabled(c, p); err != nil {
		return nil, fmt.Errorf("%s: %w", c.ID, err)
	}
	if v, err = c.Run(ctx, p); err != nil {
		return nil, fmt.Errorf("%s: %w", c.ID, err)
	}
	return v, nil
}

// nearest is how many ids are offered for one that is not known.
const nearest = 3

// unknown says that there is no such command and which ids are close.
func (r *Registry) unknown(id string) error {
	type near struct {
		id string
		d  int
	}
	if len(id) > 100 {
		id = id[:100]
	}
	var found []near
	for _, c := range r.commands {
		if d := distance(strings.ToLower(id), strings.ToLower(c.ID)); d <= max(len(id), len(c.ID))/2 {
			found = append(found, near{c.ID, d})
		}
	}
	slices.SortStableFunc(found, func(a, b near) int { return cmp.Compare(a.d, b.d) })
	text := fmt.Sprintf("unknown command %q", id)
	if len(found) > 0 {
		var ids []string
		for _, n := range found[:min(nearest, len(found))] {
			ids = append(ids, n.id)
		}
		text += "; did you mean " + strings.Join(ids, ", ") + "?"
	}
	return errors.New(text)
}

// distance counts the single-character changes between two texts.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
