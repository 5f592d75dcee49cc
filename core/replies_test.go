package core

import (
	"context"
	"strings"
	"testing"
	"time"

	"ollimbot/core/command"
	"ollimbot/core/talk/post"
)

func TestAReplyToAPingGoesOnInTheRunThatSentIt(t *testing.T) {
	e := &recorder{Engine: offline()}
	liveWith(t, e, func(h home) {
		h.reminder("dddd0001", time.Second, "", `call ping_user {"message":"Water the plants?"}`, `call report_updates {"message":"asked"}`)
	}, func(_ home, b *Bot) {
		time.Sleep(time.Minute)
		run := b.Snapshot().Forks[0]
		do(t, b, command.Say{Text: "not yet", ReplyTo: pinged(t, b).ID})
		time.Sleep(time.Minute)
		if !strings.Contains(e.to(run.Session), "not yet") {
			t.Errorf("the run was told %q", e.to(run.Session))
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
		if card.Embed == nil || len(card.Embed.Buttons) != 5 || !strings.HasPrefix(card.Embed.Buttons[0].Action, "act:agent:") {
			t.Fatalf("card: %+v", card.Embed)
		}
		click := command.Click{Message: card.ID, ID: card.Embed.Buttons[0].Action}
		do(t, b, click)
		time.Sleep(time.Minute)
		if s := b.Snapshot(); s.Fork == nil || !s.Fork.Resumed {
			t.Errorf("fork: %+v", s.Fork)
		}
		do(t, b, command.ExitFork{How: command.ExitDiscard})
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
