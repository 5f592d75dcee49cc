package gateway

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/bwmarrin/discordgo"
	"github.com/google/go-cmp/cmp"
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

func TestDuplicatesAndDisorderArriveAsDiscordSentThem(t *testing.T) {
	inBubble(t, func(_ int, p *peer) {
		p.welcome()
		one := p.s.record("MESSAGE_CREATE", words("1", "one"))
		two := p.s.record("MESSAGE_CREATE", words("2", "two"))
		p.dispatch("MESSAGE_UPDATE", words("1", "edited before it was there"))
		p.send(two)
		p.send(one) // its number is lower
		p.send(one)
		p.dispatch("MESSAGE_DELETE", map[string]any{"id": "2", "channel_id": "77"})
		p.dispatch("MESSAGE_DELETE", map[string]any{"id": "404", "channel_id": "77"})
	}, func(w *world) {
		w.next(Ready)
		var got []string
		for range 3 {
			got = append(got, w.text())
		}
		got = append(got, w.deleted(), w.deleted())
		if diff := cmp.Diff([]string{"two", "one", "one", "2", "404"}, got); diff != "" {
			t.Error(diff)
		}
	})
}

func TestWithFewStartsLeftItWaitsForDiscordToCountAnew(t *testing.T) {
	began := time.Time{}
	inBubbleWith(t, func(_ int, p *peer) { p.welcome() }, func(o *Options) {
		began = time.Now()
		o.Find = func(context.Context) (discordgo.GatewayBotResponse, error) {
			if left := time.Until(began.Add(5 * time.Hour)); left > 0 {
				return door("ws://127.0.0.1:1", 9, left), nil
			}
			return door("ws://127.0.0.1:1", 1000, 24*time.Hour), nil
		}
	}, func(w *world) {
		w.wait("waiting", time.Second, isDown)
		if s := w.s.State(); !strings.Contains(s.Reason, "only 9") {
			t.Errorf("state %+v", s)
		}
		if took := w.wait("up", 6*time.Hour, isUp); took < 5*time.Hour {
			t.Errorf("connected after %v", took)
		}
	})
}

func TestAGatewayThatCannotBeAskedForIsTakenWhereItWas(t *testing.T) {
	for name, broken := range map[string]func(context.Context) (discordgo.GatewayBotResponse, error){
		"an error": func(context.Context) (discordgo.GatewayBotResponse, error) {
			return discordgo.GatewayBotResponse{}, errors.New("503")
		},
		"no answer": func(ctx context.Context) (discordgo.GatewayBotResponse, error) {
			<-ctx.Done()
			return discordgo.GatewayBotResponse{}, ctx.Err()
		},
	} {
		t.Run(name, func(t *testing.T) {
			inBubbleWith(t, func(n int, p *peer) {
				p.welcome()
				if n == 1 {
					p.idle(time.Minute)
					p.closeWith(4009)
				}
			}, func(o *Options) {
				asked := 0
				o.Find = func(ctx context.Context) (discordgo.GatewayBotResponse, error) {
					switch asked++; asked {
					case 1, 3:
						return broken(ctx)
					}
					return door("ws://127.0.0.1:1", 1000, 0), nil
				}
			}, func(w *world) {
				w.wait("down", time.Minute, isDown) // nobody has ever said where it is
				w.next(Ready)
				w.next(Ready)
			})
		})
	}
}

func TestTheBudgetIsNotAskedBeforeASessionIsResumed(t *testing.T) {
	asked := 0
	inBubbleWith(t, func(n int, p *peer) {
		p.welcome()
		if n < 4 {
			p.idle(time.Minute)
			p.drop()
		}
	}, func(o *Options) {
		find := o.Find
		o.Find = func(ctx context.Context) (discordgo.GatewayBotResponse, error) { asked++; return find(ctx) }
	}, func(w *world) {
		w.next(Ready)
		for range 3 {
			w.next(Resumed)
		}
		w.leave()
		if asked != 1 {
			t.Errorf("asked %d times", asked)
		}
	})
}

func TestAPanicOfAListenerEndsRunWithAnErrorAndNotTheProgram(t *testing.T) {
	inBubble(t, func(_ int, p *peer) { p.welcome(); p.idle(time.Minute); p.drop() }, func(w *world) {
		w.next(Ready)
		w.wait("up", time.Second, isUp)
		w.broken.Store(true)
		for range w.events {
		}
		if err := <-w.result; err == nil || !strings.Contains(err.Error(), "listener") {
			t.Errorf("Run = %v", err)
		}
		time.Sleep(2 * time.Second)
		if n := w.server.count(connections); n != 1 {
			t.Errorf("%d connections", n)
		}
	})
}
