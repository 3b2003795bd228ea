package rfb

import (
	"image"
	"time"

	"deskvnc/viewer"
)

const (
	// paceSample is the least that an update must bring to tell the speed.
	paceSample = 32 << 10
	// paceGood and paceEvery keep the quality from rising too soon: so many
	// samples in a row, and so much time since it changed. paceSpare is how much
	// faster than the bound the connection has to be.
	paceGood  = 4
	paceEvery = 2 * time.Second
	paceSpare = 1.25
	// A rise that did not last doubles the time to the next, up to paceLongest.
	paceLongest = 32 * time.Second
	// paceBusy is the share of our own time, spent on decoding, from which the
	// quality does not rise; paceFull the one at which it falls, a step at a time.
	paceBusy = 0.75
	paceFull = 0.95
	// paceFullStep is how far it falls by that: fewer bytes make less work only so
	// far.
	paceFullStep = 3
	// paceSettled is how long a picture with losses stands still before it is
	// asked for without.
	paceSettled = time.Second
	// paceRefine bounds the time that is given to a picture without losses.
	paceRefine = 10 * time.Second
)

// A paceStep is what fits a speed.
type paceStep struct {
	rate   float64 // bytes a second, at least
	levels levels
	bare   viewer.Colors // the colours, from machines that have no JPEG
}

// paceSteps are the fastest first: a picture without losses as long as the
// connection carries it.
var paceSteps = []paceStep{
	{4 << 20, levels{}, viewer.ColorsFull},
	{1536 << 10, levels{quality: 8, compression: 2}, viewer.ColorsFull},
	{512 << 10, levels{quality: 6, compression: 2}, viewer.ColorsFull},
	{160 << 10, levels{quality: 4, compression: 6}, viewer.ColorsHigh},
	{48 << 10, levels{quality: 2, compression: 6}, viewer.ColorsLow},
	{0, levels{quality: 1, compression: 9, colours: viewer.ColorsHigh}, viewer.ColorsLow},
}

// A pace lets quality, compression and colours follow the speed at which
// updates come and the time that we need for them: down at once, up slowly. A
// picture that was drawn with losses and then stands still is asked for once
// more without.
type pace struct {
	on      bool
	bare    bool // the machine has no JPEG
	step    int  // of paceSteps
	good    int  // samples in a row that would allow a better one
	changed time.Time
	rose    bool          // the last change was a rise
	every   time.Duration // the least time to the next rise

	lossy   image.Rectangle // drawn with losses
	last    time.Time       // of the last update
	refine  bool            // the levels have no losses, for a while
	refined int64           // pixels drawn since
	since   time.Time       // when that began
}

// sample takes note of an update that brought n bytes in d, of which load is
// the share that we spent on decoding.
func (p *pace) sample(n uint64, d time.Duration, load float64, now time.Time) {
	if !p.on || n < paceSample {
		return
	}
	rate := float64(n) / max(d.Seconds(), 1e-6)
	want := 0
	for rate < paceSteps[want].rate {
		want++
	}
	if want < p.step && rate < paceSpare*paceSteps[p.step-1].rate {
		want = p.step
	}
	switch {
	case load >= paceFull && want <= p.step && p.step < paceFullStep && now.Sub(p.changed) >= paceEvery:
		want = p.step + 1
	case load >= paceBusy:
		want = max(want, p.step)
	}
	p.every = max(p.every, paceEvery)
	switch {
	case want > p.step:
		if p.rose && now.Sub(p.changed) < 4*p.every {
			p.every = min(2*p.every, paceLongest)
		}
		p.set(want, now)
	case want == p.step:
		if p.good = 0; now.Sub(p.changed) > 2*paceLongest {
			p.every = paceEvery
		}
	default:
		if p.good++; p.good >= paceGood && now.Sub(p.changed) >= p.every {
			p.set(p.step-1, now)
		}
	}
}

func (p *pace) set(step int, now time.Time) {
	p.rose = step < p.step
	p.step, p.good, p.changed = step, 0, now
}

// levels are what to ask for now.
func (p *pace) levels() levels {
	if p.refine {
		return levels{}
	}
	s := paceSteps[p.step]
	if p.bare {
		s.levels.colours = s.bare
	}
	return s.levels
}

// losing reports whether what is asked for loses something.
func (p *pace) losing() bool {
	l := p.levels()
	return l.quality > 0 && !p.bare || l.colours != viewer.ColorsFull
}

// drawn takes note of an update's pixels: the area around them, and their
// number.
func (p *pace) drawn(area image.Rectangle, pixels int64, now time.Time) {
	if !p.on || area.Empty() {
		return
	}
	p.last = now
	switch {
	case p.refine:
		p.refined += pixels
		if p.refined >= int64(p.lossy.Dx())*int64(p.lossy.Dy()) {
			p.refine, p.lossy = false, image.Rectangle{}
		}
	case p.losing():
		p.lossy = p.lossy.Union(area)
	}
}

// due reports, while somebody looks, whether the picture is to be asked for
// without losses; or else in how long to look again, 0 for no need.
func (p *pace) due(now time.Time, demand bool) (area image.Rectangle, wait time.Duration) {
	switch {
	case !p.on || !demand || p.lossy.Empty():
		return image.Rectangle{}, 0
	case p.refine:
		if wait = p.since.Add(paceRefine).Sub(now); wait > 0 {
			return image.Rectangle{}, wait
		}
		p.refine, p.lossy = false, image.Rectangle{} // it was not sent
		return image.Rectangle{}, 0
	}
	if wait = p.last.Add(paceSettled).Sub(now); wait > 0 {
		return image.Rectangle{}, wait
	}
	p.refine, p.refined, p.since = true, 0, now
	return p.lossy, 0
}
