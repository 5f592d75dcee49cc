package core

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"ollimbot/core/agent/script"
	"ollimbot/core/command"
	"ollimbot/core/storage/logs"
)

// leaky panics during a login, and includes a secret in its errors.
type leaky struct {
	*script.Engine
	fault bool
}

func (e leaky) Login(context.Context) (string, error) {
	if e.fault {
		panic("the seam")
	}
	return "", fmt.Errorf("dial https://x/?key=hunter2-hunter2: %w", context.DeadlineExceeded)
}
func (leaky) Finish(context.Context, string) error { return errors.New("hunter2-hunter2") }

// leaking runs a bot with a leaky engine and a log that hides the secret.
func leaking(t *testing.T, fault bool, story func(b *Bot, book *logs.Sink)) {
	t.Helper()
	log, book := logs.New(logs.Options{})
	book.Hide("hunter2-hunter2")
	livesWith(t, func(o *Options) {
		o.Engine, o.Log, o.Book = leaky{script.New(script.Options{}), fault}, log, book
	}, 0, func(home) {}, func(_ home, b *Bot) { story(b, book) })
}

func TestAFaultIsASentenceForTheUserAndAPlaceInTheLog(t *testing.T) {
	leaking(t, true, func(b *Bot, book *logs.Sink) {
		if _, err := b.Do(context.Background(), command.Login{}); err == nil || !strings.Contains(err.Error(), "internal fault in command.Login: the seam") {
			t.Errorf("the user is told %v", err)
		}
		var all strings.Builder
		for _, l := range book.Tail(0).Lines {
			all.WriteString(l.Text + "\n")
		}
		if !strings.Contains(all.String(), "core.leaky.Login (fault_test.go:") {
			t.Errorf("the log has no place: %s", &all)
		}
	})
}

func TestSecretsReachNeitherTheUserNorAnyNotice(t *testing.T) {
	leaking(t, false, func(b *Bot, _ *logs.Sink) {
		if _, err := b.Do(context.Background(), command.Login{}); err == nil || strings.Contains(err.Error(), "hunter2") || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the user is told %v", err)
		}
		b.log.Error("a key of hunter2-hunter2 was refused", "error", errors.New("hunter2-hunter2 is wrong"))
		b.chat.Aside("see hunter2-hunter2")
		s := b.Snapshot()
		if text := fmt.Sprintf("%+v %+v", s.Notices, s.Chat); strings.Contains(text, "hunter2") || !strings.Contains(text, "[hidden] is wrong") {
			t.Errorf("shown: %s", text)
		}
	})
}
