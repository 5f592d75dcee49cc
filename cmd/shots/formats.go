package main

import (
	"bytes"
	"fmt"
	"html"
	"image"
	"image/color"
	"image/gif"
	"image/png"
	"strings"
	"time"

	"ollimbot/tui/raster"
)

// margin is the room around the screen of an SVG, in its own units.
const margin = 12

// writePNG returns a screen as a picture.
func writePNG(pen *raster.Pen, g *raster.Grid) ([]byte, error) {
	var out bytes.Buffer
	err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&out, pen.Image(g))
	return out.Bytes(), err
}

// frame is a screen and how long it is shown.
type frame struct {
	grid *raster.Grid
	long time.Duration
}

// writeGIF returns screens as a looping animation. Only what changes between two screens is stored.
func writeGIF(pen *raster.Pen, frames []frame) ([]byte, error) {
	images := make([]*image.RGBA, len(frames))
	for i, f := range frames {
		images[i] = pen.Image(f.grid)
	}
	colours := raster.Palette(images...)
	var out gif.GIF
	for i, img := range images {
		r := img.Bounds()
		if i > 0 {
			if r = changed(images[i-1], img); r.Empty() {
				out.Delay[len(out.Delay)-1] += hundredths(frames[i].long)
				continue
			}
		}
		out.Image = append(out.Image, raster.Paletted(img, r, colours))
		out.Delay = append(out.Delay, hundredths(frames[i].long))
		out.Disposal = append(out.Disposal, gif.DisposalNone)
	}
	var file bytes.Buffer
	err := gif.EncodeAll(&file, &out)
	return file.Bytes(), err
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

// A cell of an SVG in its own units.
const (
	svgWidth, svgHeight, svgSize = 8.4, 18.0, 14.0
	svgFonts                     = "ui-monospace,'JetBrains Mono','SF Mono',Menlo,Consolas,'DejaVu Sans Mono',monospace"
)

// pen writes to memory.
type pen struct{ strings.Builder }

func (p *pen) put(format string, args ...any) { _, _ = fmt.Fprintf(p, format, args...) }

// writeSVG returns the screen as text with colours: it can be compared and read.
func writeSVG(g *raster.Grid) []byte {
	out := &pen{}
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
	return []byte(out.String())
}

// svgRun writes cells of one style, and returns the column after them.
func svgRun(out *pen, g *raster.Grid, x, y int) int {
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
