// Package picture draws parts of the dashboard as pictures for a phone, with the dashboard's own painters. It must
// not know the destination of the pictures.
package picture

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"github.com/charmbracelet/colorprofile"

	"ollimbot/core"
	"ollimbot/core/base/clean"
	"ollimbot/core/talk/post"
	"ollimbot/core/work/week"
	"ollimbot/tui/pane"
	"ollimbot/tui/pane/budget"
	"ollimbot/tui/pane/day"
	weekpage "ollimbot/tui/pane/week"
	"ollimbot/tui/raster"
	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
)

// Picture is a picture and its description for screen readers.
type Picture struct {
	PNG []byte
	Alt string
}

const (
	// columns is the width of a picture in cells: letters stay legible on a phone, and the band of a day has a cell for
	// each half hour.
	columns = 62
	// letters is their height in pixels. A picture is then about 1000 pixels wide.
	letters = 26
	// budgetRows is the height of the budget's facts, below the day that shows its curve.
	budgetRows = 4
	// maxAlt is the longest description of a picture, in characters; Discord takes 1024.
	maxAlt = 1000
)

// Source provides the data of pictures; a core.Viewer is one.
type Source interface {
	Snapshot() core.Snapshot
	Week(ctx context.Context, ago int) (week.Report, error)
}

// Of returns the picture with a name, such as post.PictureDay.
func Of(ctx context.Context, name string, from Source) (Picture, error) {
	switch name {
	case post.PictureDay:
		s := from.Snapshot()
		return Day(&s)
	case post.PictureWeek:
		return weekOf(ctx, from, 0)
	case post.PictureLastWeek:
		return weekOf(ctx, from, 1)
	}
	return Picture{}, fmt.Errorf("there is no picture %q", name)
}

func weekOf(ctx context.Context, from Source, ago int) (Picture, error) {
	r, err := from.Week(ctx, ago)
	if err != nil {
		return Picture{}, err
	}
	return Week(&r)
}

// Week draws a week like its page in the dashboard.
func Week(r *week.Report) (Picture, error) {
	p := page{all: weekpage.Lines(look(), r, columns, mostRows)}
	return p.drawn(textWeekAlt + strings.Join(r.Lines(), ". ") + ".")
}

// mostRows is the maximum height of a picture.
const mostRows = 40

// Day draws the day around now like the dashboard: the headline, the level of the ping budget with the day's pings
// and runs, and the facts of the budget.
func Day(s *core.Snapshot) (Picture, error) {
	p := pageOf(s)
	return p.drawn(textDayAlt + s.Headline().Text() + " " + s.BudgetText())
}

// pageOf returns the page of a day.
func pageOf(s *core.Snapshot) page {
	c := pane.Context{Theme: look(), Snap: s, Zoomed: true}
	var band day.Pane
	var pings budget.Pane
	band.Sync(c)
	pings.Sync(c)

	p := page{brush: widget.Brush{Theme: c.Theme}}
	at := s.Local(s.At)
	p.title(at.Format("Monday 2 January"), s.Hour(s.At))
	p.text(s.Headline().Text())
	p.blank()
	p.rows(band.Draw(c, columns, bandRows, false))
	p.lines(band.Legend(c, columns))
	p.blank()
	p.rule(textBudget, pings.State(c))
	p.rows(pings.Draw(c, columns, budgetRows, false))
	return p
}

// bandRows is the height of the day.
const bandRows = 12

const (
	textBudget  = "Ping budget"
	textDayAlt  = "The day as a picture. "
	textWeekAlt = "The week as a picture. "
)

// look returns the theme of all pictures.
func look() *theme.Theme {
	return theme.New(theme.Options{Dark: true, Profile: colorprofile.TrueColor})
}

// page is a picture that grows by lines of columns cells.
type page struct {
	brush widget.Brush
	all   []string
}

func (p *page) lines(lines []string) { p.all = append(p.all, lines...) }

func (p *page) rows(rows []widget.Row) {
	for _, r := range rows {
		p.all = append(p.all, r.Text)
	}
}

func (p *page) blank() { p.all = append(p.all, widget.Blank(columns)) }

func (p *page) title(text, right string) {
	p.all = append(p.all, p.brush.Spread(columns, []widget.Span{{Role: theme.Strong, Text: " " + text}}, []widget.Span{{Role: theme.Dim, Text: right + " "}}))
}

func (p *page) text(text string) {
	for _, l := range widget.Wrap(text, columns-2) {
		p.all = append(p.all, p.brush.Line(columns, widget.Span{Role: theme.Text, Text: " " + l}))
	}
}

func (p *page) rule(title, state string) {
	p.all = append(p.all, p.brush.Rule(columns, []widget.Span{{Role: theme.Strong, Text: title}}, []widget.Span{{Role: theme.Dim, Text: state}}))
}

// drawn returns the page as a picture.
func (p *page) drawn(alt string) (Picture, error) {
	pen, err := raster.NewPen(letters)
	if err != nil {
		return Picture{}, err
	}
	var out bytes.Buffer
	if err := pen.Small(&out, raster.Lines(p.all, columns, raster.Dark)); err != nil {
		return Picture{}, err
	}
	return Picture{out.Bytes(), clean.Cut(clean.Line(alt), maxAlt)}, nil
}
