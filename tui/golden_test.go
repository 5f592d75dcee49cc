package tui

import (
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/colorprofile"

	"ollimbot/core"
	"ollimbot/core/agent"
	"ollimbot/core/base/goldentest"
	"ollimbot/core/base/tail"
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

// golden holds a frame against a file. Escape sequences are written as ␛, and
// every line ends in a bar, so that its width can be seen.
func golden(t *testing.T, name string, lines []string) {
	t.Helper()
	got := strings.ReplaceAll(strings.Join(lines, "|\n")+"|\n", "\x1b", "␛")
	goldentest.Compare(t, name+".golden", got)
}

func TestFramesLookAsTheyDid(t *testing.T) {
	for _, c := range []struct {
		name string
		o    FrameOptions
	}{
		{"frame-200x60", FrameOptions{Width: 200, Height: 60}},
		{"frame-160x45", FrameOptions{Width: 160, Height: 45}},
		{"frame-120x40", FrameOptions{Width: 120, Height: 40}},
		{"frame-100x30", FrameOptions{Width: 100, Height: 30}},
		{"frame-60x16", FrameOptions{Width: 60, Height: 16}},
		{"frame-46x20", FrameOptions{Width: 46, Height: 20}},
		{"frame-80x24", FrameOptions{Width: 80, Height: 24}},
		{"frame-40x10", FrameOptions{Width: 40, Height: 10}},
		{"frame-30x5", FrameOptions{Width: 30, Height: 5}},
		{"chat-80x24", FrameOptions{Width: 80, Height: 24, Focus: action.Chat}},
		{"schedule-zoomed-120x40", FrameOptions{Width: 120, Height: 40, Focus: action.Schedule, Zoom: true}},
		{"dark-120x40", FrameOptions{Width: 120, Height: 40, Theme: theme.New(theme.Options{Dark: true, Profile: colorprofile.TrueColor})}},
		{"light-120x40", FrameOptions{Width: 120, Height: 40, Theme: theme.New(theme.Options{Profile: colorprofile.TrueColor})}},
		{"nocolor-80x24", FrameOptions{Width: 80, Height: 24, Theme: theme.New(theme.Options{NoColor: true, Profile: colorprofile.TrueColor})}},
		{"ascii-80x24", FrameOptions{Width: 80, Height: 24, Theme: theme.New(theme.Options{Plain: true, ASCII: true})}},
	} {
		t.Run(c.name, func(t *testing.T) {
			golden(t, c.name, Frame(still{snap: fullDay(), read: fullTail}, c.o))
		})
	}
}

func TestFramesOfAForkLookAsTheyDid(t *testing.T) {
	for _, c := range []struct {
		name string
		o    FrameOptions
	}{
		{"talk-120x40", FrameOptions{Width: 120, Height: 40, Focus: action.Chat}},
		{"talk-unfocused-120x40", FrameOptions{Width: 120, Height: 40}},
		{"talk-80x24", FrameOptions{Width: 80, Height: 24, Focus: action.Chat}},
		{"talk-40x10", FrameOptions{Width: 40, Height: 10, Focus: action.Chat}},
		{"talk-ascii-80x24", FrameOptions{Width: 80, Height: 24, Focus: action.Chat, Theme: theme.New(theme.Options{Plain: true, ASCII: true})}},
		{"talk-dark-80x24", FrameOptions{Width: 80, Height: 24, Focus: action.Chat, Theme: theme.New(theme.Options{Dark: true, Profile: colorprofile.TrueColor})}},
	} {
		t.Run(c.name, func(t *testing.T) {
			golden(t, c.name, Frame(still{snap: talkDay(), read: fullTail}, c.o))
		})
	}
}

// The dialogs over the panes, with their colours taken away.
func TestDialogsLookAsTheyDid(t *testing.T) {
	for _, c := range []struct {
		name string
		open func(r *root) pane.Dialog
	}{
		{"dialog-question", func(r *root) pane.Dialog { return dialog.Leaving(r.context(r.focus), false, pane.Quit) }},
		{"dialog-entry", func(r *root) pane.Dialog { return dialog.NewBudget(r.context(r.focus)) }},
		{"dialog-palette", func(r *root) pane.Dialog {
			return dialog.OpenPalette(r.context(r.focus), r.focus, r.view().Off, nil).Open
		}},
		{"dialog-help", func(r *root) pane.Dialog { return dialog.NewHelp(r.focus) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRoot(t.Context(), still{snap: fullDay(), read: fullTail}, Options{})
			r.prefs.theme, r.w, r.h = theme.New(theme.Options{Plain: true}), 100, 30
			r.refresh()
			r.toasts = toast.List{}
			r.open(c.open(r))
			golden(t, c.name, view.Frame(r.view()))
		})
	}
}
