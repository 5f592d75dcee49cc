// Package draw makes pictures of a terminal's screen: PNG, SVG and GIF, in pure
// Go, with no font but the one in it. It knows cells and colours, and nothing of
// the program whose screen it draws.
package draw

import "image/color"

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
