package picture

import (
	"bytes"
	"encoding/binary"
	"image"
)

// orientation is how a camera was held: the value of EXIF's tag 0x0112.
type orientation int

const (
	upright orientation = 1
	// transposed is the first orientation that swaps width and height.
	transposed orientation = 5
	lastKnown  orientation = 8
)

// orientationOf reads the orientation of a JPEG. It is upright if the JPEG has no readable one.
func orientationOf(data []byte) orientation {
	const app1, startOfScan = 0xe1, 0xda
	for at := 2; at+4 <= len(data) && data[at] == 0xff && data[at+1] != startOfScan; {
		end := at + 2 + int(binary.BigEndian.Uint16(data[at+2:]))
		if end > len(data) {
			break
		}
		if tiff, found := bytes.CutPrefix(data[at+4:max(end, at+4)], []byte("Exif\x00\x00")); found && data[at+1] == app1 {
			return ofTIFF(tiff)
		}
		at = max(end, at+4)
	}
	return upright
}

// ofTIFF reads the first directory of EXIF's data.
func ofTIFF(tiff []byte) orientation {
	const tag, entry = 0x0112, 12
	if len(tiff) < 8 {
		return upright
	}
	var order binary.ByteOrder = binary.BigEndian
	if tiff[0] == 'I' {
		order = binary.LittleEndian
	}
	at := int64(order.Uint32(tiff[4:]))
	if at+2 > int64(len(tiff)) {
		return upright
	}
	list := tiff[at+2:]
	for n := order.Uint16(tiff[at:]); n > 0 && len(list) >= entry; n-- {
		if order.Uint16(list) == tag {
			if o := orientation(order.Uint16(list[8:])); o >= upright && o <= lastKnown {
				return o
			}
			return upright
		}
		list = list[entry:]
	}
	return upright
}

// turn returns the image upright.
func (o orientation) turn(from *image.RGBA) *image.RGBA {
	if o == upright {
		return from
	}
	w, h := from.Bounds().Dx(), from.Bounds().Dy()
	size := image.Rect(0, 0, w, h)
	if o >= transposed {
		size = image.Rect(0, 0, h, w)
	}
	to := image.NewRGBA(size)
	for y := range h {
		for x := range w {
			tx, ty := o.place(x, y, w, h)
			copy(to.Pix[to.PixOffset(tx, ty):][:4], from.Pix[from.PixOffset(x, y):][:4])
		}
	}
	return to
}

// place returns where a pixel of an image of w × h goes.
func (o orientation) place(x, y, w, h int) (tx, ty int) {
	switch o {
	case 2:
		return w - 1 - x, y
	case 3:
		return w - 1 - x, h - 1 - y
	case 4:
		return x, h - 1 - y
	case 5:
		return y, x
	case 6:
		return h - 1 - y, x
	case 7:
		return h - 1 - y, w - 1 - x
	case 8:
		return y, w - 1 - x
	}
	return x, y
}
