package raster

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
)

// drawn is a picture of lines, without its margin.
func drawn(t *testing.T, w int, lines ...string) image.Image {
	t.Helper()
	pen, err := NewPen(26)
	if err != nil {
		t.Fatal(err)
	}
	var small bytes.Buffer
	g := Lines(lines, w, Dark)
	if err := pen.Small(&small, g); err != nil {
		t.Fatal(err)
	}
	img, err := png.Decode(&small)
	if err != nil {
		t.Fatal(err)
	}
	if b := img.Bounds(); b.Dx() != w*pen.w+2*margin || b.Dy() != len(lines)*pen.h+2*margin {
		t.Errorf("%v, cells are %d by %d", b, pen.w, pen.h)
	}
	return img
}

// share is which part of a picture's inside has a colour.
func share(img image.Image, want color.RGBA) float64 {
	n, in := 0, img.Bounds().Inset(margin)
	for y := in.Min.Y; y < in.Max.Y; y++ {
		for x := in.Min.X; x < in.Max.X; x++ {
			if color.RGBAModel.Convert(img.At(x, y)) == want {
				n++
			}
		}
	}
	return float64(n) / float64(in.Dx()*in.Dy())
}

// Curves and bars are blocks of many cells: between them there must be no seams.
func TestBlocksFillTheirCells(t *testing.T) {
	red := color.RGBA{0xff, 0, 0, 0xff}
	paint := func(s string) string {
		return ansi.Style{}.ForegroundColor(ansi.RGBColor{R: 0xff}).Styled(s)
	}
	for text, want := range map[string]float64{"██": 1, "▄▄": 0.5, "▌▌": 0.5, "  ": 0} {
		if got := share(drawn(t, 2, paint(text), paint(text)), red); got < want-0.02 || got > want+0.02 {
			t.Errorf("%q fills %.2f, want %.2f", text, got, want)
		}
	}
	half := mixed(red, Dark.Back, 2)
	if got := share(drawn(t, 1, paint("▒")), half); got != 1 {
		t.Errorf("a shade fills %.2f", got)
	}
	if got := share(drawn(t, 1, ansi.Style{}.Reverse(true).Styled(" ")), Dark.Fore); got != 1 {
		t.Errorf("a reversed blank fills %.2f", got)
	}
}

// The line of now goes through all rows.
func TestTheLineOfNowHasNoGapBetweenRows(t *testing.T) {
	img := drawn(t, 1, "│", "┤", "│")
	in := img.Bounds().Inset(margin)
	for y := in.Min.Y; y < in.Max.Y; y++ {
		found := false
		for x := in.Min.X; x < in.Max.X; x++ {
			found = found || color.RGBAModel.Convert(img.At(x, y)) == color.Color(Dark.Fore)
		}
		if !found {
			t.Fatalf("the line is broken in row %d of %d", y-in.Min.Y, in.Dy())
		}
	}
}

func TestALineReachesTheSidesOfItsCellThatItsSignHas(t *testing.T) {
	for sign, want := range map[string]string{"│": "up down", "─": "left right", "┤": "up down left", "├": "up down right", "┬": "down left right", "┴": "up left right", "┼": "up down left right"} {
		img := drawn(t, 1, sign)
		in := img.Bounds().Inset(margin)
		middle := in.Min.Add(in.Size().Div(2))
		var got []string
		for _, side := range []struct {
			name string
			at   image.Point
		}{{"up", image.Pt(middle.X, in.Min.Y)}, {"down", image.Pt(middle.X, in.Max.Y-1)}, {"left", image.Pt(in.Min.X, middle.Y)}, {"right", image.Pt(in.Max.X-1, middle.Y)}} {
			if color.RGBAModel.Convert(img.At(side.at.X, side.at.Y)) == color.Color(Dark.Fore) {
				got = append(got, side.name)
			}
		}
		if got := strings.Join(got, " "); got != want {
			t.Errorf("%s goes %s, want %s", sign, got, want)
		}
	}
}

// The bits of a Braille character are its dots: down the left column, down the right one, and then the lowest row.
func TestABrailleCharacterHasItsDots(t *testing.T) {
	for bit, at := range [8][2]int{{0, 0}, {0, 1}, {0, 2}, {1, 0}, {1, 1}, {1, 2}, {0, 3}, {1, 3}} {
		img := drawn(t, 1, string(rune(first+1<<bit)))
		in := img.Bounds().Inset(margin)
		var got [][2]int
		for column := range 2 {
			for row := range 4 {
				x, y := in.Min.X+in.Dx()*(1+2*column)/4, in.Min.Y+in.Dy()*(1+2*row)/8
				if color.RGBAModel.Convert(img.At(x, y)) == color.Color(Dark.Fore) {
					got = append(got, [2]int{column, row})
				}
			}
		}
		if want := [][2]int{at}; !slices.Equal(got, want) {
			t.Errorf("bit %d draws %v, want %v", bit, got, want)
		}
	}
}

func TestEverySignOfThePanesIsDrawn(t *testing.T) {
	for _, sign := range []string{"●", "◉", "◐", "○", "■", "✓", "✗", "◆", "◈", "△", "◇", "▪", "→", "▸", "‼", "…", "⠿", "ä", "─", "┬", "A"} {
		if got := 1 - share(drawn(t, 1, sign), Dark.Back); got == 0 || got == 1 {
			t.Errorf("%q fills %.2f", sign, got)
		}
	}
	if bold, plain := share(drawn(t, 1, "\x1b[1mA\x1b[m"), Dark.Back), share(drawn(t, 1, "A"), Dark.Back); bold >= plain {
		t.Error("bold is not heavier")
	}
}
