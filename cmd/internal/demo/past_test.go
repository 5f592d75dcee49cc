package demo

import (
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ollimbot/core/base/testkit"
	"ollimbot/core/storage/jsonl"
	"ollimbot/core/storage/store"
	"ollimbot/core/storage/store/storetest"
	"ollimbot/core/talk/transcript"
	"ollimbot/core/work/budget"
	"ollimbot/core/work/fork"
	"ollimbot/core/work/money"
	"ollimbot/routines"
	"ollimbot/routines/account"
)

func TestTheScheduleKnowsHowTheNewestRunOfARoutineEnded(t *testing.T) {
	now := time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)
	p := &past{now: now, fired: map[string]time.Time{"a": now, "b": now, "d": now}, runs: []fork.View{
		{TaskID: "a", State: fork.Failed}, {TaskID: "b", State: fork.Done}, {TaskID: "a", State: fork.Done}, {TaskID: "b", State: fork.Failed},
	}}
	var set []routines.Routine
	for _, id := range []string{"a", "b", "c", "d"} {
		set = append(set, routines.Routine{Task: routines.Task{ID: id}})
	}
	got := map[string]string{}
	for id, f := range p.record(set)["routines"] {
		got[id] = f.Outcome
	}
	if diff := cmp.Diff(map[string]string{"a": "done", "b": "failed", "c": "", "d": "done"}, got); diff != "" {
		t.Error(diff)
	}
}

// moments are when a demo may start.
func moments(t *testing.T) map[string]time.Time {
	t.Helper()
	berlin, err := time.LoadLocation("Europe/Berlin")
	testkit.Must(t, err)
	return map[string]time.Time{
		"an afternoon":               time.Date(2026, 11, 24, 14, 2, 0, 0, time.UTC),
		"a Sunday evening":           time.Date(2026, 11, 22, 20, 2, 30, 0, time.UTC),
		"after midnight":             time.Date(2026, 11, 27, 0, 0, 30, 0, time.UTC),
		"after the clock went back":  time.Date(2026, 10, 25, 9, 31, 0, 0, berlin),
		"in the minute of a routine": time.Date(2026, 11, 25, 8, 0, 1, 0, berlin),
	}
}

// record is what the files of a past say, read by their owners.
type record struct {
	dir   *store.Dir
	now   time.Time
	pings []budget.Ping
	runs  map[string]fork.View
	chat  []transcript.Entry
	days  map[string]money.Sum
	state budget.State
	set   *routines.Set
	due   map[account.Key]account.Row
}

func furnishAt(t *testing.T, now time.Time) record {
	t.Helper()
	dir := storetest.Dir(t)
	testkit.Must(t, Furnish(Home{Dir: dir, Now: now}))
	got := record{dir: dir, now: now, runs: map[string]fork.View{}, days: map[string]money.Sum{}, due: map[account.Key]account.Row{}}
	var err error
	got.pings, err = budget.NewJournal(dir, now.Location(), nil).All()
	testkit.Must(t, err)
	runs, err := fork.Ledger(dir, math.MaxInt)
	testkit.Must(t, err)
	for _, v := range runs {
		got.runs[v.ID] = v
	}
	if len(got.runs) != len(runs) {
		t.Error("two runs have one ID")
	}
	got.chat = transcript.New(transcript.Options{Dir: dir, Zone: now.Location()}).Entries()
	data, err := dir.Read(money.Ledger)
	testkit.Must(t, err)
	rows := map[string][]money.Row{}
	for row, err := range jsonl.Lines[money.Row](data) {
		testkit.Must(t, err)
		date := row.At.Format(time.DateOnly)
		rows[date] = append(rows[date], row)
		got.days[date] = money.Total(rows[date]...)
	}
	got.state, _ = budget.NewBucket(dir, now.Location(), nil).State(now)
	due, err := account.New(dir).Read(now)
	if err != nil || due.Damaged+due.Ahead > 0 {
		t.Fatalf("the account: %+v, %v", due, err)
	}
	for _, r := range due.Rows {
		got.due[r.Key()] = r
	}
	index := routines.NewIndex(dir, now.Location())
	index.Scan()
	got.set = index.Set()
	return got
}

func TestNoPingOfThePastContradictsTheBucket(t *testing.T) {
	for name, now := range moments(t) {
		t.Run(name, func(t *testing.T) {
			p := furnishAt(t, now)
			level := budget.Default(time.Date(now.Year(), now.Month(), now.Day()-pastDays+1, 0, 0, 0, 0, now.Location()))
			sent, refused, answered := 0, 0, 0
			talk := time.Time{} // of the user, newest
			chat := p.chat
			perRun := map[string][2]int{}
			for _, ping := range p.pings {
				for ; len(chat) > 0 && !chat[0].At.After(ping.At); chat = chat[1:] {
					if chat[0].Role == transcript.User {
						talk = chat[0].At
					}
				}
				count := perRun[ping.Run]
				level = level.At(ping.At)
				switch ping.Refused {
				case "":
					if level.Whole() < 1 || ping.Left == nil || math.Abs(level.Available-1-*ping.Left) > 1e-4 {
						t.Fatalf("%s at %v has left %v of %v tokens", ping.Title, ping.At, ping.Left, level.Available)
					}
					level, _ = level.Pay(ping.At, false)
					sent++
					count[0]++
				case refusedEmpty:
					if level.Whole() >= 1 {
						t.Errorf("%s at %v found no token, of %v", ping.Title, ping.At, level.Available)
					}
				case refusedBusy:
					if ping.At.Sub(talk) > 30*time.Second {
						t.Errorf("%s at %v was refused for a conversation of %v", ping.Title, ping.At, talk)
					}
				case refusedSecond:
					if count[0] == 0 {
						t.Errorf("%s at %v is no second ping", ping.Title, ping.At)
					}
				default:
					t.Errorf("a refusal without a rule: %q", ping.Refused)
				}
				if ping.Refused != "" {
					refused++
					count[1]++
				}
				if !ping.Answered.IsZero() {
					answered++
				}
				perRun[ping.Run] = count
			}
			if math.Abs(level.At(now).Available-p.state.Available) > 1e-4 || p.state.DailyUsed != level.At(now).DailyUsed {
				t.Errorf("the journal leads to %+v, the bucket is %+v", level.At(now), p.state)
			}
			for id, count := range perRun {
				if v := p.runs[id]; v.Pings != count[0] || v.Refused != count[1] {
					t.Errorf("%s sent %v pings by the journal: %+v", id, count, v)
				}
			}
			t.Logf("%d runs, %d pings, %d answered, %d refused, %.1f tokens left", len(p.runs), sent, answered, refused, p.state.Available)
			if perDay := float64(sent) / pastDays; perDay < 4 || perDay > 12 || answered*4 < sent*3 || refused == 0 {
				t.Errorf("%.1f pings a day, %d of %d answered, %d refused", perDay, answered, sent, refused)
			}
			checkCurve(t, &p)
		})
	}
}

// checkCurve looks at the curve as the dashboard draws it, also at the driver's rate: each
// ping takes one token, which was there, and where none was left there was none.
func checkCurve(t *testing.T, p *record) {
	t.Helper()
	for _, rate := range []int{p.state.RefillRateMinutes, refillMinutes} {
		state := p.state
		state.RefillRateMinutes = rate
		levels := state.Curve(budget.Marks(p.pings, nil), nil, p.now, p.now).Past
		for _, ping := range p.pings {
			if ping.At.Before(levels[0].At) {
				continue
			}
			before, after := budget.LeftAt(levels, ping.At), budget.LeftAt(levels, ping.At.Add(time.Millisecond))
			switch {
			case ping.Refused == "" && math.Abs(before-1-after) > 1e-2:
				t.Errorf("%s at %v takes the curve from %v to %v, at a token every %d minutes", ping.Title, ping.At, before, after, rate)
			case ping.Refused == refusedEmpty && before >= 1:
				t.Errorf("the curve is at %v when %s finds no token", before, ping.Title)
			}
		}
	}
}

func TestThePastOfTheDemoAddsUp(t *testing.T) {
	for name, now := range moments(t) {
		t.Run(name, func(t *testing.T) {
			p := furnishAt(t, now)
			turns, dollars := map[string]int{}, map[string]float64{}
			prices := money.NewPrices(storetest.Dir(t), nil)
			for _, v := range p.runs {
				date := v.Ended.In(now.Location()).Format(time.DateOnly)
				turns[date]++
				dollars[date] += v.Usage.CostUSD
				usage := v.Usage
				usage.CostUSD = 0
				model := v.Model
				if model == "" {
					model = "opus"
				}
				if got, _ := prices.Priced(model, usage); v.Usage.CostUSD == 0 || math.Abs(got.CostUSD-v.Usage.CostUSD) > 1e-9 {
					t.Errorf("%s cost %v, by the table %v", v.Title, v.Usage.CostUSD, got.CostUSD)
				}
				r, ok := p.set.RoutineByID(v.TaskID)
				due := v.Started.In(now.Location()).Truncate(time.Minute)
				if v.Kind == routines.KindReminder { // its file was removed with its fire
					if row := p.due[account.Key{Kind: string(v.Kind), ID: v.TaskID, Due: v.Queued.Unix()}]; row.Fate != account.Ran {
						t.Errorf("%s ran at %v, by its account %+v", v.Title, v.Started, row)
					}
					continue
				}
				if !ok || !r.Schedule.Next(due).Equal(due) || v.Ended.After(now) {
					t.Errorf("%s ran from %v to %v, which its file does not say", v.Title, v.Started, v.Ended)
				}
			}
			ran := map[string]fork.State{}
			for _, v := range p.runs {
				ran[v.TaskID+v.Started.In(now.Location()).Format("2006-01-02 15:04")] = v.State
			}
			fates := map[fork.State]account.Fate{fork.Done: account.Ran, fork.Failed: account.Failed, "": account.Missed}
			missed := 0
			begin := time.Date(now.Year(), now.Month(), now.Day()-pastDays+1, 0, 0, 0, 0, now.Location())
			for _, r := range p.set.Routines {
				for due := r.Schedule.Next(begin); due.Before(now.Add(-5 * time.Minute)); due = r.Schedule.Next(due.Add(time.Minute)) {
					row := p.due[account.Key{Kind: string(routines.KindRoutine), ID: r.ID, Due: due.Unix()}]
					want := fates[ran[r.ID+due.Format("2006-01-02 15:04")]]
					if !r.Background && row.Fate != account.Missed {
						want = account.Ran
					}
					if row.Fate != want {
						t.Fatalf("%s was due at %v, by its runs %q: %+v", r.Description, due, want, row)
					}
					if row.Fate == account.Missed {
						missed++
					}
				}
			}
			if missed == 0 || missed > 7 {
				t.Errorf("%d due times were missed", missed)
			}
			shown := map[string]bool{}
			for i, e := range p.chat {
				if i > 0 && e.At.Before(p.chat[i-1].At) || e.At.After(now) {
					t.Errorf("the chat goes back at %v", e.At)
				}
				switch e.Role {
				case transcript.Bot:
					turns[e.At.Format(time.DateOnly)]++
				case transcript.Ping:
					shown[e.At.Format(time.RFC3339)+e.Text] = true
				}
			}
			for _, ping := range p.pings {
				if ping.Refused == "" && ping.At.After(p.chat[0].At) && !shown[ping.At.Format(time.RFC3339)+ping.Text] {
					t.Errorf("the chat does not show %s of %v", ping.Title, ping.At)
				}
			}
			for date, d := range p.days {
				if d.Dollars() < dollars[date]-1e-9 || (date > p.chat[0].At.Format(time.DateOnly) && d.Requests() != turns[date]) {
					t.Errorf("%s: $%v and %d turns; runs and chat have $%v and %d", date, d.Dollars(), d.Requests(), dollars[date], turns[date])
				}
			}
		})
	}
}

func TestAPingOfThePastIsRefusedByTheRules(t *testing.T) {
	noon := time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)
	p := &past{prices: money.NewPrices(storetest.Dir(t), nil), now: noon.Add(time.Hour), bucket: budget.Default(noon)}
	run := &fork.View{ID: "1a2b3c4d", TaskID: plants}
	p.say(noon, "Is it late?", "It is noon.")
	p.ping(noon.Add(2*time.Second), run, "hello", 1)
	p.ping(noon.Add(time.Minute), run, "hello", 2)
	p.ping(noon.Add(time.Minute), run, "again", 3)
	for range budget.DefaultCapacity {
		p.ping(noon.Add(2*time.Minute), &fork.View{ID: "1a2b3c4e"}, "one more", 1)
	}
	var got []string
	for _, ping := range p.pings {
		got = append(got, ping.Refused)
	}
	if diff := cmp.Diff([]string{refusedBusy, "", refusedSecond, "", "", "", "", refusedEmpty}, got); diff != "" {
		t.Error(diff)
	}
	if run.Pings != 1 || run.Refused != 2 {
		t.Errorf("%+v", run)
	}
}

func TestTwoDemosOfOneMomentAreTheSame(t *testing.T) {
	for name, now := range moments(t) {
		if diff := cmp.Diff(contents(t, furnishAt(t, now).dir), contents(t, furnishAt(t, now).dir)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// contents are the files of a directory.
func contents(t *testing.T, d *store.Dir) map[string]string {
	t.Helper()
	files, root := map[string]string{}, os.DirFS(d.Root())
	testkit.Must(t, fs.WalkDir(root, ".", func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || filepath.Base(path)[0] == '.' {
			return err
		}
		data, err := fs.ReadFile(root, path)
		files[path] = string(data)
		return err
	}))
	return files
}
