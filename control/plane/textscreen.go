package plane

import (
	"context"
	"fmt"
	"image"
	"slices"
	"strings"
	"time"

	"deskvnc/control"
	"deskvnc/control/grant"
	"deskvnc/viewer/grid"
)

// text serves dvv_screen on a terminal: its text, all of it, a region in
// cells, or the rows that changed.
func (c *call) text(st *seat) (control.Result, error) {
	if err := c.needs(grant.TerminalRead); err != nil {
		return control.Result{}, err
	}
	k, err := c.shot()
	if err != nil {
		return control.Result{}, err
	}
	if c.args.Has("scale") && c.args.Number("scale") != 1 {
		return control.Result{}, control.Refuse(control.BadRequest, "dvv_screen: a terminal is shown as text, which has no scale")
	}
	g, err := c.gridOf(st)
	if err != nil {
		return control.Result{}, err
	}
	if acted := st.look(); acted && k.form == formCrop {
		c.awaitRows(st, g)
	}
	if k.form == formRegion {
		return c.textRegion(st, g, k)
	}
	generation, _, _ := geometryOf(st.session)
	sc := g.Screen()
	rows := []span{{0, sc.Rows}}
	before, looked := st.rows()
	if k.form == formCrop && looked && len(before) == len(sc.Lines) {
		if rows = changedRows(before, sc.Lines); len(rows) == 0 {
			o := c.observe(st)
			st.renew()
			return control.Result{
				Text:       "Nothing has changed on " + st.limb.id + " since you last looked." + afterwards(st.session, c),
				Structured: screenAnswer{Observation: o},
			}, nil
		}
	}
	var lines []string
	for _, r := range rows {
		lines = append(lines, sc.Lines[r.from:r.to]...)
	}
	t := textShot{form: k.form, generation: generation, cols: sc.Cols, rows: sc.Rows, text: joinLines(lines), cursor: sc}
	for _, r := range rows {
		rect := image.Rect(0, r.from, sc.Cols, r.to)
		t.region = t.region.Union(rect)
		if k.form == formCrop {
			t.damage = append(t.damage, rect)
		}
	}
	st.sawRows(sc.Lines, generation)
	return c.shownText(st, t), nil
}

// A span is rows, from one up to another that is not part of it.
type span struct{ from, to int }

// changedRows are the rows that differ, neighbours together.
func changedRows(before, after []string) (out []span) {
	for y := range after {
		switch n := len(out); {
		case before[y] == after[y]:
		case n > 0 && out[n-1].to == y:
			out[n-1].to++
		default:
			out = append(out, span{y, y + 1})
		}
	}
	return out
}

// joinLines are lines as one text, without the blank ones at the end.
func joinLines(lines []string) string {
	n := len(lines)
	for n > 0 && lines[n-1] == "" {
		n--
	}
	return strings.Join(lines[:n], "\n")
}

// A textShot is what was read of a terminal.
type textShot struct {
	form       string
	generation uint32
	cols, rows int
	region     image.Rectangle // in cells
	damage     []image.Rectangle
	text       string
	cursor     grid.Screen
}

// textRegion reads a region in cells. It is no whole look: what changed stays
// to be told.
func (c *call) textRegion(st *seat, g *grid.Terminal, k shot) (control.Result, error) {
	generation, _, _ := geometryOf(st.session)
	var v grid.View
	g.Update(&v)
	if !k.region.In(image.Rect(0, 0, v.Cols, v.Rows)) {
		r := k.region
		return control.Result{}, control.Refuse(control.OutOfBounds, fmt.Sprintf("the region %d,%d %dx%d is not inside the screen of %d x %d cells", r.Min.X, r.Min.Y, r.Dx(), r.Dy(), v.Cols, v.Rows))
	}
	var lines []string
	for y := k.region.Min.Y; y < k.region.Max.Y; y++ {
		var b strings.Builder
		row := v.Row(y)
		for x := k.region.Min.X; x < min(k.region.Max.X, len(row)); x++ {
			switch cell := row[x]; {
			case cell.Attr&grid.Tail != 0 && x > k.region.Min.X:
			case cell.Attr&(grid.Conceal|grid.Tail) != 0:
				b.WriteByte(' ')
			default:
				if t := v.Text(cell); t != "" {
					b.WriteString(t)
				} else {
					b.WriteByte(' ')
				}
			}
		}
		lines = append(lines, strings.TrimRight(b.String(), " "))
	}
	return c.shownText(st, textShot{
		form: k.form, generation: generation, cols: v.Cols, rows: v.Rows, region: k.region, text: strings.Join(lines, "\n"), cursor: g.Screen(),
	}), nil
}

// awaitRows waits a moment for the program to answer the caller's input.
func (c *call) awaitRows(st *seat, g *grid.Terminal) {
	w := g.Watch()
	defer w.Close()
	ctx, cancel := context.WithTimeout(c.ctx, firstDamage)
	defer cancel()
	for {
		before, looked := st.rows()
		if !looked || !slices.Equal(before, g.Screen().Lines) {
			return
		}
		select {
		case <-w.Wake():
		case <-st.session.Done():
			return
		case <-ctx.Done():
			return
		}
	}
}

// shownText is the result that carries the text of a terminal.
func (c *call) shownText(st *seat, t textShot) control.Result {
	st.served(t.generation)
	st.renew()
	o := c.observation(st)
	o.Frame = &control.FrameInfo{
		Form: t.form, SpaceRect: rectOf(t.region), Scale: 1, Coverage: "complete", Generation: t.generation, Bytes: len(t.text),
	}
	info := &screenInfo{
		Rung: map[string]string{formFull: "frame", formRegion: "region", formCrop: "change"}[t.form], Space: control.Size{Width: t.cols, Height: t.rows},
		Coverage: "complete", Generation: t.generation, CapturedAt: o.CapturedAt, PrimaryKnown: o.Geometry.PrimaryKnown,
		Screens: control.AbsentValue[[]control.ScreenInfo]("a terminal has no displays"),
	}
	text := fmt.Sprintf("The terminal %s, %d x %d cells", st.limb.id, t.cols, t.rows)
	switch r := t.region; {
	case t.form == formCrop && len(t.damage) > 0:
		var rows []string
		for _, d := range t.damage {
			info.Damage = append(info.Damage, wide(d))
			rows = append(rows, rowsText(d))
		}
		text += ": changed are " + strings.Join(rows, ", ")
	case t.form == formRegion:
		text += fmt.Sprintf(": the %d x %d of them at %d,%d", r.Dx(), r.Dy(), r.Min.X, r.Min.Y)
	}
	text += fmt.Sprintf("; the cursor is in column %d of row %d, counted from 0", t.cursor.X, t.cursor.Y)
	if t.cursor.Alternate {
		text += "; a full-screen program has the screen"
	}
	text += "." + afterwards(st.session, c)
	return control.Result{
		Text:       text + "\n" + wrap(st, t.text),
		Structured: screenAnswer{Observation: o, Bytes: len(t.text), Screen: info, Text: &t.text},
	}
}

func rowsText(r image.Rectangle) string {
	if r.Dy() == 1 {
		return fmt.Sprintf("row %d", r.Min.Y)
	}
	return fmt.Sprintf("rows %d to %d", r.Min.Y, r.Max.Y-1)
}

// rows are those of the terminal that were last returned to the seat, when its
// size is still the same.
func (s *seat) rows() (lines []string, looked bool) {
	generation, _, _ := geometryOf(s.session)
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.screen, s.screen != nil && s.sized == generation
}

func (s *seat) sawRows(lines []string, generation uint32) {
	s.mu.Lock()
	s.screen, s.sized = lines, generation
	s.mu.Unlock()
}

// rowDamage sums up which rows changed since the seat last looked, and takes
// nothing.
func (s *seat) rowDamage() control.Envelope[control.DamageInfo] {
	g := s.session.Grid()
	if g == nil {
		return control.AbsentValue[control.DamageInfo]("this login has no terminal")
	}
	before, looked := s.rows()
	sc := g.Screen()
	if !looked || len(before) != len(sc.Lines) {
		return control.UnknownValue[control.DamageInfo]("you have not looked at this terminal since it has this size")
	}
	var union image.Rectangle
	var sum int64
	rows := changedRows(before, sc.Lines)
	for _, r := range rows {
		rect := image.Rect(0, r.from, sc.Cols, r.to)
		union = union.Union(rect)
		sum += area(rect)
	}
	d := control.DamageInfo{Union: rectOf(union), Rects: len(rows)}
	if all := area(union); all > 0 {
		d.Coverage = float64(sum) / float64(all)
	}
	return control.LiveValue(d)
}

// lookPause is the shortest time between two looks at a screen that changes
// all the time.
const lookPause = 20 * time.Millisecond
