package raster

import (
	"image/color"
	"strings"

	uv "github.com/charmbracelet/ultraviolet"
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
