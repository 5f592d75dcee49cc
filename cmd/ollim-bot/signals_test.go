package main

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"strings"
	"syscall"
	"testing"
	"time"

	"ollimbot/cmd/internal/console"
	"ollimbot/core"
	"ollimbot/core/agent/choice"
	"ollimbot/core/base/testkit"
	"ollimbot/core/command"
)

func TestEverySignalOfAnEndLetsTheProgramPutThingsAway(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT} {
		ctx, stop := (&process{}).Context()
		testkit.Must(t, syscall.Kill(syscall.Getpid(), sig))
		select {
		case <-ctx.Done():
		case <-time.After(10 * time.Second):
			t.Errorf("%s does not end the program", sig)
		}
		stop()
	}
}

// A restart takes its time. Who ends the program meanwhile means it.
func TestAFreshStartIsGivenUpWhereTheEndIsAskedForMeanwhile(t *testing.T) {
	testkit.Alone(t)
	for _, ends := range []bool{false, true} {
		p := &process{Process: console.Process{
			In: strings.NewReader(""), Out: io.Discard, Err: io.Discard, Now: time.Now, Environ: func() []string { return nil },
			Getenv: func(string) string { return "" }, Flags: console.Globals{DataDir: t.TempDir()},
		}}
		at, err := p.Open()
		testkit.Must(t, err)
		m, err := models{&p.Process, at}.choose(choice.Script, 0)
		testkit.Must(t, err)
		ctx, end := context.WithCancel(t.Context())
		defer end()
		restarts := func(ctx context.Context, bot *core.Bot, _ *slog.Logger) error {
			if _, err := bot.Do(ctx, command.Slash{Line: "/restart"}); err != nil {
				return err
			}
			if ends {
				end()
			}
			return nil
		}
		err = p.serve(ctx, at, serving{uiMode: uiMode{uiFlags: uiFlags{Headless: true}}, model: m, beside: restarts})
		if again := new(restartError); errors.As(err, &again) == ends {
			t.Errorf("an end that was asked for: %v; serve gives %v", ends, err)
		}
	}
}
