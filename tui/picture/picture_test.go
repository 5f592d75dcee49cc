package picture

import (
	"bytes"
	"context"
	"fmt"
	"image/color"
	"image/png"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"ollimbot/core"
	"ollimbot/core/base/goldentest"
	"ollimbot/core/talk/post"
	"ollimbot/core/work/budget"
	"ollimbot/core/work/fork"
	"ollimbot/core/work/proposals"
	"ollimbot/core/work/week"
	"ollimbot/routines/schedule"
	weekpage "ollimbot/tui/pane/week"
	"ollimbot/tui/theme"
)

var noon = time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)

// stored is what pictures are made of.
type stored struct{ s core.Snapshot }

func (s stored) Snapshot() core.Snapshot { return s.s }

// Week sums up what is stored.
func (s stored) Week(_ context.Context, ago int) (week.Report, error) {
	return week.Of(s.s.At, ago, week.Sources{
		Pings: s.s.Budget.Pings, Promises: func(_, _ time.Time) proposals.Counts { return proposals.Counts{Accepted: 3, Kept: 2} },
		Open: []proposals.Proposal{{Text: "Move Inbox sweep to 9:30? You always answer it then."}},
	}), nil
}

// busy is a day of which much is known.
func busy() stored {
	s := core.Snapshot{At: noon, Zone: time.UTC}
	s.Budget.State = budget.State{Capacity: 5, Available: 3.5, RefillRateMinutes: 90, LastRefill: noon}
	s.Budget.FiresUntil = noon.Add(24 * time.Hour)
	for i := range 12 {
		at := noon.Add(-time.Duration(i+1) * time.Hour)
		s.Ended = append(s.Ended, fork.View{ID: fmt.Sprintf("%08x", i), TaskID: "a", Title: "Inbox sweep", State: fork.Done, Started: at, Ended: at.Add(time.Minute)})
		s.Budget.Pings = append([]budget.Ping{{At: at, ID: fmt.Sprint(i), Task: "a", Title: "Inbox sweep", Answered: at.Add(time.Minute)}}, s.Budget.Pings...)
		fire := noon.Add(time.Duration(i+1) * time.Hour)
		s.Schedule.Day = append(s.Schedule.Day, schedule.Entry{ID: "b", Description: "Tea break", FireTime: fire})
		s.Budget.Fires = append(s.Budget.Fires, budget.Fire{At: fire, Task: "b", Title: "Tea break", Rate: 0.4})
	}
	return stored{s}
}

func TestTheDayFitsAPhoneAndSaysTheHeadline(t *testing.T) {
	for name, from := range map[string]stored{"busy": busy(), "empty": {core.Snapshot{At: noon, Zone: time.UTC}}} {
		p, err := Of(context.Background(), post.PictureDay, from)
		if err != nil {
			t.Fatal(err)
		}
		img, err := png.Decode(bytes.NewReader(p.PNG))
		if err != nil {
			t.Fatal(err)
		}
		if b := img.Bounds(); b.Dx() < 950 || b.Dx() > 1050 || b.Dy() > b.Dx() {
			t.Errorf("%s: %v", name, b)
		}
		if want := "The day as a picture. " + from.s.Headline().Text() + " " + from.s.BudgetText(); p.Alt != want {
			t.Errorf("%s is described as %q, want %q", name, p.Alt, want)
		}
		ping, _ := look().Options().Colours(theme.Ping)
		r, g, b, _ := ping.RGBA()
		want := color.RGBA{uint8(r >> 8), uint8(g >> 8), uint8(b >> 8), 0xff}
		found := false
		for i := range len(img.(interface{ ColorModel() color.Model }).ColorModel().(color.Palette)) {
			found = found || color.RGBAModel.Convert(img.ColorModel().(color.Palette)[i]) == color.Color(want)
		}
		if found != (name == "busy") {
			t.Errorf("%s: the colour of pings is there: %v", name, found)
		}
	}
	if _, err := Of(context.Background(), "moon", busy()); err == nil {
		t.Error("there is a picture of the moon")
	}
}

func TestTheDayHasItsHeadlineItsBandAndItsBudget(t *testing.T) {
	from := busy()
	p := pageOf(&from.s)
	goldentest.Compare(t, "day.golden", strings.ReplaceAll(strings.Join(p.all, "\n"), "\x1b", "␛")+"\n")
}

// The page, the picture's description and the lines are of one report.
func TestTheWeekSaysTheSameEverywhere(t *testing.T) {
	for _, name := range []string{post.PictureWeek, post.PictureLastWeek} {
		ago := 0
		if name == post.PictureLastWeek {
			ago = 1
		}
		r, _ := busy().Week(context.Background(), ago)
		p, err := Of(context.Background(), name, busy())
		if err != nil {
			t.Fatal(err)
		}
		page := strings.Join(strings.Fields(ansi.Strip(strings.Join(weekpage.Lines(look(), &r, columns, mostRows), " "))), " ")
		if want := "The week as a picture. " + strings.Join(r.Lines(), ". ") + "."; p.Alt != want || !strings.Contains(page, r.Title()) {
			t.Errorf("%q is described as %q, want %q", page, p.Alt, want)
		}
		for _, f := range r.Facts() {
			if !strings.Contains(page, f.Name+" "+f.Text) {
				t.Errorf("the page lacks %q: %q", f.Text, page)
			}
		}
		img, err := png.DecodeConfig(bytes.NewReader(p.PNG))
		if err != nil || img.Width < 950 || img.Width > 1050 || img.Height > img.Width {
			t.Errorf("%s: %d by %d, %v", name, img.Width, img.Height, err)
		}
	}
}

func BenchmarkWeek(b *testing.B) {
	from := busy()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Of(context.Background(), post.PictureWeek, from); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDay(b *testing.B) {
	from := busy()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Of(context.Background(), post.PictureDay, from); err != nil {
			b.Fatal(err)
		}
	}
}
