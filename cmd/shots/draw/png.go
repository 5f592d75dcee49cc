package draw

import (
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"io"

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
	first := []rune(c.Text)[0]
	if shape(img, r, first, c) {
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
