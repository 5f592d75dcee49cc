// Package raster makes pictures of a terminal's screen: PNG, SVG and GIF, in pure Go, with only its embedded font. It
// handles cells and colours, independent of the program whose screen it draws.
package raster

import (
	"fmt"
	"image"
	"image/color"

	"github.com/go-fonts/dejavu/dejavusansmono"
	"golang.org/x/image/font"
	"golang.org/x/image/font/opentype"
)

// Pen draws cells in one size. Use NewPen.
type Pen struct {
	letters font.Face
	// w and h are a cell's size in pixels, base is the position of the baseline.
	w, h, base int
}

// NewPen returns a pen for letters of a height in pixels.
func NewPen(size float64) (*Pen, error) {
	f, err := opentype.Parse(dejavusansmono.TTF)
	if err != nil {
		return nil, fmt.Errorf("read the font: %w", err)
	}
	letters, err := opentype.NewFace(f, &opentype.FaceOptions{Size: size, DPI: 72, Hinting: font.HintingFull})
	if err != nil {
		return nil, fmt.Errorf("size the font: %w", err)
	}
	advance, _ := letters.GlyphAdvance('M')
	m := letters.Metrics()
	return &Pen{letters: letters, w: advance.Round(), h: (m.Ascent + m.Descent).Round(), base: m.Ascent.Round()}, nil
}

// first is the Braille character without dots; dots are the positions of the dots, in the order of the bits.
const first = '\u2800'

var dots = [8]image.Point{{0, 0}, {0, 1}, {0, 2}, {1, 0}, {1, 1}, {1, 2}, {0, 3}, {1, 3}}

// braille draws Braille characters, which the font lacks. It reports whether the character is one.
func braille(img *image.RGBA, r image.Rectangle, sign rune, c color.RGBA) bool {
	if sign < first || sign > first+0xff {
		return false
	}
	for i, dot := range dots {
		if int(sign-first)&(1<<i) != 0 {
			at := r.Min.Add(image.Pt(r.Dx()*(1+2*dot.X)/4, r.Dy()*(1+2*dot.Y)/8))
			fill(img, image.Rectangle{at.Sub(image.Pt(1, 1)), at.Add(image.Pt(1, 1))}, c)
		}
	}
	return true
}

// The characters that fill parts of a cell. The font's versions leave seams between cells.
const (
	eighthUp   = '\u2581' // the lowest eighth
	full       = '\u2588'
	eighthLeft = '\u258f'
	light      = '\u2591' // a quarter shaded
	dark       = '\u2593'
)

// arms are the lines of a sign from the middle of its cell: up, down, left, right.
var arms = map[rune][4]bool{
	'│': {true, true, false, false}, '─': {false, false, true, true}, '┤': {true, true, true, false}, '├': {true, true, false, true},
	'┬': {false, true, true, true}, '┴': {true, false, true, true}, '┼': {true, true, true, true},
}

// block draws a block character; shades mix with the background. It reports whether the character is a block.
func block(img *image.RGBA, r image.Rectangle, sign rune, c, back color.RGBA) bool {
	switch {
	case sign >= eighthUp && sign <= full:
		r.Min.Y = r.Max.Y - r.Dy()*int(sign-eighthUp+1)/8
	case sign > full && sign <= eighthLeft:
		r.Max.X = r.Min.X + r.Dx()*int(eighthLeft-sign+1)/8
	case sign >= light && sign <= dark:
		c = mixed(c, back, int(sign-light+1))
	default:
		return line(img, r, sign, c)
	}
	fill(img, r, c)
	return true
}

// line draws a box-drawing character, with lines up to the edges of its cell.
func line(img *image.RGBA, r image.Rectangle, sign rune, c color.RGBA) bool {
	reach, ok := arms[sign]
	if !ok {
		return false
	}
	thick := max(1, r.Dx()/8)
	middle := image.Rect(0, 0, thick, thick).Add(r.Min).Add(image.Pt((r.Dx()-thick)/2, (r.Dy()-thick)/2))
	upright, across := middle, middle
	if reach[0] {
		upright.Min.Y = r.Min.Y
	}
	if reach[1] {
		upright.Max.Y = r.Max.Y
	}
	if reach[2] {
		across.Min.X = r.Min.X
	}
	if reach[3] {
		across.Max.X = r.Max.X
	}
	fill(img, upright, c)
	fill(img, across, c)
	return true
}

// mixed returns a mix of two colours, in quarters.
func mixed(c, back color.RGBA, quarters int) color.RGBA {
	part := func(a, b uint8) uint8 { return uint8((int(a)*quarters + int(b)*(4-quarters)) / 4) } //nolint:gosec // a mean of two bytes
	return color.RGBA{part(c.R, back.R), part(c.G, back.G), part(c.B, back.B), 0xff}
}
