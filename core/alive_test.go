package core

import (
	"context"
	"testing"
	"time"

	"ollimbot/core/agent/script"
	"ollimbot/core/base/testkit"
)

// alive checks a bot, for at most half a minute.
func alive(b *Bot) error {
	ctx, stop := context.WithTimeout(context.Background(), 2*time.Minute)
	defer stop()
	return b.Alive(ctx)
}

func TestABotLivesWhileItsLoopsTurn(t *testing.T) {
	running(t, func(home) {}, func(_ home, b *Bot) {
		for range 200 { // probes must not fill the queue
			testkit.Must(t, alive(b))
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
