package core

import (
	"context"
	"strings"
	"testing"
	"time"

	"ollimbot/core/agent/script"
	"ollimbot/core/command"
)

// alive asks a bot within half a minute.
func alive(b *Bot) error {
	ctx, stop := context.WithTimeout(context.Background(), 30*time.Second)
	defer stop()
	return b.Alive(ctx)
}

func TestABotLivesWhileItsLoopsTurn(t *testing.T) {
	running(t, func(home) {}, func(_ home, b *Bot) {
		for range 200 { // questions do not fill the queue
			if err := alive(b); err != nil {
				t.Fatal(err)
			}
		}
		began := time.Now()
		if err := alive(b); err != nil || time.Since(began) > time.Second {
			t.Errorf("a bot that waits answers %v after %s", err, time.Since(began))
		}
	})
}

func TestABotThatDoesNotRunIsNotAlive(t *testing.T) {
	b := newHome(t).bot(script.New(script.Options{}))
	if err := b.Alive(t.Context()); err == nil {
		t.Error("a bot that was never started says that it lives")
	}
}

func TestALongTurnIsAliveUntilItHasBeenSilentForAnHour(t *testing.T) {
	running(t, func(home) {}, func(_ home, b *Bot) {
		if _, err := b.Do(context.Background(), command.Say{Text: script_(`say one`, `wait 1h`, `wait 10m`, `say two`)}); err != nil {
			t.Fatal(err)
		}
		for range 58 { // more than the queue has room for, were each to stay in it
			time.Sleep(30 * time.Second)
			if err := alive(b); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(2 * time.Minute)
		if err := alive(b); err == nil || !strings.Contains(err.Error(), "is stuck") {
			t.Errorf("a turn that was silent for more than an hour counts as %v", err)
		}
		if _, err := b.Do(context.Background(), command.Interrupt{}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		if err := alive(b); err != nil {
			t.Errorf("behind the turn: %v", err)
		}
	})
}
