package core

import (
	"context"
	"strings"
	"testing"
	"time"

	"ollimbot/core/command"
	"ollimbot/core/post"
	"ollimbot/core/transcript"
)

// pinged is the newest message of a background run.
func pinged(t *testing.T, b *Bot) transcript.Entry {
	t.Helper()
	chat := b.Snapshot().Chat
	for i := len(chat) - 1; i >= 0; i-- {
		if chat[i].Role == transcript.Ping {
			return chat[i]
		}
	}
	t.Fatalf("no ping in %+v", chat)
	return transcript.Entry{}
}

func quoted(b *Bot) bool {
	for _, h := range strings.Split(string(mustRead(b, "state/transcript.jsonl")), "\n") {
		if strings.Contains(h, textReplyExpired) {
			return true
		}
	}
	return false
}

func mustRead(b *Bot, rel string) []byte {
	data, err := b.dir.Read(rel)
	if err != nil {
		return nil
	}
	return data
}

func TestAReplyToAPingGoesOnInTheRunThatSentIt(t *testing.T) {
	live(t, func(h home) {
		h.reminder("dddd0001", time.Second, "", `call ping_user {"message":"Water the plants?"}`, `call report_updates {"message":"asked"}`)
	}, func(_ home, b *Bot) {
		time.Sleep(time.Minute)
		run := b.Snapshot().Forks[0]
		if _, err := b.Do(context.Background(), command.Say{Text: "not yet", ReplyTo: pinged(t, b).ID}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		id := ""
		_ = b.main.locked(context.Background(), func(context.Context) error {
			if f := b.main.inFork(); f != nil {
				id = f.id
			}
			return nil
		})
		if id != run.Session {
			t.Errorf("the reply went to %q, the run was %q", id, run.Session)
		}
	})
}

func TestQuickRepliesToOnePingAreAllAnsweredInItsRun(t *testing.T) {
	live(t, func(h home) {
		h.reminder("dddd0001", time.Second, "", `call ping_user {"message":"Water the plants?"}`, `call report_updates {"message":"asked"}`)
	}, func(_ home, b *Bot) {
		time.Sleep(time.Minute)
		run := b.Snapshot().Forks[0]
		ping := pinged(t, b).ID
		b.main.turn <- struct{}{} // both come before the run has been entered
		for _, words := range []string{"say one", "say two"} {
			if _, err := b.Do(context.Background(), command.Say{Text: script_(words), ReplyTo: ping}); err != nil {
				t.Fatal(err)
			}
		}
		<-b.main.turn
		time.Sleep(time.Minute)
		if _, err := b.Do(context.Background(), command.Say{Text: script_("say three"), ReplyTo: ping}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		s := b.Snapshot()
		for _, e := range s.Chat {
			if e.Role == transcript.Notice && (strings.Contains(e.Text, textTurnFailed) || e.Text == textReplyInFork) {
				t.Errorf("the user is told %q", e.Text)
			}
		}
		if f := b.main.inFork(); f == nil || f.session.ID() != run.Session || !spoken(s, "one") || !spoken(s, "two") || !spoken(s, "three") {
			t.Errorf("the replies were not answered in the run: %+v", s.Chat)
		}
		if left := b.waitingRoom().Messages; len(left) != 0 {
			t.Errorf("still waiting: %+v", left)
		}
	})
}

func TestTwoQuickClicksOnButtonsOfOneRunAreBothAnswered(t *testing.T) {
	live(t, func(h home) {
		h.reminder("dddd0004", time.Second, "",
			`call discord_embed {"title":"Mail","buttons":[{"label":"A","action":"agent:draft it"},{"label":"B","action":"agent:file it"}]}`,
			`call report_updates {"message":"shown"}`)
	}, func(_ home, b *Bot) {
		time.Sleep(time.Minute)
		card := pinged(t, b)
		b.main.turn <- struct{}{}
		for _, button := range card.Embed.Buttons {
			if _, err := b.Do(context.Background(), command.Click{Message: card.ID, ID: button.Action}); err != nil {
				t.Fatal(err)
			}
		}
		<-b.main.turn
		time.Sleep(time.Minute)
		for _, e := range b.Snapshot().Chat {
			if strings.Contains(e.Text, textAlreadyForked) {
				t.Errorf("the second click is lost: %s", e.Text)
			}
		}
	})
}

func TestAReplyAfterSevenDaysIsQuotedAndSaysSo(t *testing.T) {
	live(t, func(h home) {
		h.reminder("dddd0002", time.Second, "", `call ping_user {"message":"Water the plants?"}`, `call report_updates {"message":"asked"}`)
	}, func(_ home, b *Bot) {
		time.Sleep(8 * 24 * time.Hour)
		if _, err := b.Do(context.Background(), command.Say{Text: "done now", ReplyTo: pinged(t, b).ID}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		if b.Snapshot().Fork != nil || !quoted(b) {
			t.Errorf("fork %v, told of the expiry: %v", b.Snapshot().Fork, quoted(b))
		}
	})
}

func TestAgentButtonsWorkOnceAndAfterARestart(t *testing.T) {
	live(t, func(h home) {
		h.reminder("dddd0003", time.Second, "",
			`call discord_embed {"title":"Mail","buttons":[{"label":"Draft","action":"agent:draft the reply"},{"label":"Away","action":"dismiss:"}]}`,
			`call report_updates {"message":"shown"}`)
	}, func(_ home, b *Bot) {
		time.Sleep(time.Minute)
		card := pinged(t, b)
		if card.Embed == nil || len(card.Embed.Buttons) != 2 || !strings.HasPrefix(card.Embed.Buttons[0].Action, "act:agent:") {
			t.Fatalf("card: %+v", card.Embed)
		}
		click := command.Click{Message: card.ID, ID: card.Embed.Buttons[0].Action}
		if _, err := b.Do(context.Background(), click); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		if s := b.Snapshot(); s.Fork == nil || !s.Fork.Resumed {
			t.Errorf("fork: %+v", s.Fork)
		}
		if _, err := b.Do(context.Background(), command.ExitFork{How: command.ExitDiscard}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		if _, err := b.Do(context.Background(), click); err == nil {
			t.Error("a button was used twice")
		}
		if _, err := b.Do(context.Background(), command.Click{Message: card.ID, ID: card.Embed.Buttons[1].Action}); err != nil {
			t.Error(err)
		}
		for _, bad := range []string{"", "act:", "act:rm:x", "act:task_done:1", "nonsense"} {
			if _, err := b.Do(context.Background(), command.Click{Message: post.MessageID("t0"), ID: bad}); err == nil {
				t.Errorf("%q was clicked", bad)
			}
		}
	})
}
