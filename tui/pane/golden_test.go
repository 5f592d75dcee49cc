package pane_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/charmbracelet/colorprofile"

	"ollimbot/core"
	"ollimbot/core/base/goldentest"
	"ollimbot/core/base/tail"
	"ollimbot/tui/theme"
)

// sizes are the insides of a small terminal's pane, a tab and a zoomed pane.
var sizes = [][2]int{{28, 6}, {40, 8}, {80, 12}, {120, 20}}

// compare holds lines against a golden file. Every line ends in a bar, so that
// its width can be seen.
func compare(t *testing.T, name string, lines []string) {
	t.Helper()
	goldentest.Compare(t, name+".golden", strings.Join(lines, "|\n")+"|\n")
}

func TestPanesLookAsTheyDid(t *testing.T) {
	for name, p := range panes() {
		c := everydayContext(plainTheme())
		p.Sync(c)
		for _, size := range sizes {
			file := fmt.Sprintf("%s-%dx%d", name, size[0], size[1])
			compare(t, file, drawn(p, c, size[0], size[1], true))
		}
		compare(t, name+"-line", []string{p.Line(c, 40), p.Line(c, 24)})
	}
}

// looks are the ways in which every pane is drawn. Without colours, bold,
// underline and reverse stay, and nothing else.
var looks = map[string]theme.Options{
	"dark":    {Dark: true, Profile: colorprofile.TrueColor},
	"light":   {Profile: colorprofile.TrueColor},
	"nocolor": {NoColor: true, Profile: colorprofile.TrueColor},
	"ascii":   {Plain: true, ASCII: true},
}

// A file holds a pane in one look at three sizes.
func TestPanesLookAsTheyDidInEveryLook(t *testing.T) {
	for look, o := range looks {
		for name, p := range panes() {
			c := everydayContext(theme.New(o))
			p.Sync(c)
			var lines []string
			for _, size := range sizes[1:] {
				for _, l := range drawn(p, c, size[0], size[1], true) {
					lines = append(lines, strings.ReplaceAll(l, "\x1b", "␛"))
				}
			}
			compare(t, name+"-"+look, lines)
		}
	}
}

func TestEmptyPanesTeach(t *testing.T) {
	for name, p := range panes() {
		c := everydayContext(plainTheme())
		c.Snap = &core.Snapshot{At: noon, Zone: zone}
		c.Tail = func(_ string, from tail.Cursor) tail.Page { return tail.Page{Next: from} }
		p.Sync(c)
		compare(t, name+"-empty-40x8", drawn(p, c, 40, 8, true))
	}
}
