package pane_test

import (
	"strings"
	"testing"

	"ollimbot/core"
	"ollimbot/tui/action"
)

func TestTheBeginningOfTheChatSaysThatMoreWasSaid(t *testing.T) {
	s := open("chat")
	s.do(action.TailHome)
	if first := s.screen(80, 8); strings.Contains(first, "ollim-bot history") {
		t.Errorf("there is no more:\n%s", first)
	}
	s.next(func(c *core.Snapshot) { c.ChatMore = true })
	s.do(action.TailHome)
	has(t, strings.Join(strings.Fields(s.screen(80, 8)), " "), "More was said before this: ollim-bot history finds it.")
}
