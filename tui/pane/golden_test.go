package pane_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/colorprofile"

	"ollimbot/core"
	"ollimbot/core/base/goldentest"
	"ollimbot/core/base/tail"
	"ollimbot/core/talk/transcript"
	"ollimbot/core/work/fork"
	"ollimbot/tui/theme"
)

// sizes are the insides of a small terminal's pane, a tab and a zoomed pane.
var sizes = [][2]int{{28, 6}, {40, 8}, {80, 12}, {120, 20}}

// looks are the ways in which every pane is drawn. Without colours, bold, underline and reverse stay, and nothing else.
var looks = map[string]theme.Options{
	"dark":    {Dark: true, Profile: colorprofile.TrueColor},
	"light":   {Profile: colorprofile.TrueColor},
	"nocolor": {NoColor: true, Profile: colorprofile.TrueColor},
	"ascii":   {Plain: true, ASCII: true},
}

// compare holds lines against a golden file. Every line ends in a bar, so that its width can be seen.
func compare(t *testing.T, name string, lines []string) {
	t.Helper()
	goldentest.Compare(t, name+".golden", strings.ReplaceAll(strings.Join(lines, "|\n")+"|\n", "\x1b", "␛"))
}

// The look itself is the subject: where things stand in each pane at each size, in each theme, in each state that lays it
// out in another way.
func TestPanesLookAsTheyDid(t *testing.T) {
	for name, p := range panes() {
		c := everydayContext(plainTheme())
		p.Sync(c)
		for _, size := range sizes {
			compare(t, fmt.Sprintf("%s-%dx%d", name, size[0], size[1]), drawn(p, c, size[0], size[1], true))
		}
		compare(t, name+"-line", []string{p.Line(c, 40), p.Line(c, 24)})
		for look, o := range looks { // a file holds three sizes
			p := panes()[name]
			c := everydayContext(theme.New(o))
			p.Sync(c)
			var lines []string
			for _, size := range sizes[1:] {
				lines = append(lines, drawn(p, c, size[0], size[1], true)...)
			}
			compare(t, name+"-"+look, lines)
		}
		// An empty pane teaches.
		p = panes()[name]
		c.Snap = &core.Snapshot{At: noon, Zone: zone}
		c.Tail = func(_ string, from tail.Cursor) tail.Page { return tail.Page{Next: from} }
		p.Sync(c)
		compare(t, name+"-empty-40x8", drawn(p, c, 40, 8, true))
	}
	ascii, narrow := looks["ascii"], [][2]int{{28, 9}, {40, 8}, {80, 12}, {120, 20}}
	failed := func(c *core.Snapshot) {
		c.Chat = []transcript.Entry{
			{ID: "1", At: noon, Role: transcript.User, Text: "what's left today?"},
			{ID: "2", At: noon, Role: transcript.Notice, Text: "the bot could not answer; send your message again to retry: the model is overloaded"},
		}
	}
	for _, c := range []struct {
		name, pane string
		on         change
		steps      string
		look       theme.Options
		sizes      [][2]int
	}{
		{"chat-asked", "chat", asked, "", plain, sizes},
		{"chat-writing", "chat", passwd, "", plain, [][2]int{{28, 6}, {44, 12}, {80, 12}, {120, 20}}},
		{"chat-forked", "chat", forked, "", plain, sizes},
		{"chat-resumed", "chat", resumed, "", plain, sizes},
		{"chat-saving", "chat", saving, "", plain, sizes},
		{"chat-attached", "chat", attached, "", plain, sizes},
		{"chat-replied", "chat", replied, "", plain, sizes},
		{"chat-quiet", "chat", quieted, "", plain, sizes},
		{"chat-all", "chat", func(s *core.Snapshot) { asked(s); saving(s); attached(s) }, "", plain, sizes},
		{"chat-failed", "chat", failed, "", plain, [][2]int{{44, 10}, {80, 10}}},
		{"chat-typed-all", "chat", nil, `chat.write "/"`, plain, sizes},
		{"chat-typed-some", "chat", nil, `chat.write "/c"`, plain, sizes},
		{"chat-typed-one", "chat", nil, `chat.write "/model op"`, plain, sizes},
		{"chat-typed-none", "chat", nil, `chat.write "/colour"`, plain, sizes},
		{"chat-replying", "chat", nil, `chat.reply "see " {` + strings.Repeat(`日本\n`, 30) + `}`, plain, sizes},
		{"chat-markdown", "chat", marked, "", plain, slices.Concat(sizes, [][2]int{{60, 40}})},
		{"chat-markdown-light", "chat", marked, "", looks["light"], [][2]int{{60, 30}}},
		{"chat-markdown-nocolor", "chat", marked, "", theme.Options{NoColor: true}, [][2]int{{60, 30}}},
		{"chat-markdown-ascii", "chat", marked, "", ascii, [][2]int{{60, 30}}},
		{"logs-typing", "logs", nil, `tail.filter "fork"`, plain, sizes},
		{"logs-kept", "logs", nil, `tail.filter "!fork" enter`, plain, sizes},
		{"logs-none", "logs", nil, `tail.filter "nowhere"`, plain, sizes},
		{"logs-level", "logs", nil, `tail.level tail.level tail.time`, plain, sizes},
		{"budget-dry", "budget", rates(1.2, 600, 0.05), `view.back`, plain, [][2]int{{40, 8}, {80, 8}}},
		{"schedule-window", "schedule", nil, "", plain, narrow},
		{"schedule-window-ascii", "schedule", nil, "", ascii, [][2]int{{80, 12}}},
		{"schedule-all", "schedule", nil, `schedule.view`, plain, narrow},
		{"schedule-all-ascii", "schedule", nil, `schedule.view`, ascii, [][2]int{{80, 12}}},
		{"schedule-around-now", "schedule", halfADay, "", plain, [][2]int{{44, 30}}},
		{"schedule-crowded", "schedule", crowded, "", plain, [][2]int{{28, 9}, {43, 12}, {80, 12}, {120, 20}}},
		{"schedule-dates-window", "schedule", dated, "", plain, [][2]int{{14, 9}, {28, 12}, {40, 12}, {80, 16}, {120, 20}}},
		{"schedule-dates-window-ascii", "schedule", dated, "", ascii, [][2]int{{80, 16}}},
	} {
		s := open(c.pane)
		if c.on != nil {
			s.next(c.on)
		}
		s.c.Theme = theme.New(c.look)
		(&player{stage: s, t: t, w: 80, h: 12}).plays(c.steps)
		for _, size := range c.sizes {
			compare(t, fmt.Sprintf("%s-%dx%d", c.name, size[0], size[1]), drawn(s, s.c, size[0], size[1], true))
		}
	}
	s := runsPage(t, &ledger{n: 300})
	s.next(func(c *core.Snapshot) { c.Failures = []fork.View{(&ledger{}).run(3), (&ledger{}).run(220)} })
	for _, size := range [][2]int{{198, 56}, {118, 36}, {78, 20}, {44, 8}} {
		compare(t, fmt.Sprintf("runs-%dx%d", size[0], size[1]), strings.Split(s.screen(size[0], size[1]), "\n"))
	}
	for look, o := range looks {
		s.c.Theme = theme.New(o)
		compare(t, "runs-"+look, strings.Split(s.screen(78, 20), "\n"))
	}
}

// plain is drawn without any styling.
var plain = theme.Options{Dark: true, Plain: true}
