package picture

import (
	"bytes"
	"context"
	"image"
	_ "image/png"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"ollimbot/core/talk/post"
	"ollimbot/core/work/proposals"
	"ollimbot/core/work/week"
	weekpage "ollimbot/tui/pane/week"
)

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
		if !strings.Contains(page, r.Title()) || !strings.Contains(p.Alt, r.Title()) {
			t.Errorf("%q is not in %q or %q", r.Title(), page, p.Alt)
		}
		for _, f := range r.Facts() {
			if !strings.Contains(page, f.Name+" "+f.Text) {
				t.Errorf("the page lacks %q: %q", f.Text, page)
			}
			if !strings.Contains(p.Alt, f.Line()) {
				t.Errorf("the description lacks %q: %q", f.Line(), p.Alt)
			}
		}
		img, _, err := image.DecodeConfig(bytes.NewReader(p.PNG))
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

// Week sums up what is stored.
func (s stored) Week(_ context.Context, ago int) (week.Report, error) {
	return week.Of(s.s.At, ago, week.Sources{
		Pings: s.s.Budget.Pings, Promises: func(_, _ time.Time) proposals.Counts { return proposals.Counts{Accepted: 3, Kept: 2} },
		Open: []proposals.Proposal{{Text: "Move Inbox sweep to 9:30? You always answer it then."}},
	}), nil
}
