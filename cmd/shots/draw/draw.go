// Package draw makes pictures of a terminal's screen: PNG, SVG and GIF, in pure
// Go, with no font but the one in it. It knows cells and colours, and nothing of
// the program whose screen it draws.
package draw

import (
	"fmt"
	"image"
	"image/color"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/gomono"
	"golang.org/x/image/font/gofont/gomonobold"
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

// Grid is a screen, row by row. The cell behind a wide one has width 0.
type Grid struct {
	W, H  int
	Cells []Cell
	Back  color.RGBA // of the screen itself
}

// At is the cell in a column of a row.
func (g *Grid) At(x, y int) Cell { return g.Cells[y*g.W+x] }

// shape draws what no font has to carry, so that lines always meet: boxes,
// blocks, and the few signs that the font lacks. It reports whether it has.
func shape(img *image.RGBA, r image.Rectangle, sign rune, c Cell) bool {
	if arms, ok := boxes[sign]; ok {
		box(img, r, arms, c.Fore)
		return true
	}
	w, h := r.Dx(), r.Dy()
	part := func(x0, y0, x1, y1 int) {
		fill(img, image.Rect(r.Min.X+x0, r.Min.Y+y0, r.Min.X+x1, r.Min.Y+y1), c.Fore)
	}
	switch {
	case sign >= '▁' && sign <= '█': // lower eighths
		part(0, h-h*int(sign-'▁'+1)/8, w, h)
	case sign >= '▉' && sign <= '▏': // left eighths
		part(0, 0, w*(8-int(sign-'▉'+1))/8, h)
	case sign >= braille && sign <= braille+0xff:
		for i, dot := range dots {
			if int(sign-braille)&(1<<i) != 0 {
				x, y := w*(1+2*dot.x)/4, h*(1+2*dot.y)/8
				part(x-1, y-1, x+1, y+1)
			}
		}
	case sign == '╍':
		part(0, h/2, w*3/8, h/2+2)
		part(w/2, h/2, w*7/8, h/2+2)
	case sign >= '░' && sign <= '▓':
		fill(img, r, mix(c.Fore, c.Back, int(sign-'░'+1)))
	default:
		lines, ok := signs[sign]
		if !ok {
			return false
		}
		for _, l := range lines {
			stroke(img, r, l, c.Fore)
		}
	}
	return true
}

// mix is a quarter, a half or three quarters of a over b.
func mix(a, b color.RGBA, quarters int) color.RGBA {
	one := func(x, y uint8) uint8 { return uint8((int(x)*quarters + int(y)*(4-quarters)) / 4) }
	return color.RGBA{one(a.R, b.R), one(a.G, b.G), one(a.B, b.B), 0xff}
}

// The arms of a line that meets others in the middle of its cell.
const (
	up = 1 << iota
	down
	left
	right
)

var boxes = map[rune]int{
	'─': left | right, '━': left | right, '│': up | down, '┃': up | down,
	'╭': right | down, '┌': right | down, '╮': left | down, '┐': left | down,
	'╰': right | up, '└': right | up, '╯': left | up, '┘': left | up,
	'├': up | down | right, '┤': up | down | left, '┬': left | right | down, '┴': left | right | up,
	'┼': up | down | left | right, '╞': up | down | right, '╡': up | down | left,
}

func box(img *image.RGBA, r image.Rectangle, arms int, c color.RGBA) {
	x, y := (r.Min.X+r.Max.X)/2, (r.Min.Y+r.Max.Y)/2
	for arm, line := range map[int]image.Rectangle{
		up: image.Rect(x, r.Min.Y, x+1, y+1), down: image.Rect(x, y, x+1, r.Max.Y),
		left: image.Rect(r.Min.X, y, x+1, y+1), right: image.Rect(x, y, r.Max.X, y+1),
	} {
		if arms&arm != 0 {
			fill(img, line, c)
		}
	}
}

// line is a stroke in a cell of 16 by 16.
type line struct{ x0, y0, x1, y1 int }

// braille is the sign without a dot; dots are where the others have theirs, in the
// order of the bits.
const braille = '\u2800'

var dots = [8]struct{ x, y int }{{0, 0}, {0, 1}, {0, 2}, {1, 0}, {1, 1}, {1, 2}, {0, 3}, {1, 3}}

// signs are made of strokes.
var signs = map[rune][]line{
	'✓': {{3, 9, 6, 12}, {6, 12, 13, 4}},
	'✗': {{4, 4, 12, 12}, {12, 4, 4, 12}},
	'✕': {{4, 5, 12, 12}, {12, 5, 4, 12}},
	'▸': triangle(4, 4, 12),
	'▼': {{3, 5, 13, 5}, {4, 6, 12, 6}, {5, 7, 11, 7}, {6, 8, 10, 8}, {7, 9, 9, 9}, {8, 10, 8, 10}},
	'▲': {{3, 10, 13, 10}, {4, 9, 12, 9}, {5, 8, 11, 8}, {6, 7, 10, 7}, {7, 6, 9, 6}, {8, 5, 8, 5}},
	'◐': append(disc(true), ring()...),
	'◉': append(ring(), line{7, 7, 8, 7}, line{7, 8, 8, 8}, line{7, 9, 8, 9}),
	'∅': append(ring(), line{3, 13, 12, 3}),
	'⊘': append(ring(), line{3, 13, 12, 3}),
	'◆': diamond(true),
	'◇': diamond(false),
	'◈': append(diamond(false), line{7, 8, 8, 8}),
	'■': square(3, 4, 12, 12),
	'▪': square(5, 6, 10, 10),
	'⚑': append(triangle(4, 3, 9), line{4, 3, 4, 14}),
	'‼': {{5, 3, 5, 9}, {10, 3, 10, 9}, {5, 12, 5, 12}, {10, 12, 10, 12}},
	'○': ring(),
	'●': disc(false),
}

// diamond stands on its point.
func diamond(filled bool) []line {
	lines := []line{{8, 3, 3, 8}, {3, 8, 8, 13}, {8, 13, 13, 8}, {13, 8, 8, 3}}
	for y := 3; filled && y <= 13; y++ {
		half := 5 - max(8-y, y-8)
		lines = append(lines, line{8 - half, y, 8 + half, y})
	}
	return lines
}

func square(x0, y0, x1, y1 int) (lines []line) {
	for y := y0; y <= y1; y++ {
		lines = append(lines, line{x0, y, x1, y})
	}
	return lines
}

// triangle points to the right.
func triangle(x, top, bottom int) []line {
	var lines []line
	middle := (top + bottom) / 2
	for y := top; y <= bottom; y++ {
		lines = append(lines, line{x, y, x + 8 - 2*max(middle-y, y-middle), y})
	}
	return lines
}

// disc is a filled circle, or its left half.
func disc(half bool) []line {
	var lines []line
	for y := 4; y <= 12; y++ {
		w := roots[max(8-y, y-8)]
		end := 8 + w
		if half {
			end = 8
		}
		lines = append(lines, line{8 - w, y, end, y})
	}
	return lines
}

func ring() []line {
	var lines []line
	for y := 4; y <= 12; y++ {
		w := roots[max(8-y, y-8)]
		lines = append(lines, line{8 - w, y, 8 - w, y}, line{8 + w, y, 8 + w, y})
	}
	return append(lines, line{7, 4, 9, 4}, line{7, 12, 9, 12})
}

// roots is the half width of a circle of radius 4 at a distance from its middle.
var roots = [5]int{4, 4, 4, 3, 1}

// stroke draws a line of a cell of 16 by 16 in the real one.
func stroke(img *image.RGBA, r image.Rectangle, l line, c color.RGBA) {
	at := func(x, y int) image.Point {
		return image.Pt(r.Min.X+x*r.Dx()/16, r.Min.Y+r.Dy()/8+y*r.Dy()*3/4/16)
	}
	a, b := at(l.x0, l.y0), at(l.x1, l.y1)
	steps := max(abs(b.X-a.X), abs(b.Y-a.Y), 1)
	for i := range steps + 1 {
		x, y := a.X+(b.X-a.X)*i/steps, a.Y+(b.Y-a.Y)*i/steps
		fill(img, image.Rect(x, y, x+2, y+2).Intersect(r), c)
	}
}

func abs(n int) int { return max(n, -n) }

// Pen draws cells in one size. Use NewPen.
type Pen struct {
	plain, bold font.Face
	// w and h are a cell's size in pixels, base the height of the line that
	// letters stand on.
	w, h, base int
}

// NewPen returns a pen for letters of a height in pixels.
func NewPen(size float64) (*Pen, error) {
	plain, err := face(gomono.TTF, size)
	if err != nil {
		return nil, err
	}
	bold, err := face(gomonobold.TTF, size)
	if err != nil {
		return nil, err
	}
	advance, _ := plain.GlyphAdvance('M')
	m := plain.Metrics()
	return &Pen{
		plain: plain, bold: bold,
		w: advance.Round(), h: (m.Ascent + m.Descent).Ceil() + 2, base: m.Ascent.Ceil() + 1,
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
