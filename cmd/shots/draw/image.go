package draw

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
	if braille(img, r, []rune(c.Text)[0], c.Fore) {
		return
	}
	letters := p.plain
	if c.Bold {
		letters = p.bold
	}
	d := font.Drawer{Dst: img, Src: image.NewUniform(c.Fore), Face: letters, Dot: fixed.P(r.Min.X, r.Min.Y+p.base)}
	d.DrawString(c.Text)
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
		part := image.NewPaletted(r, colours)
		draw.Draw(part, r, img, r.Min, draw.Src)
		out.Image = append(out.Image, part)
		out.Delay = append(out.Delay, hundredths(frames[i].For))
		out.Disposal = append(out.Disposal, gif.DisposalNone)
	}
	return gif.EncodeAll(w, &out)
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

// palette are the 256 colours that are used most.
func palette(images []*image.RGBA) color.Palette {
	count := map[color.RGBA]int{}
	for _, img := range images {
		for i := 0; i < len(img.Pix); i += 4 {
			count[color.RGBA{img.Pix[i], img.Pix[i+1], img.Pix[i+2], 0xff}]++
		}
	}
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
