package tui

import (
	"errors"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"ollimbot/core"
	"ollimbot/core/agent"
	"ollimbot/core/base/goldentest"
	"ollimbot/core/base/tail"
	"ollimbot/core/command"
	"ollimbot/core/safety/policy"
	"ollimbot/core/talk/chat"
	"ollimbot/core/talk/post"
	"ollimbot/core/talk/transcript"
	"ollimbot/core/work/fork"
	"ollimbot/core/work/updates"
	"ollimbot/routines"
	"ollimbot/routines/schedule"
	"ollimbot/tui/action"
	"ollimbot/tui/dialog"
	"ollimbot/tui/pane"
	"ollimbot/tui/theme"
	"ollimbot/tui/toast"
	"ollimbot/tui/view"
)

// fullDay is busyDay with everything that a pane can show: a problem in a
// file, a chain, a late run, one that waits, a refusal, a failure, a card, an
// answer that is being written.
func fullDay() core.Snapshot {
	s := withForks(busyDay(day))
	s.Busy, s.BusySince = true, day.Add(-4*time.Second)
	s.Engine.State = "working"
	s.Schedule.Entries = append([]schedule.Entry{
		{ID: "ffff6666", FireTime: day.Add(-7 * time.Minute), Label: "1:55 PM", Description: "Medication", FilePath: "reminders/medication.md", Kind: routines.KindReminder, Tag: "just fired"},
	}, s.Schedule.Entries...)
	s.Schedule.Entries[3].Label = "Chain reminder (2/5)"
	s.Schedule.Problems = []routines.Problem{
		{File: "routines/gym.md", Line: 3, Column: 8, Severity: routines.Error, Message: "minute 61 does not exist; write 0 to 59"},
	}
	s.Updates = append(s.Updates, updates.Update{Key: "u3", At: day.Add(-time.Minute), Message: "世界 and 👍🏽: two words that are wide."})
	s.Forks = append(s.Forks[:1], append([]fork.View{{
		ID: "f4f4f4f4", Kind: routines.KindReminder, Title: "Move a little", State: fork.Running, Late: true, Refused: 1, Tools: 3,
		Started: day.Add(-95 * time.Second), Activity: "the budget is empty", Usage: agent.Usage{InputTokens: 12_400, CostUSD: 0.0123},
	}}, s.Forks[1:]...)...)
	s.Forks = append(s.Forks, fork.View{
		ID: "f5f5f5f5", Title: "Check the rent", State: fork.Failed, Started: day.Add(-4 * time.Hour), Ended: day.Add(-4*time.Hour + time.Minute),
		Error: "the engine could not be reached: connection refused",
	})
	s.Chat = append(s.Chat,
		transcript.Entry{ID: "3", At: day.Add(-3 * time.Minute), Role: transcript.Ping, Source: "Landlord", Critical: true, Embed: &post.Embed{
			Title: "The plumber comes at 15:00", Description: "The landlord moved it forward.", Color: "red",
			Buttons: []post.Button{{Label: "Done"}, {Label: "Remind me"}},
		}},
		transcript.Entry{ID: "4", At: day, Role: transcript.Bot, Text: "I move the review to", Streaming: true})
	return s
}

// talkDay is fullDay in a fork that the agent would like to save, while two
// tool calls wait and a file is attached.
func talkDay() core.Snapshot {
	s := fullDay()
	s.Fork = &chat.Banner{Topic: "Plans for the garden", Since: day.Add(-12 * time.Minute), Asks: true}
	s.Approvals = []policy.Approval{
		{ID: "a1", Label: "Run this command? rm -r drafts", Question: "Run this command?", Text: "rm -r drafts", Tool: "Bash", Command: "rule", Session: "fork", Asked: day.Add(-12 * time.Second), Until: day.Add(48 * time.Second)},
		{ID: "a2", Label: "WebSearch(seeds)", Tool: "WebSearch", Session: "fork", Asked: day, Until: day.Add(time.Minute)},
	}
	s.Attached = []string{"bed.png"}
	return s
}

// fullTail is the tail of the run that is shown, and the log.
func fullTail(id string, from tail.Cursor) tail.Page {
	r := tail.New(100)
	add := func(ago int, k tail.Kind, text string) {
		r.Add(tail.Line{At: day.Add(-time.Duration(ago) * time.Second), Kind: k, Text: text})
	}
	if id == core.LogTail {
		add(60, tail.Warn, "routine kept at its last good version file=routines/gym.md line=3")
		return r.Read(from)
	}
	add(12, tail.Think, "I look at what is unread and leave newsletters out.")
	add(10, tail.Tool, "gmail unread --max 20")
	add(9, tail.Result, "20 threads, 14 of them newsletters")
	add(7, tail.Text, "Two need an answer today: the landlord asks about Thursday, and Dana waits for the numbers of the third quarter.")
	add(4, tail.Refuse, "ping: already sent 1 ping in this run")
	add(2, tail.Report, "queued for the main session")
	return r.Read(from)
}

// The look itself is the subject: what is where at each size that lays the panes out in another way, in each theme,
// with the banner of a fork, and under each kind of dialog.
func TestTheDashboardLooksAsItDid(t *testing.T) {
	dark, light := theme.Options{Dark: true, Profile: colorprofile.TrueColor}, theme.Options{Profile: colorprofile.TrueColor}
	plain, ascii, colourless := theme.Options{Plain: true}, theme.Options{Plain: true, ASCII: true}, theme.Options{NoColor: true, Profile: colorprofile.TrueColor}
	muting := func(c pane.Context) pane.Dialog {
		return dialog.NewUntil(c, "Mute pings that are not critical until", day.Add(time.Hour), func(until time.Time) command.Value { return command.MuteUntil{Until: until} })
	}
	writing := func(pane.Context) pane.Dialog { return dialog.NewTask() }
	wrong := func(c pane.Context) pane.Dialog {
		f := dialog.NewTask()
		for _, msg := range []tea.Msg{tea.PasteMsg{Content: "0 25 * * *"}, press("tab"), tea.PasteMsg{Content: "日本語 👍🏽 \x1b[31mred"}, press("tab"), pane.Done{Err: errors.New("the disk is full")}} {
			f.Update(c, msg)
		}
		return f
	}
	for _, c := range []struct {
		name  string
		w, h  int
		focus action.Pane
		zoom  bool
		look  theme.Options
		open  func(c pane.Context) pane.Dialog
	}{
		{"frame-200x60", 200, 60, "", false, plain, nil},
		{"frame-160x45", 160, 45, "", false, plain, nil},
		{"frame-120x40", 120, 40, "", false, plain, nil},
		{"frame-100x30", 100, 30, "", false, plain, nil},
		{"frame-60x16", 60, 16, "", false, plain, nil},
		{"frame-46x20", 46, 20, "", false, plain, nil},
		{"frame-80x24", 80, 24, "", false, plain, nil},
		{"frame-40x10", 40, 10, "", false, plain, nil},
		{"frame-30x5", 30, 5, "", false, plain, nil},
		{"chat-80x24", 80, 24, action.Chat, false, plain, nil},
		{"schedule-zoomed-120x40", 120, 40, action.Schedule, true, plain, nil},
		{"dark-120x40", 120, 40, "", false, dark, nil},
		{"light-120x40", 120, 40, "", false, light, nil},
		{"nocolor-80x24", 80, 24, "", false, colourless, nil},
		{"ascii-80x24", 80, 24, "", false, ascii, nil},
		{"talk-120x40", 120, 40, action.Chat, false, plain, nil},
		{"talk-unfocused-120x40", 120, 40, "", false, plain, nil},
		{"talk-80x24", 80, 24, action.Chat, false, plain, nil},
		{"talk-40x10", 40, 10, action.Chat, false, plain, nil},
		{"talk-ascii-80x24", 80, 24, action.Chat, false, ascii, nil},
		{"talk-dark-80x24", 80, 24, action.Chat, false, dark, nil},
		{"dialog-question", 100, 30, "", false, plain, func(c pane.Context) pane.Dialog { return dialog.Leaving(c, false, pane.Quit) }},
		{"dialog-entry", 100, 30, "", false, plain, func(c pane.Context) pane.Dialog { return dialog.NewBudget(c) }},
		{"dialog-help", 100, 30, "", false, plain, func(pane.Context) pane.Dialog { return dialog.NewHelp(action.Forks) }},
		{"dialog-palette", 100, 30, "", false, plain, nil},
		{"dialog-until", 100, 30, "", false, plain, muting},
		{"dialog-until-40x10", 40, 10, "", false, plain, muting},
		{"dialog-form", 100, 30, "", false, plain, writing},
		{"dialog-form-wrong", 80, 24, "", false, plain, wrong},
		{"dialog-form-40x10", 40, 10, "", false, plain, wrong},
		{"dialog-form-ascii", 80, 24, "", false, ascii, wrong},
		{"dialog-form-nocolor", 80, 24, "", false, colourless, wrong},
	} {
		t.Run(c.name, func(t *testing.T) {
			snap := fullDay()
			if strings.HasPrefix(c.name, "talk") {
				snap = talkDay()
			} else if strings.HasPrefix(c.name, "dialog-until") || strings.HasPrefix(c.name, "dialog-form") {
				snap = dayAhead(day)
			}
			from := still{snap: snap, read: fullTail}
			lines := Frame(from, FrameOptions{Width: c.w, Height: c.h, Focus: c.focus, Zoom: c.zoom, Theme: theme.New(c.look)})
			if strings.HasPrefix(c.name, "dialog") {
				r := newRoot(t.Context(), from, Options{})
				r.prefs.theme, r.w, r.h = theme.New(c.look), c.w, c.h
				r.refresh()
				r.toasts = toast.List{}
				if c.open == nil {
					c.open = func(c pane.Context) pane.Dialog { return dialog.OpenPalette(c, r.focus, r.view().Off, nil).Open }
				}
				r.open(c.open(r.context(r.focus)))
				lines = view.Frame(r.view())
			}
			// Every line ends in a bar, so that its width can be seen.
			goldentest.Compare(t, c.name+".golden", strings.ReplaceAll(strings.Join(lines, "|\n")+"|\n", "\x1b", "␛"))
		})
	}
}
