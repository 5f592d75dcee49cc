package demo

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"time"

	"ollimbot/core"
	"ollimbot/core/agent"
	"ollimbot/core/storage/store"
	"ollimbot/core/talk/post"
	"ollimbot/core/talk/transcript"
	"ollimbot/core/work/budget"
	"ollimbot/core/work/fork"
	"ollimbot/core/work/money"
	"ollimbot/core/work/proposals"
	"ollimbot/routines"
	"ollimbot/routines/account"
)

// pastDays is how many days of history there usually are, including today: eight weeks, as many as the
// bot looks at before it proposes another time for a routine.
const pastDays = 57

// sleptLong is how many days ago the laptop stayed closed until after breakfast.
const sleptLong = 4

// Why a ping was refused, in the words of core/work/fork.
const (
	refusedBusy   = "in conversation"
	refusedSecond = "second of its run"
	refusedEmpty  = "no token left"
)

// past is what has happened until now. It is simulated event by event, by the program's own rules: tasks fire when
// their cron lines say so, the bucket pays for pings, and the price table prices tokens. All files of the past are
// written from it.
type past struct {
	prices *money.Prices
	now    time.Time
	days   int     // including today
	queue  []event // to come, by time

	runs    []fork.View // by their ends
	pings   []budget.Ping
	chat    []transcript.Entry
	turns   []turn // of the conversation
	reports []report
	due     []account.Row // by due time
	asked   []proposals.Proposal
	bucket  budget.State
	fired   map[string]time.Time // when each routine was due last, by its ID
	busy    time.Time            // until when the newest turn of the conversation takes
}

// event is something that happens at a moment.
type event struct {
	at time.Time
	do func(at time.Time)
}

// turn is what a turn of the conversation has used.
type turn struct {
	at    time.Time
	usage agent.Usage
}

// report is an update that no turn has delivered yet.
type report struct {
	at   time.Time
	text string
}

// live simulates the days of a home with these routines.
func live(h Home, set []routines.Routine) *past {
	now := h.Now
	p := &past{prices: money.NewPrices(h.Dir, nil), now: now, days: cmp.Or(h.Days, pastDays), fired: map[string]time.Time{}}
	begin := time.Date(now.Year(), now.Month(), now.Day()-p.days+1, 0, 0, 0, 0, now.Location())
	p.bucket = budget.Default(begin)
	for _, r := range set {
		p.expect(r, begin)
	}
	for day := range p.days {
		for _, q := range questions[day%len(questions)] {
			p.at(time.Date(begin.Year(), begin.Month(), begin.Day()+day, q.hour, q.minute, 20, 0, begin.Location()), func(at time.Time) {
				p.say(at, q.words, q.answer)
			})
		}
	}
	for _, v := range vows {
		p.vow(v, time.Date(now.Year(), now.Month(), now.Day()-v.daysAgo, v.hour, 41, 0, 0, now.Location()))
	}
	for len(p.queue) > 0 {
		next := p.queue[0]
		p.queue = p.queue[1:]
		next.do(next.at)
	}
	p.bucket = p.bucket.At(now)
	return p
}

// at schedules an event, unless its time is after now.
func (p *past) at(at time.Time, do func(time.Time)) {
	if at.After(p.now) {
		return
	}
	i, _ := slices.BinarySearchFunc(p.queue, at, func(e event, at time.Time) int {
		return cmp.Or(e.at.Compare(at), -1) // behind what happens in the same moment
	})
	p.queue = slices.Insert(p.queue, i, event{at, do})
}

// expect schedules a routine's next fire.
func (p *past) expect(r routines.Routine, from time.Time) {
	due := r.Schedule.Next(from)
	if due.IsZero() {
		return
	}
	p.at(due, func(due time.Time) {
		if p.asleep(due) {
			p.account(r, due, due, account.Missed, account.Asleep)
		} else {
			p.fire(r, due)
		}
		p.expect(r, due.Add(time.Minute))
	})
}

// asleep reports whether the laptop was closed: on one morning, until after breakfast.
func (p *past) asleep(at time.Time) bool {
	clock := func(hour, minute int) time.Time {
		return time.Date(p.now.Year(), p.now.Month(), p.now.Day()-sleptLong, hour, minute, 0, 0, p.now.Location())
	}
	return !at.Before(clock(0, 0)) && at.Before(clock(8, 45))
}

// account records the outcome of a due time.
func (p *past) account(r routines.Routine, due, at time.Time, fate account.Fate, why string) {
	p.due = append(p.due, account.Row{
		Kind: string(routines.KindRoutine), ID: r.ID, Title: r.Description, Due: due, At: at, Fate: fate, Why: why,
	})
}

// dice returns the random source of one fire, so that its outcome does not depend on other events.
func dice(task string, at time.Time) *rand.Rand {
	h := fnv.New64a()
	_, _ = h.Write([]byte(task))                                  // a hash takes everything
	return rand.New(rand.NewPCG(h.Sum64(), uint64(at.Unix())/60)) //nolint:gosec // an example, the same each time
}

// fire starts the run of a routine, or its turn in the conversation.
func (p *past) fire(r routines.Routine, due time.Time) {
	h, d := habits[r.ID], dice(r.ID, due)
	start := due.Add(time.Duration(80+d.IntN(400)) * time.Millisecond)
	long := time.Duration(float64(cmp.Or(h.long, 5*time.Second)) * (0.7 + 0.6*d.Float64()))
	end := start.Add(long)
	if end.After(p.now.Add(-time.Minute)) {
		return // the next one is the running bot's
	}
	p.fired[r.ID] = due
	if !r.Background {
		p.at(end, func(at time.Time) {
			p.account(r, due, at, account.Ran, "")
			p.turn(at, h.tokens)
			p.add(at, transcript.Bot, pick(h.texts, d), "")
		})
		return
	}
	v := &fork.View{
		ID: fmt.Sprintf("%08x", d.Uint32()), Kind: routines.KindRoutine, TaskID: r.ID, Title: r.Description, Model: r.Model,
		State: fork.Done, Queued: start, Started: start, Ended: end, Tools: 1 + d.IntN(3),
		Usage: p.used(r.Model, int(float64(h.tokens)*(0.8+0.4*d.Float64()))),
	}
	p.at(start.Add(long*2/3), func(at time.Time) {
		if h.fails != "" && d.IntN(12) == 0 {
			v.State, v.Error = fork.Failed, h.fails
			return
		}
		if text := pick(h.texts, d); text != "" && r.AllowPing {
			p.ping(at, v, text, 1)
		}
		if h.second != "" && d.IntN(4) == 0 {
			p.ping(at.Add(500*time.Millisecond), v, h.second, 2)
		}
	})
	p.at(end, func(at time.Time) {
		p.end(at, r, v, d)
		if v.State == fork.Failed {
			p.account(r, due, at, account.Failed, v.Error)
		} else {
			p.account(r, due, at, account.Ran, "")
		}
	})
}

// end ends a run. One that has sent a ping owes a report, as its task asks for; one that may
// not ping has nothing else to give.
func (p *past) end(at time.Time, r routines.Routine, v *fork.View, d *rand.Rand) {
	h := habits[r.ID]
	owed := r.Mode == routines.Always || r.Mode == routines.OnPing && (v.Pings > 0 || !r.AllowPing)
	if v.State == fork.Done && (owed || r.Mode == routines.Freely && d.IntN(5) == 0) {
		v.Reports = 1
		p.reports = append(p.reports, report{at, cmp.Or(pick(h.reports, d), r.Description+": pinged.")})
	}
	p.runs = append(p.runs, *v)
}

// ping sends the n-th ping of a run, if the rules of core/work/fork allow it: one for each
// run, none into a conversation, and none without a token.
func (p *past) ping(at time.Time, v *fork.View, text string, n int) {
	ping := budget.Ping{At: at, ID: fmt.Sprintf("%s-%d", v.ID, n), Task: v.TaskID, Title: v.Title, Kind: "ping", Run: v.ID, Text: text}
	switch {
	case v.Pings > 0:
		ping.Refused = refusedSecond
	case at.Before(p.busy):
		ping.Refused = refusedBusy
	default:
		after, paid := p.bucket.Pay(at, false)
		if p.bucket = after; !paid {
			ping.Refused = refusedEmpty
		}
	}
	if ping.Refused != "" {
		v.Refused++
		p.pings = append(p.pings, ping)
		return
	}
	v.Pings++
	left := p.bucket.Available
	ping.Capacity, ping.Refill = p.bucket.Capacity, p.bucket.RefillRateMinutes
	ping.Left, ping.Message = &left, string(p.add(at, transcript.Ping, text, v.Title))
	p.pings = append(p.pings, ping)
	p.answer(ping)
}

// answer lets the user answer two pings of three within minutes, or when they do what it is
// about. Words answer also what was open before.
func (p *past) answer(ping budget.Ping) {
	d := dice("answer "+ping.Task, ping.At)
	after := habits[ping.Task].later + time.Duration(40+d.IntN(600))*time.Second
	if d.IntN(3) == 0 {
		return
	}
	p.at(ping.At.Add(after), func(at time.Time) {
		p.say(at, cmp.Or(pick(habits[ping.Task].thanks, d), "Done, thank you."), pick(pleased, d))
	})
}

// say lets the user say something. The turn that answers takes the pending reports.
func (p *past) say(at time.Time, words, answer string) {
	end := at.Add(time.Duration(5+len(answer)/12) * time.Second)
	if end.After(p.now) {
		return
	}
	for _, answered := range budget.AnsweredBy(p.pings, budget.Move{At: at}) {
		i := slices.IndexFunc(p.pings, func(g budget.Ping) bool { return g.ID == answered.ID })
		p.pings[i].Answered, p.pings[i].How = at, answered.How
	}
	p.add(at, transcript.User, words, "")
	p.busy, p.reports = end, nil
	p.turn(end, 14_000)
	p.at(end, func(at time.Time) { p.add(at, transcript.Bot, answer, "") })
}

// vow lets the user promise something in passing, accept the reminder that the bot proposes, and
// keep the promise a day later, or not.
func (p *past) vow(v vow, at time.Time) {
	d := dice(v.words, at)
	id, task := fmt.Sprintf("%08x", d.Uint32()), fmt.Sprintf("%08x", d.Uint32())
	due, done := at.AddDate(0, 0, 1), at.AddDate(0, 0, 1).Add(11*time.Minute)
	if done.After(p.now) {
		return
	}
	p.at(at, func(at time.Time) {
		p.say(at, v.words, "Good plan.")
		q := proposals.Proposal{
			ID: id, Kind: core.KindPromise, Words: v.words, Title: "Remind you?", Text: fmt.Sprintf("You wrote “%s”.", v.words), Made: at,
			Buttons: []proposals.Button{{ID: "yes", Label: "Remind me"}}, Answer: "yes", Answered: at.Add(time.Minute), Result: task,
			Message: "unknown",
		}
		if v.kept {
			q.Kept = done
		}
		p.asked = append(p.asked, q)
	})
	p.at(due, func(due time.Time) {
		r := fork.View{
			ID: fmt.Sprintf("%08x", d.Uint32()), Kind: routines.KindReminder, TaskID: task, Title: v.title, State: fork.Done,
			Queued: due, Started: due, Ended: due.Add(3 * time.Second), Tools: 1, Usage: p.used("", 8_000),
		}
		p.ping(due.Add(time.Second), &r, v.ping, 1)
		p.runs = append(p.runs, r)
		p.due = append(p.due, account.Row{
			Kind: string(routines.KindReminder), ID: task, Title: v.title, Due: due, At: r.Ended, Fate: account.Ran,
		})
	})
}

// turn is a turn of the conversation.
func (p *past) turn(at time.Time, tokens int) {
	p.turns = append(p.turns, turn{at, p.used("", tokens)})
}

// used is what a turn of some tokens has used, most of it read from the cache.
func (p *past) used(model string, tokens int) agent.Usage {
	u := agent.Usage{InputTokens: 24, OutputTokens: tokens / 100, CacheWrite: tokens / 5}
	u.CacheRead = tokens - u.InputTokens - u.OutputTokens - u.CacheWrite
	u, _ = p.prices.Priced(cmp.Or(model, money.AssumedModel), u)
	return u
}

// add adds a message to the chat.
func (p *past) add(at time.Time, role transcript.Role, text, source string) post.MessageID {
	id := post.MessageID(fmt.Sprintf("t%08x", len(p.chat)+1))
	p.chat = append(p.chat, transcript.Entry{ID: id, At: at, Role: role, Text: text, Source: source})
	return id
}

// spent are the rows of the ledger of money: the runs and the conversation.
func (p *past) spent() []money.Row {
	var rows []money.Row
	for i := range p.runs {
		v := &p.runs[i]
		a := money.Account{For: money.OfRun, Task: money.Task{Kind: v.Kind, ID: v.TaskID}, Run: v.ID}
		rows = append(rows, money.Row{At: v.Ended, Account: a, Model: v.Model, Used: v.Usage, Requests: 1})
	}
	for _, t := range p.turns {
		rows = append(rows, money.Row{At: t.at, Account: money.Account{For: money.Conversation}, Used: t.usage, Requests: 1})
	}
	slices.SortStableFunc(rows, func(a, b money.Row) int { return a.At.Compare(b.At) })
	return rows
}

func pick(list []string, d *rand.Rand) string {
	if len(list) == 0 {
		return ""
	}
	return list[d.IntN(len(list))]
}

// keep writes the past into the files of their owners.
func (p *past) keep(dir *store.Dir, set []routines.Routine) error {
	for _, write := range []func(*store.Dir) error{p.keepRuns, p.keepPings, p.keepChat, p.keepReports, p.keepAccount, p.keepProposals} {
		if err := write(dir); err != nil {
			return err
		}
	}
	if err := dir.Write("state/ping_budget.json", p.bucket.Encode()); err != nil {
		return err
	}
	if err := writeLines(dir, money.Ledger, p.spent()); err != nil {
		return err
	}
	return dir.WriteJSON("state/schedule.json", p.record(set))
}
