package plane

import (
	"fmt"
	"image"
	"math"
	"strconv"
	"sync"
	"time"

	"deskvnc/control"
	"deskvnc/viewer"
	"deskvnc/viewer/frame"
)

// Bounds of a picture.
const (
	// longEdge is the long edge of a whole screen when no scale is given.
	longEdge = 1456
	// maxLongEdge is the longest edge that a scale can ask for.
	maxLongEdge = 2576
	// maxImage bounds one encoded picture, in bytes.
	maxImage = 6_225_920
	// jpegAbove is the size of a PNG from which a reduced picture is sent as
	// JPEG: a photograph takes megabytes without loss.
	jpegAbove   = 1 << 20
	jpegQuality = 80
	// maxEncoders bounds the pictures that are worked on at one time.
	maxEncoders = 4
	// firstDamage is how long a damage crop waits for the answer to the
	// caller's own input.
	firstDamage = 150 * time.Millisecond
)

// The forms of dvv_screen.
const (
	formFull   = "full"
	formRegion = "region"
	formCrop   = "damage-crop"
)

// screenAnswer is the result of dvv_screen.
type screenAnswer struct {
	Observation *control.Observation `json:"observation"`
	Bytes       int                  `json:"bytes"`
	Screen      *screenInfo          `json:"screen,omitempty"`
	Text        *string              `json:"text,omitempty"` // of a terminal
}

type screenInfo struct {
	Rung         string                                 `json:"rung"` // frame, region or change
	Space        control.Size                           `json:"space"`
	Image        *imageInfo                             `json:"image,omitempty"` // of a desktop
	Coverage     string                                 `json:"coverage"`
	Generation   uint32                                 `json:"geometry_generation"`
	CapturedAt   int64                                  `json:"captured_at"`
	Screens      control.Envelope[[]control.ScreenInfo] `json:"screens"`
	PrimaryKnown bool                                   `json:"primary_known"`
	Damage       []wideRect                             `json:"damage,omitempty"`
	Remaining    int                                    `json:"remaining_changes,omitempty"`
	Degraded     string                                 `json:"degraded,omitempty"`
}

type imageInfo struct {
	Format  string     `json:"format"`
	Space   imageSpace `json:"space"`
	Encoded int        `json:"encoded_bytes"`
}

// imageSpace tells how the pixels of a picture lie on the remote screen.
type imageSpace struct {
	Region wideRect `json:"region"`
	Width  int      `json:"width"`
	Height int      `json:"height"`
	Scale  float64  `json:"scale"` // picture width by region width
}

type wideRect struct {
	X      int `json:"x"`
	Y      int `json:"y"`
	Width  int `json:"width"`
	Height int `json:"height"`
}

func wide(r image.Rectangle) wideRect { return wideRect{r.Min.X, r.Min.Y, r.Dx(), r.Dy()} }

// back turns a pixel of the picture into one of the remote screen. ok is false
// outside the picture.
func (s imageSpace) back(mx, my int) (p image.Point, ok bool) {
	if mx < 0 || my < 0 || mx >= s.Width || my >= s.Height {
		return image.Point{}, false
	}
	return image.Pt(
		s.Region.X+int(math.Floor((float64(mx)+0.5)/s.Scale)),
		s.Region.Y+int(math.Floor((float64(my)+0.5)/s.Scale))), true
}

// line is the space in the form that stands in the text.
func (s imageSpace) line() string {
	return fmt.Sprintf("imageSpace: region=%d,%d,%d,%d image=%dx%d scale=%s",
		s.Region.X, s.Region.Y, s.Region.Width, s.Region.Height, s.Width, s.Height, strconv.FormatFloat(s.Scale, 'g', -1, 64))
}

// A shot is what to take a picture of.
type shot struct {
	form     string
	region   image.Rectangle // of a region or crop; empty for the whole screen
	long     int             // the long edge of a whole screen; 0 for native pixels
	crop     crop
	degraded string
}

// screen serves dvv_screen.
func (c *call) screen() (control.Result, error) {
	st, err := c.seat()
	if err != nil {
		return control.Result{}, err
	}
	if isTerminal(st.session) {
		return c.text(st)
	}
	if err := c.needs(c.capability()); err != nil {
		return control.Result{}, err
	}
	k, err := c.shot()
	if err != nil {
		return control.Result{}, err
	}
	if err := c.mirrored(st); err != nil {
		return control.Result{}, err
	}
	if refused := ready(st.session, c.a.plane.now()); refused != nil {
		return control.Result{}, refused
	}
	if k.form == formRegion && !k.region.In(whole(st.session.Frame())) {
		return control.Result{}, outside(k.region, st.session.Frame())
	}
	if k.form == formCrop {
		return c.changes(st, k)
	}
	if err := c.primed(st, k.region); err != nil {
		return control.Result{}, err
	}
	taken := st.takeDamage(k.region)
	r, err := c.picture(st, k)
	if err != nil {
		st.putBack(taken)
	}
	return r, err
}

func outside(r image.Rectangle, f *frame.Frame) error {
	w, h := f.Size()
	return control.Refuse(control.OutOfBounds, fmt.Sprintf("the region %d,%d %dx%d is not inside the screen of %d x %d pixels", r.Min.X, r.Min.Y, r.Dx(), r.Dy(), w, h))
}

// mirrored makes sure that the seat pays for a picture. A limb that was opened
// without one is refused.
func (c *call) mirrored(st *seat) error {
	st.mu.Lock()
	wants := st.wants
	st.mu.Unlock()
	if !wants {
		return control.Refuse(control.NotSupported, st.limb.id+" was opened without its picture")
	}
	if refused := st.perceive(); refused != nil {
		return refused
	}
	return nil
}

// shot reads the arguments of dvv_screen.
func (c *call) shot() (shot, error) {
	k := shot{form: formFull, long: longEdge}
	if c.args.Has("form") {
		k.form = c.args.Text("form")
	}
	bad := func(text string) (shot, error) {
		return shot{}, control.Refuse(control.BadRequest, "dvv_screen: "+text)
	}
	switch {
	case c.args.Has("region") && k.form != formRegion:
		return bad("region goes with form region only")
	case k.form == formRegion && !c.args.Has("region"):
		return bad("form region needs region")
	case c.args.Has("scale") && k.form != formFull && c.args.Number("scale") != 1:
		return bad("scale goes with the whole screen only; a region or crop is shown in native pixels")
	case c.args.Has("scale") && !(c.args.Number("scale") > 0):
		return bad("scale must be above 0")
	}
	if k.form == formRegion {
		r := c.args.Object("region")
		x, y, w, h := r.Int("x"), r.Int("y"), r.Int("w"), r.Int("h")
		const far = 1 << 20 // no screen is so large; beyond it sums could wrap
		if w <= 0 || h <= 0 {
			return bad("region needs a width and a height above 0")
		}
		if x < 0 || y < 0 || x > far || y > far || w > far || h > far {
			return shot{}, control.Refuse(control.OutOfBounds, "the region is not inside the screen")
		}
		k.region, k.long = image.Rect(x, y, x+w, y+h), 0
	}
	if k.form == formFull && c.args.Has("scale") {
		k.long = -1 // computed when the size is known
	}
	return k, nil
}

// takeDamage takes the changes that a picture of region will show, or all for
// an empty one.
func (s *seat) takeDamage(region image.Rectangle) []image.Rectangle {
	reader := s.mirror()
	if reader == nil {
		return nil
	}
	all := reader.Take()
	if region.Empty() {
		return all
	}
	var inside, rest []image.Rectangle
	for _, r := range all {
		if r.In(region) {
			inside = append(inside, r)
		} else {
			rest = append(rest, r)
		}
	}
	reader.Restore(rest)
	return inside
}

// putBack returns changes that were taken and not shown after all.
func (s *seat) putBack(rects []image.Rectangle) {
	if reader := s.mirror(); reader != nil && len(rects) > 0 {
		reader.Restore(rects)
	}
}

// changes serves the form damage-crop.
func (c *call) changes(st *seat, k shot) (control.Result, error) {
	reader := st.mirror()
	if reader == nil {
		return control.Result{}, control.Refuse(control.LimbGone, "the session of "+st.limb.id+" has ended")
	}
	if st.look() && len(reader.Damage()) == 0 {
		c.awaitDamage(st, reader)
	}
	f := st.session.Frame()
	// The crop is planned again when the screen was resized meanwhile: its
	// rectangles would be those of another screen.
	const tries = 3
	for range tries {
		screen, gen := whole(f), f.Generations().Geometry
		taken := reader.Take()
		plan, changed := planCrop(taken, screen)
		if !changed {
			o := c.observe(st)
			st.renew()
			return control.Result{
				Text:       "Nothing has changed on " + st.limb.id + " since you last looked; there is no picture, and the typing fence stays as it is.",
				Structured: screenAnswer{Observation: o},
			}, nil
		}
		k.crop, k.region, k.long, k.degraded = plan, plan.region, 0, ""
		if plan.tooLarge {
			k.region, k.long = image.Rectangle{}, longEdge
			k.degraded = "damage-union-too-large"
			if len(plan.shown) == 1 && plan.shown[0].Eq(screen) && !st.lookedBefore() {
				k.degraded = "" // never looked: the whole screen is simply what there is to see
			}
		}
		if err := c.primed(st, k.region); err != nil {
			st.putBack(taken)
			return control.Result{}, err
		}
		if f.Generations().Geometry != gen {
			continue // the reader has been told of everything anew
		}
		r, err := c.picture(st, k)
		if err != nil {
			st.putBack(taken)
		} else {
			st.putBack(plan.rest)
		}
		return r, err
	}
	return control.Result{}, control.Refuse(control.NotReady, "the screen of "+st.limb.id+" is being resized again and again")
}

// lookedBefore reports whether a picture was ever returned to the seat.
func (s *seat) lookedBefore() bool {
	_, looked, _ := s.view()
	return looked
}

// awaitDamage waits a moment for the machine to answer the caller's input.
func (c *call) awaitDamage(st *seat, reader *frame.Reader) {
	t := time.NewTimer(firstDamage)
	defer t.Stop()
	for len(reader.Damage()) == 0 {
		select {
		case <-reader.Wake():
		case <-t.C:
			return
		case <-st.session.Done():
			return
		case <-c.ctx.Done():
			return
		}
	}
}

// buffers keeps pictures between calls; a screen is megabytes.
var buffers = sync.Pool{New: func() any { return new(image.RGBA) }}

// picture takes and encodes a picture, and returns it with what belongs
// beside it. Only then the typing fence is told.
func (c *call) picture(st *seat, k shot) (control.Result, error) {
	p := c.a.plane
	select { // a few at a time: each is megabytes and a processor's work
	case p.encoders <- struct{}{}:
		defer func() { <-p.encoders }()
	case <-c.ctx.Done():
	}
	if err := c.ctx.Err(); err != nil {
		return control.Result{}, err
	}
	buf := buffers.Get().(*image.RGBA)
	v, ok := st.session.Frame().Snapshot(k.region, buf)
	if !ok {
		buffers.Put(buf)
		if k.region.Empty() {
			return control.Result{}, control.Refuse(control.NotReady, "the machine has not told its screen size yet")
		}
		return control.Result{}, outside(k.region, st.session.Frame())
	}
	defer buffers.Put(v.Image)
	if !v.Whole { // painted when it was looked at, and not any more: a resize came between
		return control.Result{}, priming(st, k.region)
	}
	data, mime, space, err := encode(v, k, c)
	if err != nil {
		return control.Result{}, err
	}
	if len(data) > maxImage {
		return control.Result{}, control.Refuse(control.ImageTooLarge, fmt.Sprintf("the picture takes %d bytes, more than the %d that one may have", len(data), maxImage))
	}
	if err := c.ctx.Err(); err != nil { // nobody gets it
		return control.Result{}, err
	}
	st.saw(v.Gen)
	st.look()
	st.renew()
	return c.shown(st, k, v, data, mime, space), nil
}

// encode reduces and encodes a picture.
func encode(v frame.View, k shot, c *call) (data []byte, mime string, space imageSpace, err error) {
	img := v.Image
	w, h := v.Region.Dx(), v.Region.Dy()
	long := k.long
	if long < 0 {
		s := math.Round(float64(max(w, h)) * c.args.Number("scale"))
		long = int(min(max(s, 1), maxLongEdge))
	}
	reduced := long > 0 && max(w, h) > long
	if reduced {
		s := float64(long) / float64(max(w, h))
		nw, nh := max(int(math.Round(float64(w)*s)), 1), max(int(math.Round(float64(h)*s)), 1)
		small := buffers.Get().(*image.RGBA)
		img = frame.Shrink(small, v.Image, nw, nh)
		defer buffers.Put(img)
	}
	space = imageSpace{Region: wide(v.Region), Width: img.Rect.Dx(), Height: img.Rect.Dy()}
	space.Scale = float64(space.Width) / float64(w)
	data, err = frame.PNG(img)
	mime = "image/png"
	if err == nil && reduced && len(data) > jpegAbove {
		// Without loss it is large, and reduced it has lost already.
		if j, err := frame.JPEG(img, jpegQuality); err == nil && len(j) < len(data) {
			data, mime = j, "image/jpeg"
		}
	}
	return data, mime, space, err
}

// shown is the result that carries a picture.
func (c *call) shown(st *seat, k shot, v frame.View, data []byte, mime string, space imageSpace) control.Result {
	o := c.observation(st)
	o.Frame = &control.FrameInfo{
		Form: k.form, SpaceRect: rectOf(v.Region), Scale: space.Scale, Coverage: "complete", Generation: v.Gen.Geometry, Bytes: len(data),
	}
	info := &screenInfo{
		Rung: map[string]string{formFull: "frame", formRegion: "region", formCrop: "change"}[k.form], Space: control.Size{Width: v.W, Height: v.H},
		Image:    &imageInfo{Format: mime[len("image/"):], Space: space, Encoded: len(data)},
		Coverage: "complete", Generation: v.Gen.Geometry, CapturedAt: o.CapturedAt,
		PrimaryKnown: o.Geometry.PrimaryKnown, Remaining: len(k.crop.rest), Degraded: k.degraded,
		Screens: screensEnvelope(o),
	}
	if k.crop.tooLarge {
		info.Rung = "frame"
	}
	for _, r := range k.crop.shown {
		info.Damage = append(info.Damage, wide(r))
	}
	text := fmt.Sprintf("The screen of %s: %d x %d of its %d x %d pixels.", st.limb.id, v.Region.Dx(), v.Region.Dy(), v.W, v.H)
	if n := len(k.crop.rest); n > 0 {
		text += fmt.Sprintf(" %s elsewhere; ask again for damage-crop to see more.", count(n, "further change lies", "further changes lie"))
	}
	note := "A picture of the remote screen follows. Whatever is written on it comes from the machine."
	if name := o.DesktopName.Value; name != nil {
		note += "\nDesktop name: " + *name
	}
	return control.Result{
		Text:       text + "\n" + space.line() + "\n" + wrap(st, note),
		Images:     []control.Image{{MIME: mime, Data: data}},
		Structured: screenAnswer{Observation: o, Bytes: len(data), Screen: info},
	}
}

func screensEnvelope(o *control.Observation) control.Envelope[[]control.ScreenInfo] {
	layout := o.Signals[viewer.SignalScreenLayout]
	switch {
	case len(o.Geometry.Screens) > 0:
		return control.LiveValue(o.Geometry.Screens)
	case layout.Availability == viewer.Absent:
		return control.AbsentValue[[]control.ScreenInfo](layout.Reason)
	}
	return control.UnknownValue[[]control.ScreenInfo]("the machine has not told its screens")
}
