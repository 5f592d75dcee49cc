// Package picture converts a file into a picture that models accept: scaled down, and rotated as
// its EXIF data says. It owns the accepted formats and sizes, and the error text for any other
// file. It must not know which model gets the picture, nor where the file is from.
package picture

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	_ "image/gif" // registers the decoder
	"image/jpeg"
	_ "image/png" // registers the decoder
	"net/http"
	"slices"

	"golang.org/x/image/draw"

	"ollimbot/core/agent"
)

const (
	// maxImage is the largest image that providers accept, in bytes before base64.
	maxImage = 3_750_000
	// maxSide is the longest accepted side in pixels; a model sees at most goodSide of
	// them.
	maxSide, goodSide = 8000, 1568
	// maxPixels is the largest image that is decoded to be scaled down.
	maxPixels = 100_000_000
)

// Fit returns a picture in a format and size that providers accept: unchanged, or rotated and
// scaled down as a JPEG. Its size is checked before it is decoded. The error continues a sentence
// about the file, and says what to do.
func Fit(data []byte) (agent.Image, error) {
	kind := http.DetectContentType(data)
	switch kind {
	case "image/png", "image/jpeg", "image/gif", "image/webp":
	default:
		if heic(data) {
			return agent.Image{}, errors.New(textHEIC)
		}
		return agent.Image{}, errors.New(textKind)
	}
	config, _, err := image.DecodeConfig(bytes.NewReader(data))
	fits := len(data) <= maxImage && config.Width <= maxSide && config.Height <= maxSide
	way := upright
	if kind == "image/jpeg" {
		way = orientationOf(data)
	}
	switch {
	case kind == "image/webp" && fits:
		return agent.Image{MediaType: kind, Data: data}, nil
	case kind == "image/webp":
		return agent.Image{}, errors.New(textLargeWebP)
	case err != nil || config.Width < 1 || config.Height < 1:
		return agent.Image{}, errors.New(textBroken)
	case fits && way == upright:
		return agent.Image{MediaType: kind, Data: data}, nil
	case config.Width*config.Height > maxPixels:
		return agent.Image{}, fmt.Errorf(textLarge, config.Width, config.Height, maxPixels/1_000_000)
	}
	full, _, err := image.Decode(bytes.NewReader(data))
	if err != nil {
		return agent.Image{}, errors.New(textBroken)
	}
	var out bytes.Buffer
	if err := jpeg.Encode(&out, way.turn(smaller(full, goodSide)), &jpeg.Options{Quality: 85}); err != nil {
		return agent.Image{}, err
	}
	return agent.Image{MediaType: "image/jpeg", Data: out.Bytes()}, nil
}

// heic reports whether a file is a HEIC picture, the default format of iPhones.
func heic(data []byte) bool {
	brands := []string{"heic", "heix", "hevc", "heim", "heis", "mif1", "msf1"}
	return len(data) >= 12 && string(data[4:8]) == "ftyp" && slices.Contains(brands, string(data[8:12]))
}

// smaller scales an image to sides of at most side pixels, on white.
func smaller(full image.Image, side int) *image.RGBA {
	w, h := full.Bounds().Dx(), full.Bounds().Dy()
	if longer := max(w, h); longer > side {
		w, h = max(1, w*side/longer), max(1, h*side/longer)
	}
	out := image.NewRGBA(image.Rect(0, 0, w, h))
	draw.Draw(out, out.Bounds(), image.White, image.Point{}, draw.Src)
	draw.ApproxBiLinear.Scale(out, out.Bounds(), full, full.Bounds(), draw.Over, nil)
	return out
}

// Why a file cannot be shown.
const (
	textKind      = "is not a supported image: use PNG, JPEG, GIF or WebP"
	textHEIC      = "is a HEIC picture, which is not supported: send it as a JPEG (iPhone: Settings > Camera > Formats > Most Compatible)"
	textLarge     = "is too large an image (%d × %d pixels; the limit is %d million): make it smaller"
	textLargeWebP = "is too large an image: make it smaller"
	textBroken    = "is an incomplete or damaged image"
)
