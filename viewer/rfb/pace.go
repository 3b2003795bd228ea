package rfb

import (
	"image"
	"time"
)

const (
	// paceSample is the least that an update must bring to tell the speed.
	paceSample = 32 << 10
	// paceGood and paceEvery keep the quality from rising too soon: so many
	// samples in a row, and so much time since it changed.
	paceGood  = 4
	paceEvery = 2 * time.Second
	// paceSettled is how long a picture with losses stands still before it is
	// asked for without.
	paceSettled = time.Second
	// paceRefine bounds the time that is given to a picture without losses.
	paceRefine = 10 * time.Second
)

// paceSteps are the levels that fit a speed, the fastest first: a picture
// without losses as long as the connection carries it.
var paceSteps = []struct {
	rate                 float64 // bytes a second, at least
	quality, compression int
}{
	{4 << 20, 0, 0},
	{1536 << 10, 8, 2},
	{512 << 10, 6, 2},
	{160 << 10, 4, 6},
	{0, 2, 6},
}

// A pace lets quality and compression follow the speed at which updates come:
// down at once, up slowly. A picture that was drawn with losses and then stands
// still is asked for once more without.
type pace struct {
	on      bool
	step    int // of paceSteps
	good    int // samples in a row that would allow a better one
	changed time.Time
	send    bool // the levels are to be told

	lossy   image.Rectangle // drawn with losses
	last    time.Time       // of the last update
	refine  bool            // the levels that were told have no losses, for a while
	refined int64           // pixels drawn since
	since   time.Time       // when that began
}

// sample takes note of an update that brought n bytes in d.
func (p *pace) sample(n uint64, d time.Duration, now time.Time) {
	if !p.on || n < paceSample {
		return
	}
	rate := float64(n) / max(d.Seconds(), 1e-6)
	want := 0
	for rate < paceSteps[want].rate {
		want++
	}
	switch {
	case want > p.step:
		p.set(want, now)
	case want == p.step:
		p.good = 0
	default:
		if p.good++; p.good >= paceGood && now.Sub(p.changed) >= paceEvery {
			p.set(p.step-1, now)
		}
	}
}

func (p *pace) set(step int, now time.Time) {
	p.step, p.good, p.changed, p.send = step, 0, now, true
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
			p.refine, p.lossy, p.send = false, image.Rectangle{}, true
		}
	case paceSteps[p.step].quality > 0:
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
		p.refine, p.lossy, p.send = false, image.Rectangle{}, true // it was not sent
		return image.Rectangle{}, 0
	}
	if wait = p.last.Add(paceSettled).Sub(now); wait > 0 {
		return image.Rectangle{}, wait
	}
	p.refine, p.refined, p.since, p.send = true, 0, now, true
	return p.lossy, 0
}

// levels are the quality and compression to tell.
func (p *pace) levels() Options {
	if p.refine {
		return Options{}
	}
	return Options{Quality: paceSteps[p.step].quality, Compression: paceSteps[p.step].compression}
}
