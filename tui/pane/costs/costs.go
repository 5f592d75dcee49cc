// Package costs is the page of what everything has cost: the bot, day by day, and
// each of its tasks.
package costs

import (
	"ollimbot/core/words"
	"ollimbot/tui/pane"
	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
)

const (
	textTitle = "Costs"
	textToday = "today "
)

// Page is the page of costs. Use New.
type Page struct{ pane.Still }

// New returns the page.
func New() *Page { return &Page{} }

// Title implements pane.Pane.
func (*Page) Title(c pane.Context) (name, state string) {
	return textTitle, textToday + words.Dollars(c.Snap.Engine.Today.CostUSD)
}

// Draw implements pane.Pane.
func (*Page) Draw(c pane.Context, w, h int, _ bool) []widget.Row {
	u := c.Snap.Engine.Today
	b := widget.Brush{Theme: c.Theme}
	line := b.Line(w, widget.Span{Text: " " + textToday}, widget.Span{Role: theme.Strong, Text: words.Dollars(u.CostUSD)},
		widget.Span{Role: theme.Dim, Text: "  " + words.Grouped(uint64(max(0, u.Tokens())), "token")})
	return widget.FillRows(widget.Rows(widget.Nowhere, line), w, h)
}
