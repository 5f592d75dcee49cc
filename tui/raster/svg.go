package raster

import (
	"bufio"
	"fmt"
	"html"
	"image/color"
	"io"
	"strings"
)

// A cell of an SVG in its own units.
const (
	svgWidth, svgHeight, svgSize = 8.4, 18.0, 14.0
	svgFonts                     = "ui-monospace,'JetBrains Mono','SF Mono',Menlo,Consolas,'DejaVu Sans Mono',monospace"
)

// pen writes to a buffer, which keeps an error until it is flushed.
type pen struct{ w *bufio.Writer }

func (p pen) put(format string, args ...any) { _, _ = fmt.Fprintf(p.w, format, args...) }

// SVG writes the screen as text with colours: it can be compared and read.
func SVG(w io.Writer, g *Grid) error {
	buffer := bufio.NewWriter(w)
	out := pen{buffer}
	width, height := float64(g.W)*svgWidth+2*margin, float64(g.H)*svgHeight+2*margin
	out.put("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.1f %.1f\" font-family=\"%s\" font-size=\"%g\">\n",
		width, height, svgFonts, svgSize)
	out.put("<rect width=\"100%%\" height=\"100%%\" fill=\"%s\"/>\n", hex(g.Back))
	for y := range g.H {
		for x := 0; x < g.W; {
			x = svgRun(out, g, x, y)
		}
	}
	out.put("</svg>\n")
	return buffer.Flush()
}

// svgRun writes cells of one style, and returns the column after them.
func svgRun(out pen, g *Grid, x, y int) int {
	first := g.At(x, y)
	from := x
	var text strings.Builder
	for x < g.W {
		c := g.At(x, y)
		if c.Fore != first.Fore || c.Back != first.Back || c.Bold != first.Bold {
			break
		}
		if c.Text == "" {
			text.WriteByte(' ')
		} else {
			text.WriteString(c.Text)
		}
		x += max(1, c.Width)
	}
	left, top := margin+float64(from)*svgWidth, margin+float64(y)*svgHeight
	width := float64(x-from) * svgWidth
	if first.Back != g.Back {
		out.put("<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"%s\"/>\n",
			left, top, width, svgHeight, hex(first.Back))
	}
	if s := text.String(); strings.TrimSpace(s) != "" {
		bold := ""
		if first.Bold {
			bold = " font-weight=\"bold\""
		}
		out.put("<text xml:space=\"preserve\" x=\"%.1f\" y=\"%.1f\" textLength=\"%.1f\" lengthAdjust=\"spacingAndGlyphs\" fill=\"%s\"%s>%s</text>\n",
			left, top+svgSize-0.5, width, hex(first.Fore), bold, html.EscapeString(s))
	}
	return x
}

func hex(c color.RGBA) string { return fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B) }
