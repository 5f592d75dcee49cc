package absence

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ollimbot/core/base/testkit"
	"ollimbot/core/safety/audit"
	"ollimbot/core/storage/store/storetest"
)

var noon = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

func at(minutes float64) time.Time { return noon.Add(time.Duration(minutes * float64(time.Minute))) }

// The steps of a story are times at which the user is active, a restart ("r") and a question ("?"), which has the answer that follows.
func TestAfterTheUsersAbsenceTheAgentKnowsHowLongItWas(t *testing.T) {
	for story, steps := range map[string][]any{
		"no one was here yet":            {"?", 0., Span{}},
		"ten minutes are no absence":     {0., 10., "?", 20., Span{}, 20., "?", 20., Span{}},
		"fifteen minutes are one":        {0., "?", 14.99, Span{}, "?", 15., Span{at(0), at(15)}, 15., "?", 16., Span{at(0), at(15)}},
		"it continues after a restart":   {0., 10., "r", "?", 200., Span{at(10), at(200)}},
		"the last one is known":          {0., 30., 35., "r", 36., 60., 61., "?", 62., Span{at(36), at(60)}, "r", "?", 62., Span{at(36), at(60)}},
		"a crash loses less than one":    {0., 0.99, "r", "?", 30., Span{at(0), at(30)}},
		"activity is kept each minute":   {0., 0.99, 1., 1.99, "r", "?", 30., Span{at(1), at(30)}},
		"what is not written is counted": {0., 0.5, "?", 15.4, Span{}, "?", 15.5, Span{at(0.5), at(15.5)}},
	} {
		d := storetest.Prepared(t)
		k := New(d, slog.New(slog.DiscardHandler))
		for i := 0; i < len(steps); i++ {
			switch step := steps[i].(type) {
			case float64:
				k.UserActive(at(step))
			case string:
				if step == "r" {
					k = New(d, slog.New(slog.DiscardHandler))
					continue
				}
				now := steps[i+1].(float64)
				if diff := cmp.Diff(steps[i+2], k.Span(at(now))); diff != "" {
					t.Errorf("%s, after %g minutes: %s", story, now, diff)
				}
				i += 2
			}
		}
	}
}

func TestAPresenceThatCannotBeReadIsNone(t *testing.T) {
	for _, torn := range []string{"{torn", `{"last": "2026-11-22T11:00:00Z", "from": 7}`} {
		d := storetest.Prepared(t)
		storetest.Put(t, d, fileName, torn)
		k := New(d, slog.New(slog.DiscardHandler))
		if s := k.Span(noon); s != (Span{}) {
			t.Errorf("%s: %+v", torn, s)
		}
		k.UserActive(noon)
		if s := New(d, slog.New(slog.DiscardHandler)).Span(at(60)); s.From != noon {
			t.Errorf("%s: what is written then counts: %+v", torn, s)
		}
	}
}

func TestWhatHappenedIsSummedUpByTask(t *testing.T) {
	d := storetest.Prepared(t)
	line := func(id int, task, rest string, ended float64) string {
		return fmt.Sprintf(`{"id":"%08d","task":%q,"title":%q,"ended":%q,%s}`, id, task, strings.ToUpper(task), at(ended).Format(time.RFC3339), rest)
	}
	storetest.Put(t, d, "state/fork_runs.jsonl", strings.Join([]string{
		line(1, "tea", `"state":"done","pings":1,"cost_usd":1`, 9.9), // before
		line(2, "walk", `"state":"done","tokens":100,"cost_usd":0.25`, 10),
		line(11, "walk", `"state":"done"`, 12),
		line(12, "zoo", `"state":"failed"`, 13),
		line(13, "zoo", `"state":"failed"`, 14),
		line(14, "air", `"state":"failed"`, 15),
		line(3, "tea", `"state":"failed","error":"it was late","refused":1`, 25),
		line(4, "tea", `"state":"failed","error":"the engine is gone","refused":2,"tokens":10,"cost_usd":0.5`, 30),
		line(5, "tea", `"state":"done","pings":1,"reports":1`, 40),
		line(6, "nap", `"state":"nothing new"`, 41),
		line(7, "mail", `"state":"done","pings":3,"quiet":2`, 50),
		line(8, "call", `"state":"done"`, 55),
		line(9, "bell", `"state":"done","pings":1`, 60),
		line(10, "walk", `"state":"done"`, 60.1), // after
	}, "\n")+"\n")
	log := audit.New(audit.Options{Dir: d})
	for i, e := range []audit.Entry{
		{Actor: audit.Bot, Action: audit.Noted, Detail: "early"},
		{Actor: audit.Bot, Action: audit.Noted, Detail: "Tea was missed"},
		{Actor: audit.User, From: "Discord", Action: audit.ApprovalAnswered, Subject: "Bash"},
		{Actor: audit.Bot, Action: audit.RunHeld, Subject: "tea"},
		{Actor: audit.Bot, Action: audit.RunInFront, Subject: "review"},
		{Actor: audit.Bot, Action: audit.Noted, Detail: "at the end"},
	} {
		log.Record(at(float64(10*i)), e)
	}
	r, err := Sum(d, log, Span{at(10), at(50)})
	testkit.Must(t, err)
	lists := func(r Report) (got []string) {
		for _, list := range [][]audit.Entry{r.Notes, r.Answers, r.Held, r.Front, r.Log} {
			text := ""
			for _, e := range list {
				text += e.Detail + e.Subject + ", "
			}
			got = append(got, text)
		}
		return got
	}
	newestFirst := "at the end, review, tea, Bash, Tea was missed, early, "
	if diff := cmp.Diff([]string{"Tea was missed, at the end, ", "Bash, ", "tea, ", "review, ", newestFirst}, lists(r)); diff != "" {
		t.Error(diff)
	}
	r, err = Sum(d, log, Span{at(10), at(60)})
	testkit.Must(t, err)
	if diff := cmp.Diff([]Task{
		{ID: "tea", Title: "TEA", Runs: 3, Pings: 1, Refused: 3, Reports: 1, Failed: 2, Tokens: 10, Dollars: 0.5, Run: "00000004", Why: "the engine is gone", Ended: at(30)},
		{ID: "air", Title: "AIR", Runs: 1, Failed: 1, Run: "00000014", Ended: at(15)},
		{ID: "zoo", Title: "ZOO", Runs: 2, Failed: 2, Run: "00000013", Ended: at(14)},
		{ID: "bell", Title: "BELL", Runs: 1, Pings: 1, Run: "00000009", Ended: at(60)},
		{ID: "mail", Title: "MAIL", Runs: 1, Pings: 3, Quiet: 2, Run: "00000007", Ended: at(50)},
		{ID: "call", Title: "CALL", Runs: 1, Run: "00000008", Ended: at(55)},
		{ID: "walk", Title: "WALK", Runs: 2, Tokens: 100, Dollars: 0.25, Run: "00000011", Ended: at(12)},
	}, r.Tasks); diff != "" {
		t.Error(diff)
	}
	sum := Task{Runs: 11, Pings: 5, Quiet: 2, Refused: 3, Reports: 1, Failed: 5, Tokens: 110, Dollars: 0.75, Run: "00000004", Why: "the engine is gone", Ended: at(30)}
	if diff := cmp.Diff(sum, r.Sum); diff != "" {
		t.Error(diff)
	}
	storetest.Put(t, d, "state/audit.jsonl", storetest.Text(t, d, "state/audit.jsonl")+"garbage\n")
	if r, err = Sum(d, log, Span{}); err != nil || r.Damaged != 1 || strings.Join(lists(r), "") != newestFirst || r.Sum.Runs != 0 {
		t.Errorf("without an absence: %+v, %v", r, err)
	}
}

func TestOfManyRunsEachCountsOnceUpToALimit(t *testing.T) {
	for runs, want := range map[int]int{1: 1, pageRuns: pageRuns, 2*pageRuns + 50: 2*pageRuns + 50, mostRuns + 300: mostRuns} {
		d := storetest.Prepared(t)
		var lines strings.Builder
		write := func(i int) {
			fmt.Fprintf(&lines, `{"id":"%08d","task":"tea","title":"Tea","state":"done","ended":"2026-11-22T12:30:00Z"}`+"\n", i)
		}
		write(runs - 1) // a trimmed ledger may give a run twice
		for i := range runs {
			write(i)
		}
		storetest.Put(t, d, "state/fork_runs.jsonl", lines.String())
		if r, err := Sum(d, audit.New(audit.Options{Dir: d}), Span{at(10), at(60)}); err != nil || r.Sum.Runs != want || len(r.Tasks) != 1 {
			t.Errorf("of %d runs %d are counted, want %d: %v", runs, r.Sum.Runs, want, err)
		}
	}
}

func TestAFileThatCannotBeReadIsAnError(t *testing.T) {
	for _, path := range []string{"state/audit.jsonl", "state/fork_runs.jsonl"} {
		d := storetest.Prepared(t)
		storetest.Put(t, d, path+"/in-the-way", "")
		if _, err := Sum(d, audit.New(audit.Options{Dir: d}), Span{at(10), at(60)}); err == nil {
			t.Errorf("%s is a folder, and nothing is said", path)
		}
	}
}
