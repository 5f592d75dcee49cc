package core

import (
	"context"
	"strings"
	"testing"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/agent/script"
	"ollimbot/core/command"
	"ollimbot/core/talk/post"
	"ollimbot/core/talk/transcript"
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
		if strings.Contains(h, "more than seven days old") {
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
	e := &sessions{Engine: script.New(script.Options{Pace: 1})}
	liveWith(t, func() agent.Engine { return e }, func(h home) {
		h.reminder("dddd0001", time.Second, "", `call ping_user {"message":"Water the plants?"}`, `call report_updates {"message":"asked"}`)
	}, func(_ home, b *Bot) {
		time.Sleep(time.Minute)
		run := b.Snapshot().Forks[0]
		if _, err := b.Do(context.Background(), command.Say{Text: "not yet", ReplyTo: pinged(t, b).ID}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		if !strings.Contains(e.to(run.Session), "not yet") {
			t.Errorf("the run was told %q", e.to(run.Session))
		}
	})
}

func TestAReplyAfterSevenDaysIsQuotedAndSaysSo(t *testing.T) {
	lives(t, 8*24*time.Hour, func(h home) {
		h.reminder("dddd0002", time.Second, "", `call ping_user {"message":"Water the plants?"}`, `call report_updates {"message":"asked"}`)
	}, func(home, *Bot) { time.Sleep(time.Minute) }, func(_ home, b *Bot) {
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
	running(t, func(h home) {
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
