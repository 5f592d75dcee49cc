package tools

import (
	"bytes"
	"errors"
	"image"
	_ "image/gif" // its formats are read
	"image/jpeg"
	_ "image/png" // likewise
	"net/http"

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

// Picture returns an image in a format and size that providers accept: unchanged, or scaled
// down as a JPEG. The error says what to do.
func Picture(data []byte) (agent.Image, error) {
	kind := http.DetectContentType(data)
	switch kind {
	case "image/png", "image/jpeg", "image/gif", "image/webp":
	default:
		return agent.Image{}, errors.New(textImageKind)
	}
	config, _, err := image.DecodeConfig(bytes.NewReader(data))
	fits := len(data) <= maxImage && config.Width <= maxSide && config.Height <= maxSide
	switch {
	case kind == "image/webp" && fits:
		return agent.Image{MediaType: kind, Data: data}, nil
	case kind == "image/webp":
		return agent.Image{}, errors.New(textImageLarge)
	case err != nil || config.Width < 1 || config.Height < 1:
		return agent.Image{}, errors.New(textImageBroken)
	case fits:
		return agent.Image{MediaType: kind, Data: data}, nil
	case config.Width*config.Height > maxPixels:
		return agent.Image{}, errors.New(textImageLarge)
	}
	full, _, err := image.Decode(bytes.NewReader(data))
	if err != nil {
		return agent.Image{}, errors.New(textImageBroken)
	}
	var out bytes.Buffer
	if err := jpeg.Encode(&out, smaller(full, goodSide), &jpeg.Options{Quality: 85}); err != nil {
		return agent.Image{}, err
	}
	return agent.Image{MediaType: "image/jpeg", Data: out.Bytes()}, nil
}

// smaller scales an image to sides of at most side pixels, on white.
func smaller(full image.Image, side int) image.Image {
	w, h := full.Bounds().Dx(), full.Bounds().Dy()
	if longer := max(w, h); longer > side {
		w, h = max(1, w*side/longer), max(1, h*side/longer)
	}
	out := image.NewRGBA(image.Rect(0, 0, w, h))
	draw.Draw(out, out.Bounds(), image.White, image.Point{}, draw.Src)
	draw.ApproxBiLinear.Scale(out, out.Bounds(), full, full.Bounds(), draw.Over, nil)
	return out
}
