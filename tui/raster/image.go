package raster

import (
	"cmp"
	"image"
	"image/color"
	"image/draw"
	"image/gif"
	"image/png"
	"io"
	"slices"
	"time"

	"golang.org/x/image/font"
	"golang.org/x/image/math/fixed"
)

// margin is the room around the screen in pixels.
const margin = 12

// PNG writes the screen as a picture.
func (p *Pen) PNG(w io.Writer, g *Grid) error {
	return (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(w, p.image(g))
}

// Small is a faster and smaller PNG: every pixel has one of the 256 most used colours.
func (p *Pen) Small(w io.Writer, g *Grid) error {
	img := p.image(g)
	return png.Encode(w, paletted(img, img.Bounds(), palette([]*image.RGBA{img})))
}

func (p *Pen) image(g *Grid) *image.RGBA {
	img := image.NewRGBA(image.Rect(0, 0, g.W*p.w+2*margin, g.H*p.h+2*margin))
	fill(img, img.Bounds(), g.Back)
	for y := range g.H {
		for x := range g.W {
			c := g.At(x, y)
			if c.Width == 0 {
				continue
			}
			left, top := margin+x*p.w, margin+y*p.h
			p.cell(img, image.Rect(left, top, left+c.Width*p.w, top+p.h), c, g.Back)
		}
	}
	return img
}

func (p *Pen) cell(img *image.RGBA, r image.Rectangle, c Cell, paper color.RGBA) {
	if c.Back != paper {
		fill(img, r, c.Back)
	}
	if c.Text == "" || c.Text == " " {
		return
	}
	sign := []rune(c.Text)[0]
	if braille(img, r, sign, c.Fore) || block(img, r, sign, c.Fore, c.Back) {
		return
	}
	d := font.Drawer{Dst: img, Src: image.NewUniform(c.Fore), Face: p.letters, Dot: fixed.P(r.Min.X, r.Min.Y+p.base)}
	d.DrawString(c.Text)
	if c.Bold { // drawn a second time with an offset, so that no second font is needed
		d.Dot = fixed.P(r.Min.X+1, r.Min.Y+p.base)
		d.DrawString(c.Text)
	}
}

func fill(img *image.RGBA, r image.Rectangle, c color.RGBA) {
	draw.Draw(img, r, image.NewUniform(c), image.Point{}, draw.Src)
}

// Frame is a screen and how long it is shown.
type Frame struct {
	Grid *Grid
	For  time.Duration
}

// GIF writes screens as a looping animation. Only what changes
// between two screens is stored.
func (p *Pen) GIF(w io.Writer, frames []Frame) error {
	images := make([]*image.RGBA, len(frames))
	for i, f := range frames {
		images[i] = p.image(f.Grid)
	}
	colours := palette(images)
	var out gif.GIF
	for i, img := range images {
		r := img.Bounds()
		if i > 0 {
			if r = changed(images[i-1], img); r.Empty() {
				out.Delay[len(out.Delay)-1] += hundredths(frames[i].For)
				continue
			}
		}
		out.Image = append(out.Image, paletted(img, r, colours))
		out.Delay = append(out.Delay, hundredths(frames[i].For))
		out.Disposal = append(out.Disposal, gif.DisposalNone)
	}
	return gif.EncodeAll(w, &out)
}

// paletted returns a part of a picture in the nearest colours of a palette.
func paletted(img *image.RGBA, r image.Rectangle, colours color.Palette) *image.Paletted {
	part, index := image.NewPaletted(r, colours), map[color.RGBA]uint8{}
	var last color.RGBA
	var place uint8
	for y := r.Min.Y; y < r.Max.Y; y++ {
		for x := r.Min.X; x < r.Max.X; x++ {
			if c := img.RGBAAt(x, y); c != last {
				known, ok := index[c]
				if !ok {
					known = uint8(colours.Index(c)) //nolint:gosec // a palette has at most 256 colours
					index[c] = known
				}
				last, place = c, known
			}
			part.SetColorIndex(x, y, place)
		}
	}
	return part
}

func hundredths(d time.Duration) int { return int(d.Milliseconds() / 10) }

// changed returns the smallest rectangle that contains every difference.
func changed(a, b *image.RGBA) image.Rectangle {
	var r image.Rectangle
	for y := b.Rect.Min.Y; y < b.Rect.Max.Y; y++ {
		for x := b.Rect.Min.X; x < b.Rect.Max.X; x++ {
			if a.RGBAAt(x, y) != b.RGBAAt(x, y) {
				r = r.Union(image.Rect(x, y, x+1, y+1))
			}
		}
	}
	return r
}

// palette returns the 256 most used colours.
func palette(images []*image.RGBA) color.Palette {
	count := map[color.RGBA]int{}
	for _, img := range images {
		var last color.RGBA
		run := 0
		for i := 0; i < len(img.Pix); i += 4 {
			if c := (color.RGBA{img.Pix[i], img.Pix[i+1], img.Pix[i+2], 0xff}); c != last {
				count[last] += run
				last, run = c, 0
			}
			run++
		}
		count[last] += run
	}
	delete(count, color.RGBA{})
	all := make([]color.RGBA, 0, len(count))
	for c := range count {
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b color.RGBA) int {
		return cmp.Or(cmp.Compare(count[b], count[a]), cmp.Compare(a.R, b.R), cmp.Compare(a.G, b.G), cmp.Compare(a.B, b.B))
	})
	var p color.Palette
	for _, c := range all[:min(len(all), 256)] {
		p = append(p, c)
	}
	return p
}
