// Package raster makes pictures of a terminal's screen, in pure Go, with only its embedded font. It
// handles cells and colours, independent of the program whose screen it draws.
package raster

import (
	"cmp"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"io"
	"slices"
	"strings"

	uv "github.com/charmbracelet/ultraviolet"
	"github.com/go-fonts/dejavu/dejavusansmono"
	"golang.org/x/image/font"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"
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

// At returns the cell at column x of row y.
func (g *Grid) At(x, y int) Cell { return g.Cells[y*g.W+x] }

// Look is a terminal's own colours.
type Look struct{ Back, Fore color.RGBA }

// The colours of the pictures.
var (
	Dark  = Look{color.RGBA{0x16, 0x18, 0x22, 0xff}, color.RGBA{0xd5, 0xda, 0xe6, 0xff}}
	Light = Look{color.RGBA{0xfb, 0xfb, 0xf8, 0xff}, color.RGBA{0x22, 0x26, 0x2e, 0xff}}
)

// Screen is a terminal's screen.
type Screen interface {
	CellAt(x, y int) *uv.Cell
}

// Of returns the content of a screen.
func Of(s Screen, w, h int, look Look) *Grid {
	g := &Grid{W: w, H: h, Back: look.Back, Cells: make([]Cell, 0, w*h)}
	for y := range h {
		for x := range w {
			g.Cells = append(g.Cells, look.cell(s.CellAt(x, y)))
		}
	}
	return g
}

// Lines returns a screen of w columns with lines painted for a terminal.
func Lines(lines []string, w int, look Look) *Grid {
	screen := uv.NewScreenBuffer(w, len(lines))
	uv.NewStyledString(strings.Join(lines, "\n")).Draw(screen, screen.Bounds())
	return Of(screen, w, len(lines), look)
}

func (l Look) cell(c *uv.Cell) Cell {
	if c == nil {
		return Cell{Width: 1, Fore: l.Fore, Back: l.Back}
	}
	fore, back := solid(c.Style.Fg, l.Fore), solid(c.Style.Bg, l.Back)
	if c.Style.Attrs&uv.AttrReverse != 0 {
		fore, back = back, fore
	}
	if c.Style.Attrs&uv.AttrFaint != 0 {
		fore = mixed(fore, back, 2)
	}
	return Cell{Text: c.Content, Width: c.Width, Bold: c.Style.Attrs&uv.AttrBold != 0, Fore: fore, Back: back}
}

func solid(c color.Color, otherwise color.RGBA) color.RGBA {
	if c == nil {
		return otherwise
	}
	r, g, b, _ := c.RGBA()
	return color.RGBA{uint8(r >> 8), uint8(g >> 8), uint8(b >> 8), 0xff}
}

// margin is the room around the screen in pixels.
const margin = 12

// Small writes the screen as a small PNG: every pixel has one of the 256 most used colours.
func (p *Pen) Small(w io.Writer, g *Grid) error {
	img := p.Image(g)
	return png.Encode(w, Paletted(img, img.Bounds(), Palette(img)))
}

// Image returns the screen as a picture.
func (p *Pen) Image(g *Grid) *image.RGBA {
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

// Paletted returns a part of a picture in the nearest colours of a palette.
func Paletted(img *image.RGBA, r image.Rectangle, colours color.Palette) *image.Paletted {
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

// Palette returns the 256 most used colours.
func Palette(images ...*image.RGBA) color.Palette {
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
