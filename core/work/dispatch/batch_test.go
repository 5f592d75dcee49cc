package dispatch

import (
	"strings"
	"testing"

	"ollimbot/core/agent/messages/batch"
	"ollimbot/core/work/fork"
)

const digestRoutine = "---\nid: d1\ncron: 0 9 * * *\nbackground: true\nmodel: far/big\nmay_wait: true\ndescription: Digest\n---\nSum up the week."

// handIn returns a dispatcher whose models at far accept batches.
func handIn(t *testing.T) *stage {
	return newStage(t, map[string]string{
		"routines/digest.md": digestRoutine,
		"providers.yaml":     "far:\n  base-url: https://far.example\n  batches: true\n  models:\n    - {name: big, price: [2, 10, 0.1, 2.5]}\n",
	})
}

func TestARunThatMayWaitIsHandedInAndItsAnswerIsItsReport(t *testing.T) {
	s := handIn(t)
	due, ok := s.schedule.DueAt("d1", s.d.now())
	if !ok {
		t.Fatal(s.index.Set().Problems)
	}
	must(t, s.d.Fire(t.Context(), due))
	list := s.d.o.Requests.batches.Waiting()
	if len(list) != 1 || list[0].Model != "far/big" || !strings.Contains(list[0].Prompt, "Sum up the week.") || !strings.Contains(list[0].Prompt, "you have no tools") {
		t.Fatalf("%+v", list)
	}
	if v := s.runs.views; len(v) != 1 || v[0].State != fork.Waiting || v[0].Title != "Digest" {
		t.Errorf("%+v", v)
	}
	taken := 0
	o := batch.Outcome{Text: "Quiet week."}
	o.Usage.InputTokens, o.Usage.CostUSD = 10, 0.25
	s.d.o.Requests.answered(list[0], o, func() { taken++ })
	s.d.o.Requests.answered(list[0], o, func() { taken++ }) // like after a crash
	if u := s.updates.Peek(); len(u) != 1 || !strings.Contains(u[0].Message, "Quiet week.") || taken != 2 {
		t.Errorf("%+v, taken %d times", u, taken)
	}
	if v := s.runs.views; len(v) != 1 || v[0].State != fork.Done || v[0].Reports != 1 || v[0].Usage.CostUSD != 0.25 {
		t.Errorf("%+v", v)
	}
}

func TestARunThatWaitsIsStoppedAndEndsWithItsTask(t *testing.T) {
	s := handIn(t)
	due, _ := s.schedule.DueAt("d1", s.d.now())
	for range 2 {
		must(t, s.d.Fire(t.Context(), due))
	}
	list := s.d.o.Requests.batches.Waiting()
	if !s.d.o.Requests.stop(list[0].ID) || s.d.o.Requests.stop(list[0].ID) || s.d.o.Requests.stop("none") {
		t.Error("it is not stopped once")
	}
	if !s.d.o.Requests.wanted(list[1]) {
		t.Error("nobody wants it")
	}
	must(t, s.dir.Remove("routines/digest.md"))
	s.index.Scan()
	if s.d.o.Requests.wanted(list[1]) {
		t.Error("its task is gone")
	}
	for _, v := range s.runs.views {
		if v.State != fork.Stopped {
			t.Errorf("%+v", v)
		}
	}
}

func TestARunWithToolsOrWithoutBatchesIsNotHandedIn(t *testing.T) {
	s := handIn(t)
	task, _ := s.index.Set().Find("d1")
	if !s.d.o.Requests.takes(task) {
		t.Fatal("it may wait")
	}
	for what, change := range map[string]func(){
		"another engine": func() { task.Model = "haiku" },
		"no batches":     func() { task.Model = "near/small" },
		"not asked for":  func() { task.Model, task.MayWait = "far/big", false },
	} {
		if change(); s.d.o.Requests.takes(task) {
			t.Errorf("%s: it is handed in", what)
		}
	}
	text := strings.Replace(digestRoutine, "may_wait", "allowed-tools: [WebFetch]\nmay_wait", 1)
	must(t, s.dir.Write("routines/digest.md", []byte(text)))
	s.index.Scan()
	task, _ = s.index.Set().Find("d1")
	if problems := s.index.Set().Problems; task.MayWait || len(problems) != 1 || !strings.Contains(problems[0].Message, "may-wait is for") {
		t.Errorf("%+v %+v", task, problems)
	}
}
