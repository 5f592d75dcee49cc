package draw

import (
	"fmt"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/gomono"
	"golang.org/x/image/font/gofont/gomonobold"
	"golang.org/x/image/font/opentype"
)

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
