package core

import (
	"os"
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
		w := &world{t, h, h.bot(engine)}
		stop := begin(t, w.Bot)
		defer stop()
		synctest.Wait()
		at := w.now().AddDate(0, 0, 1).Truncate(time.Minute)
		w.promises(dentistWords, dentistWords, at)
		for range 100 { // the engine streams in real requests
			if len(w.questions()) > 0 {
				break
			}
			time.Sleep(time.Second)
		}
		cards := w.questions()
		w.needs(len(cards) == 1 && len(w.Snapshot().Proposals) == 1, "cards", w.Snapshot().Chat)
		w.presses(cards[0], textPromiseYes, "you will be reminded at ")
		list := w.index.Set().RemindersByTime()
		w.needs(len(list) == 1 && list[0].Description == `"`+dentistWords+`"` && list[0].RunAt.Equal(at), "reminders", list)
		w.shows("the file", w.read(list[0].Path), dentistWords)
	})
}
