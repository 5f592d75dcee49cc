package picture

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"math"
	"math/rand/v2"
	"strings"
	"syscall"
	"testing"
	"time"

	"pgregory.net/rapid"

	"ollimbot/core/base/testkit"
)

// photo returns a JPEG with a red top left corner, in an orientation; 0 means none.
func photo(t testing.TB, w, h int, held byte, order binary.ByteOrder) []byte {
	t.Helper()
	img := image.NewRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			c := color.RGBA{uint8(x * y), uint8(x ^ y), 200, 255}
			if x < w/2 && y < h/2 {
				c = color.RGBA{255, 0, 0, 255}
			}
			img.SetRGBA(x, y, c)
		}
	}
	var out bytes.Buffer
	if err := jpeg.Encode(&out, img, &jpeg.Options{Quality: 95}); err != nil {
		t.Fatal(err)
	}
	if held == 0 {
		return out.Bytes()
	}
	return turned(out.Bytes(), held, order)
}

// turned returns a JPEG with an orientation.
func turned(data []byte, held byte, order binary.ByteOrder) []byte {
	mark := "MM"
	if order == binary.LittleEndian {
		mark = "II"
	}
	tiff := append([]byte(mark), make([]byte, 24)...)
	order.PutUint16(tiff[2:], 42)
	order.PutUint32(tiff[4:], 8)
	order.PutUint16(tiff[8:], 1)
	order.PutUint16(tiff[10:], 0x0112)
	order.PutUint16(tiff[12:], 3)
	order.PutUint32(tiff[14:], 1)
	order.PutUint16(tiff[18:], uint16(held))
	body := append([]byte("Exif\x00\x00"), tiff...)
	segment := append([]byte{0xff, 0xe1, 0, byte(len(body) + 2)}, body...)
	return append(append([]byte{0xff, 0xd8}, segment...), data[2:]...)
}

// P5
func TestAPhotoIsTurnedAsItsCameraWasHeld(t *testing.T) {
	// Whether the red quarter is on the right and at the bottom, for each orientation.
	at := map[byte][2]bool{2: {true, false}, 3: {true, true}, 4: {false, true}, 5: {false, false}, 6: {true, false}, 7: {true, true}, 8: {false, true}}
	for held, want := range at {
		for _, order := range []binary.ByteOrder{binary.BigEndian, binary.LittleEndian} {
			shown, err := Fit(photo(t, 120, 80, held, order))
			if err != nil {
				t.Fatal(err)
			}
			img, err := jpeg.Decode(bytes.NewReader(shown.Data))
			if err != nil {
				t.Fatal(err)
			}
			w, h := img.Bounds().Dx(), img.Bounds().Dy()
			if turned := held >= 5; turned != (w == 80 && h == 120) {
				t.Errorf("%d: %d × %d", held, w, h)
			}
			x, y := w/4, h/4
			if want[0] {
				x += w / 2
			}
			if want[1] {
				y += h / 2
			}
			if r, g, b, _ := img.At(x, y).RGBA(); r < 0xd000 || g > 0x4000 || b > 0x4000 {
				t.Errorf("%d: the red quarter is elsewhere", held)
			}
		}
	}
}

func TestAnUprightPhotoThatFitsStaysAsItIs(t *testing.T) {
	for _, held := range []byte{0, 1, 9} {
		data := photo(t, 60, 40, held, binary.BigEndian)
		if shown, err := Fit(data); err != nil || shown.MediaType != "image/jpeg" || !bytes.Equal(shown.Data, data) {
			t.Errorf("%d: changed, %v", held, err)
		}
	}
}

// P5
func TestALargePictureIsScaledToWhatAModelSees(t *testing.T) {
	var out bytes.Buffer
	if err := png.Encode(&out, image.NewGray(image.Rect(0, 0, 9000, 300))); err != nil {
		t.Fatal(err)
	}
	shown, err := Fit(out.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if c, err := jpeg.DecodeConfig(bytes.NewReader(shown.Data)); err != nil || c.Width != goodSide || c.Height != 300*goodSide/9000 {
		t.Errorf("%d × %d, %v", c.Width, c.Height, err)
	}
}

func TestWhatIsTransparentInALargePictureIsWhite(t *testing.T) {
	var out bytes.Buffer
	testkit.Must(t, png.Encode(&out, image.NewNRGBA(image.Rect(0, 0, 9000, 300))))
	shown, err := Fit(out.Bytes())
	testkit.Must(t, err)
	img, err := jpeg.Decode(bytes.NewReader(shown.Data))
	testkit.Must(t, err)
	if r, g, b, _ := img.At(100, 10).RGBA(); r>>8 != 0xff || g>>8 != 0xff || b>>8 != 0xff {
		t.Errorf("it is %02x%02x%02x", r>>8, g>>8, b>>8)
	}
}

// P5
func TestWhatCannotBeShownIsRefusedInOneSentence(t *testing.T) {
	// A header that claims 30,000 pixels a side, without pixels: it must not be decoded.
	ihdr := append([]byte("IHDR"), 0, 0, 0x75, 0x30, 0, 0, 0x75, 0x30, 8, 2, 0, 0, 0)
	huge := append([]byte("\x89PNG\r\n\x1a\n\x00\x00\x00\x0d"), ihdr...)
	huge = binary.BigEndian.AppendUint32(huge, crc32.ChecksumIEEE(ihdr))
	for name, c := range map[string]struct {
		data []byte
		want string
	}{
		"huge":  {huge, "30000 × 30000"},
		"heic":  {[]byte("\x00\x00\x00\x18ftypheic\x00\x00\x00\x00"), "HEIC"},
		"zip":   {[]byte("PK\x03\x04rest"), "not a supported image"},
		"torn":  {[]byte("\x89PNG\r\n\x1a\nrest"), "incomplete or damaged"},
		"empty": {nil, "not a supported image"},
	} {
		if _, err := Fit(c.data); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestNoBytesBreakTheOrientation(t *testing.T) {
	whole := photo(t, 16, 16, 6, binary.LittleEndian)
	testkit.Check(t, func(rt *rapid.T) {
		data := bytes.Clone(whole[:rapid.IntRange(0, 60).Draw(rt, "cut")])
		for range rapid.IntRange(0, 6).Draw(rt, "changes") {
			if len(data) > 0 {
				data[rapid.IntRange(0, len(data)-1).Draw(rt, "at")] = rapid.Byte().Draw(rt, "byte")
			}
		}
		if o := orientationOf(data); o < upright || o > lastKnown {
			rt.Fatalf("orientation %d", o)
		}
	})
}

// snapshot returns a photo like those of a phone, 4000 × 3000 pixels and about 12 MB: soft shapes
// and sensor noise, held upright.
func snapshot(t testing.TB) []byte {
	t.Helper()
	const w, h = 4000, 3000
	noise := rand.New(rand.NewPCG(1, 2))
	img := image.NewRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			soft := 110 + 60*math.Sin(float64(x)/310)*math.Cos(float64(y)/230) + 20*math.Sin(float64(x*y)/90_000)
			grain := 19 * noise.NormFloat64()
			shade := func(plus float64) uint8 { return uint8(max(0, min(255, soft+grain+plus))) }
			img.SetRGBA(x, y, color.RGBA{shade(25), shade(5), shade(-20), 255})
		}
	}
	var out bytes.Buffer
	if err := jpeg.Encode(&out, img, &jpeg.Options{Quality: 99}); err != nil {
		t.Fatal(err)
	}
	return turned(out.Bytes(), 6, binary.BigEndian)
}

// BenchmarkAPhotoOf12MB also reports processor time, which depends less on the machine's load.
func BenchmarkAPhotoOf12MB(b *testing.B) {
	data := snapshot(b)
	b.ReportAllocs()
	before := processor(b)
	for b.Loop() {
		if _, err := Fit(data); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64((processor(b)-before).Microseconds())/1000/float64(b.N), "cpu-ms/op")
	b.ReportMetric(float64(len(data))/1e6, "MB-photo")
}

// processor returns the processor time that this process has used.
func processor(t testing.TB) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
