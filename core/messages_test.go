package core

import (
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/agent/messages"
	"ollimbot/core/agent/messages/messagestest"
	"ollimbot/core/agent/messages/provider"
	"ollimbot/core/agent/script"
	"ollimbot/core/base/testkit"
	"ollimbot/core/storage/store/storetest"
)

// overMessages is the engine for the Messages API, with the offline engine as the model.
func overMessages(h home) (agent.Engine, func()) {
	h.t.Helper()
	testkit.Must(h.t, os.MkdirAll(h.root, 0o700))
	dir, model := storetest.At(h.t, h.root), messagestest.New(script.Options{Pace: 0.5})
	return messages.New(messages.Options{
		Dir: dir, Transport: model, Env: []string{"PATH=/usr/bin:/bin"},
		Providers: provider.New(provider.Options{Dir: dir, Getenv: func(name string) string {
			return map[string]string{"ANTHROPIC_API_KEY": "a key of a test"}[name]
		}}),
	}), model.Close
}

// The story of a promise over the Messages API: the model calls the tool with what the user has
// written, the user accepts, and the reminder quotes the promise.
func TestAPromiseOverTheMessagesAPIBecomesAReminder(t *testing.T) {
	h := newHome(t)
	synctest.Test(t, func(t *testing.T) {
		h.t = t
		engine, end := overMessages(h)
		defer end()
		b := h.bot(engine, func(*Options) {})
		stop := begin(t, b)
		defer stop()
		synctest.Wait()
		at := b.now().AddDate(0, 0, 1).Truncate(time.Minute)
		promises(t, b, dentistWords, dentistWords, at.Format("2006-01-02T15:04"))
		for range 100 { // the engine streams in real requests
			if len(questions(b)) > 0 {
				break
			}
			time.Sleep(time.Second)
		}
		cards := questions(b)
		if len(cards) != 1 || len(b.Snapshot().Proposals) != 1 {
			t.Fatalf("cards %+v", b.Snapshot().Chat)
		}
		out, err := press(t, b, cards[0], textPromiseYes)
		if err != nil || !strings.HasPrefix(out.Message, "you will be reminded at ") {
			t.Fatalf("%+v, %v", out, err)
		}
		list := b.Index().Set().RemindersByTime()
		if len(list) != 1 || list[0].Description != `"`+dentistWords+`"` || !list[0].RunAt.Equal(at) {
			t.Fatalf("reminders %+v", list)
		}
		if text := h.text(list[0].Path); !strings.Contains(text, dentistWords) {
			t.Errorf("the file does not quote it:\n%s", text)
		}
	})
}
