// Package picture shows the picture of a session: as bands, each as wide as
// the picture, that share one image. A change of the remote screen uploads
// only the bands it touches.
//
// All of it belongs to the goroutine of the widgets.
package picture

import (
	"image"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"

	"deskvnc/viewer/frame"
)

// bandRows is the height of a band in pixels of the image it shows.
const bandRows = 64

// Stats count what a picture has had drawn.
type Stats struct {
	Redraws int   // times something was refreshed
	Bands   int   // bands refreshed
	Bytes   int64 // bytes of them: what is uploaded to the graphics card
}

// A Picture shows one frame.
type Picture struct {
	frame  *frame.Frame
	reader *frame.Reader

	full   *image.RGBA   // the whole remote picture
	halves []*image.RGBA // it, halved once, twice, ...; only what is shown is kept up to date
	level  int           // which of them is shown: 0 is full

	place Place
	unit  float32 // screen pixels in one unit of the canvas

	bands []*canvas.Image
	box   *fyne.Container // holds the bands
	clip  *container.Clip
	stats Stats
}

// New returns a picture of f that shows nothing yet.
func New(f *frame.Frame) *Picture {
	p := &Picture{frame: f, reader: f.Reader(), unit: 1, box: container.NewWithoutLayout()}
	p.clip = container.NewClip(p.box)
	return p
}

// Object is what to put on the canvas. Its size is the view's.
func (p *Picture) Object() fyne.CanvasObject { return p.clip }

// Wake gets a value when there is something to redraw.
func (p *Picture) Wake() <-chan struct{} { return p.reader.Wake() }

// Place is where the picture is.
func (p *Picture) Place() Place { return p.place }

// Stats are the counts so far.
func (p *Picture) Stats() Stats { return p.stats }

// Shown is the image that the bands show, for tests and pictures of the pane;
// nil when there is none.
func (p *Picture) Shown() *image.RGBA {
	if p.level == 0 {
		return p.full
	}
	return p.halves[p.level-1]
}

// Close ends the picture; it shows nothing afterwards.
func (p *Picture) Close() {
	p.reader.Close()
	p.full, p.halves, p.level, p.bands = nil, nil, 0, nil
	p.box.RemoveAll()
}

// Redraw copies what has changed and refreshes the bands it touches. It
// reports whether the remote picture has another size than before; the caller
// then lays the picture out anew.
func (p *Picture) Redraw() (resized bool) {
	rects, ok := p.reader.CopyTo(p.full)
	for !ok {
		w, h := p.frame.Size()
		p.full, p.halves, p.level = image.NewRGBA(image.Rect(0, 0, w, h)), nil, 0
		p.bands = nil
		p.box.RemoveAll()
		resized = true
		rects, ok = p.reader.CopyTo(p.full)
	}
	if !resized {
		p.show(rects)
	}
	return resized
}

// Size is the size of the remote picture as it was last copied.
func (p *Picture) Size() image.Point {
	if p.full == nil {
		return image.Point{}
	}
	return p.full.Rect.Size()
}

// show brings the shown image up to date in rects, which are remote pixels,
// and refreshes the bands.
func (p *Picture) show(rects []image.Rectangle) {
	if len(rects) == 0 || len(p.bands) == 0 {
		return
	}
	dirty := make([]bool, len(p.bands))
	for _, r := range rects {
		src := p.full
		for _, dst := range p.halves[:p.level] {
			r = halve(dst, src, r)
			src = dst
		}
		if r.Empty() {
			continue
		}
		for b := r.Min.Y / bandRows; b <= (r.Max.Y-1)/bandRows; b++ {
			dirty[b] = true
		}
	}
	drawn := false
	for i, d := range dirty {
		if d {
			drawn = true
			p.stats.Bands++
			p.stats.Bytes += int64(len(p.bands[i].Image.(*image.RGBA).Pix))
			p.bands[i].Refresh()
		}
	}
	if drawn {
		p.stats.Redraws++
	}
}

// Lay puts the picture at a place; unit is the number of screen pixels in one
// unit of the canvas.
func (p *Picture) Lay(place Place, unit float32) {
	p.clip.Resize(fyne.NewSize(float32(place.View.X)/unit, float32(place.View.Y)/unit))
	p.box.Resize(p.clip.Size())
	same := p.place == place && p.unit == unit && len(p.bands) > 0
	p.place, p.unit = place, unit
	if same {
		return
	}
	if p.full == nil || p.full.Rect.Empty() || place.Rect.Empty() {
		p.bands = nil
		p.box.RemoveAll()
		return
	}
	if level := place.Halvings(); level != p.level || len(p.bands) == 0 {
		p.setLevel(level)
	}
	rows := p.Shown().Rect.Dy()
	x0, x1 := float32(place.Rect.Min.X)/unit, float32(place.Rect.Max.X)/unit
	for i, band := range p.bands {
		top, bottom := i*bandRows, min((i+1)*bandRows, rows)
		y0 := float32(place.Rect.Min.Y+(place.Rect.Dy()*top+rows/2)/rows) / unit
		y1 := float32(place.Rect.Min.Y+(place.Rect.Dy()*bottom+rows/2)/rows) / unit
		band.Move(fyne.NewPos(x0, y0))
		band.Resize(fyne.NewSize(x1-x0, y1-y0))
	}
}

// setLevel makes the image halved level times the shown one, and the bands
// that show it.
func (p *Picture) setLevel(level int) {
	p.level = level
	src := p.full
	for i := range level {
		if i == len(p.halves) {
			p.halves = append(p.halves, image.NewRGBA(image.Rect(0, 0, half(src.Rect.Dx()), half(src.Rect.Dy()))))
		}
		halve(p.halves[i], src, src.Rect)
		src = p.halves[i]
	}
	p.halves = p.halves[:level] // the rest would go stale
	p.bands = nil
	p.box.RemoveAll()
	w, h := src.Rect.Dx(), src.Rect.Dy()
	for y := 0; y < h; y += bandRows {
		rows := min(bandRows, h-y)
		// Not SubImage: the upload reads Pix from its start and knows no stride.
		band := canvas.NewImageFromImage(&image.RGBA{
			Pix: src.Pix[y*src.Stride : (y+rows)*src.Stride], Stride: src.Stride, Rect: image.Rect(0, 0, w, rows),
		})
		band.FillMode = canvas.ImageFillStretch
		band.ScaleMode = canvas.ImageScaleFastest
		p.bands = append(p.bands, band)
		p.box.Add(band)
	}
	p.stats.Redraws++
	p.stats.Bands += len(p.bands)
	p.stats.Bytes += int64(len(src.Pix))
}
