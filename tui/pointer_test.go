package tui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"ollimbot/core"
	"ollimbot/core/work/fork"
	"ollimbot/core/work/updates"
	"ollimbot/routines"
)

// longUpdates are six that take more than a line each.
func longUpdates(s *core.Snapshot) {
	s.Updates = nil
	for i := range 6 {
		s.Updates = append(s.Updates, updates.Update{Key: fmt.Sprint(i), At: s.At, Message: fmt.Sprint("u", i) + strings.Repeat(" and so on", 14) + fmt.Sprint(" in the end of ", i)})
	}
}

// brokenFiles are four with problems that take more than a line each.
func brokenFiles(s *core.Snapshot) {
	for _, name := range []string{"a.md", "b.md", "c.md", "d.md"} {
		s.Schedule.Problems = append(s.Schedule.Problems, routines.Problem{
			File: "routines/" + name, Line: 3, Severity: routines.Error, Message: "a reason that takes more than one line of a pane that is as narrow as this one, and continues",
		})
	}
}

func twoFailures(s *core.Snapshot) {
	for _, id := range []string{"bad00001", "bad00002"} {
		s.Failures = append(s.Failures, fork.View{
			ID: id, Title: "Task " + id, State: fork.TimedOut, Started: s.At.Add(-time.Hour), Ended: s.At.Add(-time.Minute), Error: "it took too long",
		})
	}
	s.Forks = append(s.Forks, s.Failures...)
}

func TestTheMouseIsUsedAsItsStoriesSay(t *testing.T) {
	tell(t, []story{
		{"a click focuses, and M releases the mouse", setup{}, `
			         => wrote \x1b[?1000h
			<9,11>   => ▸ 2 Schedule
			<6 Logs> => ▸6 Logs
			M        => the mouse is released | wrote \x1b[?1000l`},
		{"the wheel scrolls the pane under the pointer, not the focused one", setup{snap: busyForks}, `
			(the first run talks) 5     => line 199 of the tail
			{\x1b[<64;80;14M} ~100ms => ▸5 Chat | !line 199 of the tail`},
		{"a click on the selected task opens it", setup{}, `
			5 <Email sweep> => !esc back
			<Email sweep>   => esc back
			esc             => !esc back`},
		{"and on the selected update", setup{}, `
			5 <The parcel> => !esc close
			<The parcel>   => esc close
			esc            => !esc close`},
		{"and on a mark of the day", setup{snap: busyForks}, `
			5 <◉> => → walk
			<◉>   => ▸ 4 Runs | !→ walk`},
		{"the words beside the day lead to the budget", sized(200, 60), `5 <1 every 90 min> => ▸ 1 Ping budget | !→ walk`},
		{"what has failed is noted as seen", setup{snap: busyForks, change: twoFailures}, `
			5 (the disk is full) <✗ 2 runs failed> <✗ Task bad00002 timed out> => did MarkSeen Runs=[bad00001]; MarkSeen Runs=[bad00002] | !the disk is full`},
		{"one on the selected run gives its tail the keys", setup{snap: everything, rings: longTails}, `
			4 ~1s <31 Dec  Email sweep> up => !following`},
		{"a click on an update's second line is a click on it", setup{change: longUpdates}, `
			3 <in the end of 4> => !esc close
			<in the end of 4>   => esc close`},
		{"one selects the update that stood there", setup{change: longUpdates}, `
			3 <u4> => ▸now  u4
			<u3>   => ▸now  u3
			<u5>   => ▸now  u5`},
		{"but not on a button of a card while a message is written", setup{snap: everything}, `5 i "hi" <[Done]> "!" enter => did Say Text=hi!`},
		{"one on a pane without the focus means the rows that stand there", setup{change: brokenFiles}, `
			2 G 5 <Email sweep> <Email sweep> => │ Email sweep  daily | esc back`},
		{"one on the line to write on begins a message", setup{}, `5 <100,36> "hi" => ▸ hi`},
		{"but not where nothing can be written", setup{options: Options{ReadOnly: true}}, `5 <100,36> => Write a message: the dashboard is`},
		{"one in the tail gives it the keys, and one in the list takes them", setup{snap: busyForks}, `
			(the first run talks) <line 199 of the tail> up => paused | tail: Email sweep
			end                  => following
			<Medication>         => tail: Medication
			<31 Dec  Email sweep> => tail: Email sweep | following
			down                 => tail: Weekly review`},
	})
	// A click beside rows, on a blank line or with another button leaves the screen as it is.
	beside := setup{change: func(s *core.Snapshot) { s.Schedule.Problems = fullDay().Schedule.Problems }, happen: happening{
		"a blank line": func(s *stage) { _, y := s.find("3 Updates"); s.click(10, y-1) },
		"other buttons": func(s *stage) {
			x, y := s.find("2 Schedule")
			for _, button := range []int{1, 2, 66} { // middle, right, the wheel sideways
				s.send(fmt.Sprintf("\x1b[<%d;%d;%dM", button, x, y+1))
			}
		},
	}}
	tell(t, []story{
		{"a click on a line of no task changes nothing", beside, `
			2 g ~1s
			<now 00:00>     => unchanged
			(a blank line)  => unchanged
			(other buttons) => unchanged`},
		{"one on a tail selects no other run", setup{w: 96, h: 26, env: []string{"NO_MOTION=1"}, snap: everything, rings: longTails, happen: happening{"the tail is clicked": func(s *stage) {
			for line := range 3 {
				_, y := s.find("tail: ")
				s.click(60, y+line)
			}
		}}}, `
			4 down ~1s
			(the tail is clicked) enter ~100ms => unchanged
			enter       => enter list
			<◉ 31 Dec> => tail: Email sweep`},
		{"the wheel selects among the runs under it", setup{w: 160, h: 50, snap: everything, rings: longTails}, `
			4 z => zoomed | ▸ ◉ 31 Dec
			{\x1b[<65;20;17M} ~100ms => !▸ ◉ 31 Dec | zoomed`},
	})
	for _, size := range [][2]int{{120, 40}, {80, 24}, {46, 12}} {
		tell(t, []story{{"the top line counts failures until they were looked at", setup{w: size[0], h: size[1], snap: busyForks, change: twoFailures}, `
			5 <✗ 2 runs failed> <✗ Task bad00002 timed out> => !✗ Task bad00002 timed out | !runs failed
			z => Task bad00002`}})
	}
	for _, c := range []struct{ keys, text, click string }{
		{"?", "Everywhere", "closes"},
		{"!", "Notices, newest first", "closes"},
		{"2 p", "esc close", "closes"},
		{"ctrl+p", "╭─ Actions", "closes"},
		{"1 e", "Ping budget, exactly", ""},
		{"1 m", "Mute pings", ""},
		{"2 n", "A new routine or reminder", ""},
		{"4 x", "Sure?", ""},
		{"L", "Log in to Claude ", ""},
	} {
		kept := `"` + c.text + `"`
		if c.click == "closes" {
			kept = "!" + c.text
		}
		tell(t, []story{{"a click beside a dialog closes it where nothing is lost: " + c.text, setup{w: 160, h: 50, snap: everything}, c.keys + ` ~1s => "` + c.text + `"
			<2,30> => ▸ | ` + kept}})
	}
}

func longTails(b *bot) { b.rings["f1f1f1f1"], b.rings[core.LogTail] = longTail(), longTail() }

func TestAClickIsForTheItemUnderItWhateverItsWordsLookLike(t *testing.T) {
	for _, words := range []string{"▸ not a row", "> quoted", "── a line ──", "────────────────", "  indented"} {
		on := setup{change: func(s *core.Snapshot) {
			s.Updates = []updates.Update{
				{Key: "old", At: s.At.Add(-time.Hour), Message: "The oldest\n" + words},
				{Key: "mid", At: s.At.Add(-time.Minute), Message: "The middle\n" + words},
				{Key: "new", At: s.At, Message: "The newest\n" + words},
			}
		}}
		tell(t, []story{{words, on, `
			3 G <The newest> => !esc close
			<The newest>     => esc close
			esc x            => did DiscardUpdate Key=new
			<The oldest>     => !esc close
			<The oldest>     => esc close
			esc x            => did DiscardUpdate Key=new; DiscardUpdate Key=old
			<The middle>     => !esc close
			<The middle>     => esc close
			esc x            => did DiscardUpdate Key=new; DiscardUpdate Key=old; DiscardUpdate Key=mid`}})
	}
}
