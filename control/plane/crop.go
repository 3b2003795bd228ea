package plane

import (
	"cmp"
	"image"
	"slices"
)

// The plan of a damage crop.
const (
	// cropMargin is added on each side of a change, in pixels.
	cropMargin = 64
	// cropShare is the largest share of the screen that a crop may be: a
	// quarter. It is compared in whole numbers.
	cropShare = 4
)

// A crop is what to show of a list of changes.
type crop struct {
	region image.Rectangle
	// shown are the changes inside the region, rest those left for later.
	shown, rest []image.Rectangle
	// tooLarge says that the largest change alone would be more than the
	// share: the whole screen is shown then.
	tooLarge bool
}

// planCrop plans the crop around changes: it begins with the largest one and
// takes in others, from large to small, as long as the region stays within the
// share. ok is false when nothing changed.
func planCrop(changes []image.Rectangle, screen image.Rectangle) (c crop, ok bool) {
	var list []image.Rectangle
	for _, r := range changes {
		if r = r.Intersect(screen); !r.Empty() {
			list = append(list, r)
		}
	}
	if len(list) == 0 {
		return crop{}, false
	}
	slices.SortStableFunc(list, func(a, b image.Rectangle) int { return cmp.Compare(area(b), area(a)) })
	grown := func(r image.Rectangle) image.Rectangle { return r.Inset(-cropMargin).Intersect(screen) }
	fits := func(r image.Rectangle) bool { return area(r)*cropShare <= area(screen) }
	c.region = grown(list[0])
	if !fits(c.region) {
		return crop{region: screen, shown: list, tooLarge: true}, true
	}
	c.shown = list[:1]
	for _, r := range list[1:] {
		switch u := c.region.Union(grown(r)); {
		case fits(u):
			c.region = u
			c.shown = append(c.shown, r)
		default:
			c.rest = append(c.rest, r)
		}
	}
	// A change that was left may lie in what was taken in after it.
	c.rest = slices.DeleteFunc(c.rest, func(r image.Rectangle) bool {
		if r.In(c.region) {
			c.shown = append(c.shown, r)
			return true
		}
		return false
	})
	return c, true
}
