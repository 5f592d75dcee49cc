package pane_test

import (
	"fmt"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"ollimbot/core"
	"ollimbot/core/command"
	"ollimbot/core/talk/post"
	"ollimbot/core/talk/transcript"
	"ollimbot/tui/action"
	"ollimbot/tui/pane"
	"ollimbot/tui/theme"
)

// press gives a pane that captures a key that writes nothing.
func (s *stage) press(t *testing.T, codes ...rune) pane.Answer {
	t.Helper()
	var a pane.Answer
	for _, code := range codes {
		if !s.Capture() {
			t.Fatalf("key %d comes, but the pane takes none", code)
		}
		a = s.Type(s.c, tea.KeyPressMsg{Code: code})
	}
	return a
}

func (s *stage) paste(text string) pane.Answer { return s.Type(s.c, tea.PasteMsg{Content: text}) }

func said(t *testing.T, a pane.Answer) command.Say {
	t.Helper()
	say, ok := a.Do.(command.Say)
	if !ok {
		t.Fatalf("nothing is said: %#v", a)
	}
	return say
}

const answer = `## What is left

Two **important** things, *really*, of ` + "`tasks list`" + `:
1. Answer the [landlord](https://example.org/t/42)
   - [x] Thursday, 日本語 👨‍👩‍👧
2. The weekly review
> He comes at **15:00**.
` + "```sh\ngo test ./... && echo \"a long line of code that no pane of a small terminal can show in one row\"\n```" + `
| Task | Cost |
|---|---|
| Sweep | $0.12 |`

func marked(s *core.Snapshot) {
	s.Chat = []transcript.Entry{
		{ID: "1", At: noon, Role: transcript.User, Text: "what's **left**?", Where: "Discord"},
		{ID: "2", At: noon, Role: transcript.Bot, Text: answer, Where: "Discord"},
		{ID: "3", At: noon, Role: transcript.Bot, Text: "All of it.", Where: "Discord"},
		{ID: "4", At: noon, Role: transcript.Bot, Text: "One is **urg", Streaming: true},
	}
}

func TestMarkdownLooksAsItDid(t *testing.T) {
	s := open("chat")
	s.next(marked)
	for _, size := range append(sizes, [2]int{60, 40}) {
		compare(t, fmt.Sprintf("chat-markdown-%dx%d", size[0], size[1]), drawn(s, s.c, size[0], size[1], true))
	}
	for name, th := range map[string]*theme.Theme{
		"light": theme.New(theme.Options{Profile: colorprofile.TrueColor}), "nocolor": theme.New(theme.Options{NoColor: true}),
		"ascii": theme.New(theme.Options{Plain: true, ASCII: true}),
	} {
		s.c.Theme = th
		lines := drawn(s, s.c, 60, 30, true)
		for i, l := range lines {
			lines[i] = strings.ReplaceAll(l, "\x1b", "␛")
		}
		compare(t, "chat-markdown-"+name+"-60x30", lines)
	}
}

func TestAHugePasteIsCutAndSaysSo(t *testing.T) {
	s := open("chat")
	s.do(action.ChatWrite)
	if a := s.paste(strings.Repeat("é", 200<<10)); a.Toast == "" {
		t.Error("nothing is said")
	}
	if say := said(t, s.press(t, tea.KeyEnter)); len(say.Text) > 256<<10 {
		t.Errorf("%d bytes are sent", len(say.Text))
	}
}

// carded gives the card's buttons what the core gives them.
func carded(s *core.Snapshot) {
	s.Chat = append([]transcript.Entry{}, s.Chat...)
	e := *s.Chat[3].Embed
	e.Buttons = []post.Button{{Label: "Done", Action: "act:task_done:7"}, {Label: "Remind me", Action: "act:agent:1a2b3c4d"}}
	s.Chat[3].Embed = &e
}

func TestWritingLooksAsItDid(t *testing.T) {
	for name, begin := range map[string]func(s *stage){
		"replying": func(s *stage) {
			s.do(action.ChatReply)
			s.keys(t, "see ")
			s.paste(strings.Repeat("日本\n", 30))
		},
	} {
		s := open("chat")
		begin(s)
		for _, size := range sizes {
			compare(t, fmt.Sprintf("chat-%s-%dx%d", name, size[0], size[1]), drawn(s, s.c, size[0], size[1], true))
		}
	}
}

// The line above the oldest message, which says that more was said, is none.
func TestTheMarkedMessageIsAnsweredWhereMoreWasSaidBefore(t *testing.T) {
	for _, more := range []bool{false, true} {
		s := open("chat")
		s.next(func(c *core.Snapshot) {
			c.ChatMore, c.Chat = more, nil
			for i := range 30 {
				c.Chat = append(c.Chat, transcript.Entry{ID: post.MessageID(fmt.Sprint("m", i)), At: noon, Role: transcript.Bot, Text: fmt.Sprint("message ", i)})
			}
		})
		s.screen(80, 14)
		s.do(action.TailUp)
		_, marked, _ := strings.Cut(s.screen(80, 14), "▸")
		marked, _, _ = strings.Cut(marked, "14:02")
		s.do(action.ChatReply)
		_, quoted, _ := strings.Cut(s.screen(80, 14), "reply to ")
		if _, text, _ := strings.Cut(strings.TrimSpace(marked), "message"); text == "" || !strings.Contains(quoted, "message"+text) {
			t.Errorf("more %v: marked %q, answered %q", more, marked, quoted)
		}
	}
}

// A button that needs a time asks for one, by key and by mouse; the others are pressed at once.
func TestAButtonThatNeedsATimeAsksForOneInTheChat(t *testing.T) {
	promised := func(c *core.Snapshot) {
		carded(c)
		c.Chat[3].Embed.Buttons = []post.Button{
			{Label: "Remind me", Action: "act:propose:1a2b3c4d.yes"}, {Label: "Other time…", Action: "act:propose_when:1a2b3c4d.when"}, {Label: "Later", Action: "act:ping_later:p1"},
		}
	}
	for down, id := range []string{1: "act:propose_when:1a2b3c4d.when", 2: "act:ping_later:p1"} {
		if id == "" {
			continue
		}
		s := open("chat")
		s.next(promised)
		d := s.do(action.ChatButtons).Open
		for range down {
			d.Update(s.c, tea.KeyPressMsg{Code: tea.KeyDown})
		}
		a := d.Update(s.c, tea.KeyPressMsg{Code: tea.KeyEnter})
		if a.Send != nil || a.Do != nil || a.Open == nil || !a.Close {
			t.Fatalf("%s answers %#v", id, a)
		}
		for _, r := range "tomorrow 9:00" {
			a.Open.Update(s.c, tea.KeyPressMsg{Code: r, Text: string(r)})
		}
		want := command.Click{Message: "4", ID: id, Value: noon.AddDate(0, 0, 1).Format("2006-01-02") + " 09:00"}
		if sent := a.Open.Update(s.c, tea.KeyPressMsg{Code: tea.KeyEnter}); sent.Send != want {
			t.Errorf("it sends %#v, want %#v", sent.Send, want)
		}
	}
	s := open("chat")
	s.next(promised)
	spots := 0
	for _, row := range s.Draw(s.c, 80, 30, true) {
		for i, spot := range row.Spots {
			spots++
			id := s.Press(s.c, spot.Place, true)
			if a := s.do(id); (a.Open != nil) != (i > 0) || (a.Do != nil) != (i == 0) {
				t.Errorf("button %d answers %#v", i, a)
			}
		}
	}
	if spots != 3 {
		t.Errorf("%d buttons can be pressed with the mouse", spots)
	}
}
