package tui

import (
	"strings"

	"ollimbot/tui/theme"
	"ollimbot/tui/widget/markdown"
)

// Page draws a text in markdown for a terminal outside of the dashboard, w cells
// wide, in the colours and with the signs that the dashboard would take there. Of
// the options it reads Output, Env, NoColor and ASCII.
func Page(text string, w int, o Options) string {
	t := theme.New(detect(o).look)
	var doc markdown.Doc
	var b strings.Builder
	for i, row := range doc.Rows(text, markdown.Look{Theme: t, W: w}) {
		if i > 0 {
			b.WriteByte('\n')
		}
		for _, s := range row {
			b.WriteString(t.Paint(s.Role, s.Text))
		}
	}
	return b.String()
}
