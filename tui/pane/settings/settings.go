// Package settings is the page of what can be set.
package settings

import (
	"strconv"

	"ollimbot/tui/pane"
	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
)

const (
	textTitle = "Settings"
	textModel = "model"
	textRuns  = "runs at once"
	textZone  = "time zone"
	textDir   = "directory"
)

// Page is the page of settings. Use New.
type Page struct{ pane.Still }

// New returns the page.
func New() *Page { return &Page{} }

// Title implements pane.Pane.
func (*Page) Title(pane.Context) (name, state string) { return textTitle, "" }

// Draw implements pane.Pane: what is set, as far as the snapshot knows it.
func (*Page) Draw(c pane.Context, w, h int, _ bool) []widget.Row {
	b := widget.Brush{Theme: c.Theme}
	zone := ""
	if c.Snap.Zone != nil {
		zone = c.Snap.Zone.String()
	}
	var lines []string
	for _, l := range [][2]string{
		{textModel, c.Snap.Engine.Model}, {textRuns, strconv.Itoa(c.Snap.MaxForks)}, {textZone, zone}, {textDir, c.Snap.Dir},
	} {
		lines = append(lines, b.Line(w, widget.Span{Role: theme.Dim, Text: " " + widget.Fit(l[0], nameCells) + "  "}, widget.Span{Text: l[1]}))
	}
	return widget.FillRows(widget.Rows(widget.Nowhere, lines...), w, h)
}

// nameCells is how wide the column of names is.
const nameCells = 14
