package core

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"ollimbot/core/agent/messages/batch"
	"ollimbot/core/agent/messages/provider"
	"ollimbot/core/agent/script"
	"ollimbot/core/storage/config"
	"ollimbot/core/storage/store"
	"ollimbot/core/work/fork"
)

const digestRoutine = "---\nid: d1\ncron: 0 9 * * *\nbackground: true\nmodel: far/big\nmay_wait: true\ndescription: Digest\n---\nSum up the week."

// waitingBot is a bot whose models at far take batches.
func waitingBot(t *testing.T) *Bot {
	t.Helper()
	d, err := store.At(t.TempDir())
	if err == nil {
		err = d.Prepare()
	}
	for name, text := range map[string]string{
		"routines/digest.md": digestRoutine,
		"providers.yaml":     "far:\n  base-url: https://far.example\n  batches: true\n  models:\n    - {name: big, price: [2, 10, 0.1, 2.5]}\n",
	} {
		if err == nil {
			err = d.Write(name, []byte(text))
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	b, err := New(Options{
		Dir: d, Env: config.Env{Zone: time.UTC}, Engine: script.New(script.Options{}), EngineName: "script", Log: slog.New(slog.DiscardHandler),
		Providers: provider.New(provider.Options{Dir: d, Getenv: func(string) string { return "" }}),
	})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestARunThatMayWaitIsHandedInAndItsAnswerIsItsReport(t *testing.T) {
	b := waitingBot(t)
	due, ok := b.schedule.DueAt("d1", b.now())
	if !ok {
		t.Fatal(b.index.Set().Problems)
	}
	if err := b.fire(t.Context(), due); err != nil {
		t.Fatal(err)
	}
	list := b.batches.Waiting()
	if len(list) != 1 || list[0].Model != "far/big" || !strings.Contains(list[0].Prompt, "Sum up the week.") || !strings.Contains(list[0].Prompt, "you have no tools") {
		t.Fatalf("%+v", list)
	}
	if v := b.forks.Views(); len(v) != 1 || v[0].State != fork.Waiting || v[0].Title != "Digest" {
		t.Errorf("%+v", v)
	}
	taken := 0
	o := batch.Outcome{Text: "Quiet week."}
	o.Usage.InputTokens, o.Usage.CostUSD = 10, 0.25
	b.answered(list[0], o, func() { taken++ })
	b.answered(list[0], o, func() { taken++ }) // as after a crash
	if u := b.updates.Peek(); len(u) != 1 || !strings.Contains(u[0].Message, "Quiet week.") || taken != 2 {
		t.Errorf("%+v, taken %d times", u, taken)
	}
	runs, err := fork.Ledger(b.dir, 10)
	if err != nil || len(runs) != 1 || runs[0].State != fork.Done || runs[0].Reports != 1 || runs[0].Usage.CostUSD != 0.25 {
		t.Errorf("%+v %v", runs, err)
	}
}

func TestARunThatWaitsIsStoppedAndEndsWithItsTask(t *testing.T) {
	b := waitingBot(t)
	due, _ := b.schedule.DueAt("d1", b.now())
	for range 2 {
		if err := b.fire(t.Context(), due); err != nil {
			t.Fatal(err)
		}
	}
	list := b.batches.Waiting()
	if !b.stopWaiting(list[0].ID) || b.stopWaiting(list[0].ID) || b.stopWaiting("none") {
		t.Error("it is not stopped once")
	}
	if !b.stillWanted(list[1]) {
		t.Error("nobody wants it")
	}
	if err := b.dir.Remove("routines/digest.md"); err != nil {
		t.Fatal(err)
	}
	b.index.Scan()
	if b.stillWanted(list[1]) {
		t.Error("its task is gone")
	}
	for _, v := range b.forks.Views() {
		if v.State != fork.Stopped {
			t.Errorf("%+v", v)
		}
	}
}

func TestARunWithToolsOrWithoutBatchesIsNotHandedIn(t *testing.T) {
	b := waitingBot(t)
	task, _ := b.index.Set().Find("d1")
	if !b.mayWait(task) {
		t.Fatal("it may wait")
	}
	for what, change := range map[string]func(){
		"another engine": func() { task.Model = "haiku" },
		"no batches":     func() { task.Model = "near/small" },
		"not asked for":  func() { task.Model, task.MayWait = "far/big", false },
	} {
		if change(); b.mayWait(task) {
			t.Errorf("%s: it is handed in", what)
		}
	}
	text := strings.Replace(digestRoutine, "may_wait", "allowed-tools: [WebFetch]\nmay_wait", 1)
	if err := b.dir.Write("routines/digest.md", []byte(text)); err != nil {
		t.Fatal(err)
	}
	b.index.Scan()
	task, _ = b.index.Set().Find("d1")
	if problems := b.index.Set().Problems; task.MayWait || len(problems) != 1 || !strings.Contains(problems[0].Message, "may-wait is for") {
		t.Errorf("%+v %+v", task, problems)
	}
}
