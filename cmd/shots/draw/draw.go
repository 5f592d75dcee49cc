// Package draw makes pictures of a terminal's screen: PNG, SVG and GIF, in pure
// Go, with no font but the one in it. It knows cells and colours, and nothing of
// the program whose screen it draws.
package draw

import (
	"fmt"
	"image"
	"image/color"

	"github.com/go-fonts/dejavu/dejavusansmono"
	"github.com/go-fonts/dejavu/dejavusansmonobold"
	"golang.org/x/image/font"
	"golang.org/x/image/font/opentype"
)

// Cell is one character on the screen.
type Cell struct {
	Text  string // a character with what combines with it; empty is a blank
	Width int    // in cells: 1 or 2
	Bold  bool
	// Fore and Back are final: reversing and dimming have been done.
	Fore, Back color.RGBA
}

// Grid is a screen, row by row. The cell after a wide one has width 0.
type Grid struct {
	W, H  int
	Cells []Cell
	Back  color.RGBA // of the screen itself
}

// At is the cell in a column of a row.
func (g *Grid) At(x, y int) Cell { return g.Cells[y*g.W+x] }

// first is the sign of braille without a dot; dots are where the others have theirs, in
// the order of the bits.
const first = '\u2800'

var dots = [8]image.Point{{0, 0}, {0, 1}, {0, 2}, {1, 0}, {1, 1}, {1, 2}, {0, 3}, {1, 3}}

// braille draws the signs that the font lacks. It reports whether it has.
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

// Pen draws cells in one size. Use NewPen.
type Pen struct {
	plain, bold font.Face
	// w and h are a cell's size in pixels, base the height of the line that
	// letters stand on.
	w, h, base int
}

// NewPen returns a pen for letters of a height in pixels.
func NewPen(size float64) (*Pen, error) {
	plain, err := face(dejavusansmono.TTF, size)
	if err != nil {
		return nil, err
	}
	bold, err := face(dejavusansmonobold.TTF, size)
	if err != nil {
		return nil, err
	}
	advance, _ := plain.GlyphAdvance('M')
	m := plain.Metrics()
	return &Pen{
		plain: plain, bold: bold,
		w: advance.Round(), h: (m.Ascent + m.Descent).Round(), base: m.Ascent.Round(),
	}, nil
}

func face(ttf []byte, size float64) (font.Face, error) {
	f, err := opentype.Parse(ttf)
	if err != nil {
		return nil, fmt.Errorf("read the font: %w", err)
	}
	made, err := opentype.NewFace(f, &opentype.FaceOptions{Size: size, DPI: 72, Hinting: font.HintingFull})
	if err != nil {
		return nil, fmt.Errorf("size the font: %w", err)
	}
	return made, nil
}
