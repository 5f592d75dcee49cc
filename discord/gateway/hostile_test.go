package gateway

import (
	"strings"
	"testing"
)

func TestEventsThatMakeNoSenseAreLeftOut(t *testing.T) {
	without := func(key string) map[string]any {
		m := words("9", "half")
		delete(m, key)
		return m
	}
	with := func(key string, v any) map[string]any {
		m := words("9", "half")
		m[key] = v
		return m
	}
	type dispatch struct {
		kind string
		d    any
	}
	bad := []dispatch{
		{"MESSAGE_CREATE", nil},
		{"MESSAGE_CREATE", []int{1}},
		{"MESSAGE_CREATE", without("author")},
		{"MESSAGE_CREATE", with("author", nil)},
		{"MESSAGE_CREATE", with("author", "me")},
		{"MESSAGE_CREATE", with("author", map[string]any{"id": ""})},
		{"MESSAGE_CREATE", with("author", map[string]any{"id": 42})},
		{"MESSAGE_CREATE", without("id")},
		{"MESSAGE_CREATE", with("id", "")},
		{"MESSAGE_CREATE", with("id", "../../users/@me")},
		{"MESSAGE_CREATE", with("id", strings.Repeat("1", 21))},
		{"MESSAGE_CREATE", without("channel_id")},
		{"MESSAGE_CREATE", with("content", 5)},
		{"MESSAGE_CREATE", with("attachments", "none")},
		{"MESSAGE_CREATE", map[string]any{"id": "9", "channel_id": "77", "type": 3, "content": 5}},
		{"MESSAGE_DELETE", map[string]any{"channel_id": "77"}},
		{"MESSAGE_REACTION_ADD", map[string]any{"user_id": "42", "channel_id": "77", "message_id": "1", "emoji": map[string]any{}}},
		{"MESSAGE_REACTION_ADD", map[string]any{"channel_id": "77", "message_id": "1", "emoji": map[string]any{"name": "👀"}}},
		{"INTERACTION_CREATE", map[string]any{"id": "", "token": "", "type": 0}},
		{"INTERACTION_CREATE", map[string]any{"id": "5", "application_id": "2000", "token": "t", "type": 2, "channel_id": "77"}},
	}
	inBubble(t, func(_ int, p *peer) {
		p.welcome()
		for _, b := range bad {
			p.dispatch(b.kind, b.d)
		}
		p.dispatch("MESSAGE_UPDATE", words("1", "with a preview")) // fine, and of no interest, as is a call
		p.dispatch("MESSAGE_CREATE", with("type", 3))
		call := with("type", 3)
		call["edited_timestamp"] = "2026-01-02T03:04:05Z"
		p.dispatch("MESSAGE_UPDATE", call)
		p.dispatch("MESSAGE_CREATE", words("1", "whole"))
	}, func(w *world) {
		w.next(Ready)
		for _, b := range bad { // P9: a message that cannot be read is told, with what is known of it
			if b.kind == "MESSAGE_CREATE" {
				if e := <-w.events; e.String() != "gateway.Unreadable" {
					t.Errorf("%v: %v", b.d, e)
				}
			}
		}
		if got := w.text(); got != "whole" {
			t.Errorf("message %q", got)
		}
	})
}
