package main

import (
	"bytes"
	"flag"
	"image"
	"image/draw"
	"image/gif"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"ollimbot/core/base/testkit"
	"ollimbot/core/command"
	"ollimbot/tui/raster"
)

var update = flag.Bool("update", false, "write the pictures")

// picture is one of the pictures in screenshots/.
type picture struct {
	name  string
	w, h  int
	paper raster.Look
	story func(s *stage)
}

var pictures = []picture{
	{"dashboard", 120, 40, raster.Dark, afternoon},
	{"dashboard-light", 120, 40, raster.Light, afternoon},
	{"dashboard-80x24", 80, 24, raster.Dark, afternoon},
	{"dashboard-200x60", 200, 60, raster.Dark, afternoon},
	{"budget", 120, 40, raster.Dark, after("1", "z")},
	{"runs", 120, 40, raster.Dark, after("4", "z")},
	{"task", 120, 40, raster.Dark, after("2", "j", "j", "\r")},
	{"costs", 120, 40, raster.Dark, after("$")},
	{"away", 120, 40, raster.Light, func(s *stage) {
		afternoon(s)
		s.wait(4 * time.Hour)
		s.press("A")
		s.wait(time.Second)
	}},
	{"settings", 80, 24, raster.Dark, after(",")},
	{"tail", 120, 40, raster.Dark, func(s *stage) {
		afternoon(s)
		s.press("4", "z")
		s.wait(25 * time.Second)
		s.press("&", "l", "e", "t", "t", "e", "r", "\r")
		s.wait(8 * time.Second)
	}},
	{"palette", 120, 40, raster.Dark, func(s *stage) {
		afternoon(s)
		s.press("\x10", "b", "u", "d")
	}},
	{"week", 120, 40, raster.Dark, after("W")},
	{"account", 120, 40, raster.Dark, after(":", "account", "\r", "/", "is:missed", "\r")},
	{"promise", 120, 40, raster.Dark, func(s *stage) {
		afternoon(s)
		s.do(command.Say{Text: "I'll call the dentist tomorrow."})
		s.wait(6 * time.Second)
		s.press("3")
	}},
	{"better-time", 120, 40, raster.Dark, func(s *stage) {
		afternoon(s)
		s.wait(40 * time.Second)
		s.press("3")
	}},
	{"preflight", 120, 40, raster.Dark, func(s *stage) {
		afternoon(s)
		s.save("routines/sort-invoices.md", "---\nid: \"5a1eb001\"\ncron: \"0 17 * * fri\"\ndescription: \"Sort invoices\"\n"+
			"background: true\nskills: [\"invoices\"]\n---\nSort the invoices of the week, and report what is due.\n")
		s.wait(5 * time.Second)
		s.press("2", "z", "G", "k")
	}},
	{"preview", 120, 40, raster.Dark, func(s *stage) {
		afternoon(s)
		s.press("2", "p")
		s.wait(time.Second)
	}},
}

// after is the afternoon and then some keys.
func after(keys ...string) func(s *stage) {
	return func(s *stage) {
		afternoon(s)
		s.press(keys...)
		s.wait(time.Second)
	}
}

func TestEveryPictureShowsWhatItsStorySays(t *testing.T) {
	for _, p := range pictures {
		t.Run(p.name, func(t *testing.T) {
			play(t, p.w, p.h, p.paper, func(s *stage) {
				p.story(s)
				g := s.grid()
				if strings.HasPrefix(p.name, "dashboard") { // a usual day, with nothing opened
					isFull(t, g)
				}
				kept(t, p.name, g)
			})
		})
	}
	if *update {
		t.Run("demo", film)
	}
}

// A screen that stays is one picture that is shown longer, and of the next one only the part that differs is kept.
func TestAFilmShowsEachScreenForItsTime(t *testing.T) {
	pen, err := raster.NewPen(12)
	testkit.Must(t, err)
	still, next := raster.Lines([]string{"one", "two"}, 5, raster.Dark), raster.Lines([]string{"one", "too"}, 5, raster.Dark)
	film, err := writeGIF(pen, []frame{{still, 250 * time.Millisecond}, {still, 500 * time.Millisecond}, {next, 2 * time.Second}})
	testkit.Must(t, err)
	got, err := gif.DecodeAll(bytes.NewReader(film))
	testkit.Must(t, err)
	if !slices.Equal(got.Delay, []int{75, 200}) || got.LoopCount != 0 {
		t.Errorf("screens are shown for %v hundredths, %d times", got.Delay, got.LoopCount)
	}
	whole, part := got.Image[0].Bounds(), got.Image[1].Bounds()
	if want := pen.Image(still).Bounds(); whole != want || part.Empty() || part.Dx()*4 > whole.Dx() || part.Min.Y < whole.Dy()/2 {
		t.Errorf("of %v the first screen has %v, the second one %v", want, whole, part)
	}
	if want := pen.Image(next); changed(onto(got.Image[0], got.Image[1]), want) != (image.Rectangle{}) {
		t.Error("the second screen is another")
	}
}

// onto is a screen with what has changed.
func onto(still, part *image.Paletted) *image.RGBA {
	img := image.NewRGBA(still.Rect)
	draw.Draw(img, still.Rect, still, still.Rect.Min, draw.Src)
	draw.Draw(img, part.Rect, part, part.Rect.Min, draw.Src)
	return img
}

func TestThePictureOfThePhoneIsOfTheMessagesOfToday(t *testing.T) {
	kept(t, "phone", phone())
}

func TestTheScreenIsAsFullAfterAYear(t *testing.T) {
	for w, h := range map[int]int{120: 40, 200: 60} {
		playAfter(t, 365, w, h, raster.Dark, func(s *stage) {
			afternoon(s)
			isFull(t, s.grid())
		})
	}
}

// isFull sees to it that not too many cells are blank, by the height of the screen.
func isFull(t *testing.T, g *raster.Grid) {
	t.Helper()
	n := 0
	for _, c := range g.Cells {
		if c.Width > 0 && (c.Text == "" || c.Text == " ") {
			n++
		}
	}
	most := map[int]int{24: 100, 40: 37, 60: 44}[g.H]
	if 100*n > most*len(g.Cells) {
		t.Errorf("%d×%d: %.2f %% of the cells are blank, at most %d may be", g.W, g.H, float64(100*n)/float64(len(g.Cells)), most)
	}
}

// film is the short moving picture for the README.
func film(t *testing.T) {
	pen, err := raster.NewPen(12)
	testkit.Must(t, err)
	const each = 250 * time.Millisecond
	play(t, 110, 32, raster.Dark, func(s *stage) {
		var frames []frame
		shoot := func(d time.Duration) {
			for ; d > 0; d -= each {
				s.wait(each)
				frames = append(frames, frame{grid: s.grid(), long: each})
			}
		}
		shoot(time.Second)
		s.do(command.FireNow{ID: inbox})
		shoot(2 * time.Second)
		s.do(command.FireNow{ID: plants})
		shoot(5 * time.Second)
		s.press("1", "+")
		shoot(2 * time.Second)
		s.press("5", "i")
		for _, letter := range "what is left?" {
			s.press(string(letter))
			frames = append(frames, frame{grid: s.grid(), long: each / 3})
		}
		s.press("\r")
		shoot(6 * time.Second)
		frames[len(frames)-1].long = 2 * time.Second
		moving, err := writeGIF(pen, frames)
		testkit.Must(t, err)
		testkit.Must(t, os.WriteFile(filepath.Join(screenshots, "demo.gif"), moving, 0o644))
	})
}

// The tasks of the pictures, of the demo's directory.
const (
	inbox  = "a11ce003"
	plants = "de300001"
	papers = "de300005"
)

// afternoon is what has happened before a picture is taken, on top of the demo's past: a
// ping and a question were answered, an inbox was swept, and a run is under way.
func afternoon(s *stage) {
	s.do(command.Say{Text: "Up and stretched. What is left for today?"})
	s.wait(25 * time.Second)
	s.do(command.FireNow{ID: inbox})
	s.wait(14 * time.Second)
	s.do(command.FireNow{ID: papers})
	s.wait(21*time.Second + 300*time.Millisecond)
}
