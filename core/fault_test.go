package core

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/agent/script"
	"ollimbot/core/command"
	"ollimbot/core/storage/config"
	"ollimbot/core/storage/logs"
	"ollimbot/core/storage/store/storetest"
)

// leaky breaks where one logs in, and tells a secret in its errors.
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

func leakyBot(t *testing.T, e agent.Engine) (*Bot, *logs.Sink) {
	t.Helper()
	dir := storetest.Dir(t)
	log, book := logs.New(logs.Options{})
	book.Hide("hunter2-hunter2")
	b, err := New(Options{Dir: dir, Env: config.Env{Zone: time.UTC}, Engine: e, Log: log, Book: book, Still: true})
	must(t, err)
	return b, book
}

func TestAFaultIsASentenceForTheUserAndAPlaceInTheLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, book := leakyBot(t, leaky{script.New(script.Options{}), true})
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- b.Run(ctx) }()
		synctest.Wait()
		if _, err := b.Do(ctx, command.Login{}); err == nil || !strings.Contains(err.Error(), "internal fault in command.Login: the seam") {
			t.Errorf("the user is told %v", err)
		}
		var all strings.Builder
		for _, l := range book.Tail(0).Lines {
			all.WriteString(l.Text + "\n")
		}
		if !strings.Contains(all.String(), "core.leaky.Login (fault_test.go:") {
			t.Errorf("the log has no place: %s", &all)
		}
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

func TestSecretsReachNeitherTheUserNorAnyNotice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, _ := leakyBot(t, leaky{script.New(script.Options{}), false})
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- b.Run(ctx) }()
		synctest.Wait()
		if _, err := b.Do(ctx, command.Login{}); err == nil || strings.Contains(err.Error(), "hunter2") || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the user is told %v", err)
		}
		b.log.Error("a key of hunter2-hunter2 was refused", "error", errors.New("hunter2-hunter2 is wrong"))
		b.chat.SystemNote("see hunter2-hunter2")
		s := b.Snapshot()
		if text := fmt.Sprintf("%+v %+v", s.Notices, s.Chat); strings.Contains(text, "hunter2") || !strings.Contains(text, "[hidden] is wrong") {
			t.Errorf("shown: %s", text)
		}
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}
