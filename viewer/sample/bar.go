package sample

import "image"

// drawBar draws the strip along the top edge: the machine's name and the clock.
func (s *scene) drawBar(c *canvas) {
	l := &s.lay
	c.tint(l.bar, 0x0d1226, 200)
	mid := l.bar.Dy() / 2
	f := faces()
	ty := mid - f.strong.height/2 + 1
	c.round(image.Rect(14, mid-7, 28, mid+7), 4, allCorners, 0xf2b88f)
	c.round(image.Rect(18, mid-3, 24, mid+3), 2, allCorners, 0x1b264a)
	name := f.strong.cut(s.name, l.title.Dx()-50)
	c.text(f.strong, 38, ty, name, 0xffffff)
	if x := 38 + f.strong.width(name) + 12; l.title.Dx()-x > 150 {
		c.text(f.body, x, ty, "sample machine", 0xaab2d0)
	}
	t := s.now.Format("Mon 2 Jan  15:04")
	c.text(f.strong, l.clock.Max.X-14-f.strong.width(t), ty, t, 0xffffff)
}
