package money

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"log/slog"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ollimbot/core/agent"
	"ollimbot/core/base/testkit"
	"ollimbot/core/base/words"
	"ollimbot/core/storage/frontmatter"
	"ollimbot/core/storage/store"
	"ollimbot/core/storage/store/storetest"
	pages "ollimbot/docs"
	"ollimbot/routines"
)

func open(t *testing.T) (*store.Dir, *Purse) {
	t.Helper()
	d := storetest.Dir(t)
	testkit.Must(t, d.Prepare())
	return d, made(Options{Dir: d})
}

func noCaps() Caps { return Caps{math.Inf(1), math.Inf(1)} }

// made fills in the options that a test leaves out: no caps, no past, no callbacks.
func made(o Options) *Purse {
	if o.Zone == nil {
		o.Zone = time.UTC
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Caps == nil {
		o.Caps = noCaps
	}
	if o.Notice == nil {
		o.Notice = func(string) {}
	}
	if o.Changed == nil {
		o.Changed = func() {}
	}
	return New(o)
}

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// book books a request of the conversation, or of a run with that ticket.
func book(t testing.TB, p *Purse, now time.Time, ticket Ticket, u agent.Usage) {
	t.Helper()
	a := Account{For: Conversation}
	if ticket != "" {
		a = Account{For: OfRun, Task: Task{routines.KindRoutine, "a"}, Run: "run" + string(ticket), Ticket: ticket}
	}
	testkit.Must(t, p.Book(now, a, agent.Charge{Model: "sonnet", Used: u}))
}

func rowsOf(p *Purse) []Row {
	_, rows := p.Books(noon)
	return rows
}

func TestADaysRequestsAreSummedAndSurviveARestart(t *testing.T) {
	d, l := open(t)
	for range 3 {
		book(t, l, noon, "", agent.Usage{InputTokens: 10, OutputTokens: 2, CostUSD: 0.5})
	}
	book(t, l, noon.Add(13*time.Hour), "", agent.Usage{InputTokens: 1, CostUSD: 1})
	a := Account{For: OfRun, Task: Task{routines.KindRoutine, "a"}, Run: "r", Ticket: "t"}
	testkit.Must(t, l.Book(noon.AddDate(1, 0, 0), a, agent.Charge{About: true, Plan: true, Model: "far", Used: agent.Usage{CacheRead: 1, CacheWrite: 2, CacheHour: 1}}))
	rows := strings.Split(storetest.Text(t, d, Ledger), "\n")
	if want := `{"at":"2027-11-21T12:00:00Z","for":"run","task":{"kind":"routine","id":"a"},"run":"r","ticket":"t","model":"far","usage":{"input_tokens":0,` +
		`"output_tokens":0,"cache_read_tokens":1,"cache_write_tokens":2,"cache_hour_tokens":1,"cost_usd":0},"requests":1,"about":1,"unknown":1,` +
		`"unpriced":true,"plan":true}`; len(rows) != 6 || rows[4] != want {
		t.Errorf("the ledger has\n%s\nwant\n%s", strings.Join(rows, "\n"), want)
	}
	again := made(Options{Dir: d})
	if u := again.Today(noon); u.Used().InputTokens != 30 || u.Used().OutputTokens != 6 || u.Dollars() != 1.5 || u.Requests() != 3 {
		t.Errorf("%+v", u)
	}
	if s := again.State(noon.Add(13 * time.Hour)); s.Month.Spent.Dollars() != 2.5 || s.Today.Spent.Dollars() != 1 {
		t.Errorf("%+v", s)
	}
}

func TestRowsOfOneAccountAreOneAndNameItsModelIfThereIsOnlyOne(t *testing.T) {
	d, l := open(t)
	for i, model := range []string{"claude-sonnet-5", "claude-sonnet-5", "claude-haiku-5-5"} {
		testkit.Must(t, l.Book(noon, Account{For: Screening}, agent.Charge{Model: model, Used: agent.Usage{InputTokens: 1, CostUSD: 1}}))
		for name, p := range map[string]*Purse{"the purse": l, "another start": made(Options{Dir: d})} {
			rows := rowsOf(p)
			if want := []string{"claude-sonnet-5", "claude-sonnet-5", ""}[i]; len(rows) != 1 || rows[0].Model != want || rows[0].Requests != i+1 {
				t.Errorf("%s has %+v, want %d requests of %q", name, rows, i+1, want)
			}
		}
	}
}

func TestWhatHasAUseOrACostIsBooked(t *testing.T) {
	talk := Account{For: Conversation}
	for name, c := range map[string]struct {
		account        Account
		charge         agent.Charge
		requests       int
		about, unknown int
		dollars        float64
		purpose        Purpose
	}{
		"nothing was used":          {account: talk},
		"a cost without a use":      {account: talk, charge: agent.Charge{Used: agent.Usage{CostUSD: 0.5}}, requests: 1, dollars: 0.5, purpose: Conversation},
		"a cost without an end":     {account: talk, charge: agent.Charge{Used: agent.Usage{CostUSD: math.Inf(1)}}},
		"what it used is not known": {account: talk, charge: agent.Charge{Unknown: true}, requests: 1, unknown: 1, purpose: Conversation},
		"it broke off": {
			account: talk, charge: agent.Charge{About: true, Used: agent.Usage{InputTokens: 1, CostUSD: 0.1}}, requests: 1, about: 1, dollars: 0.1, purpose: Conversation,
		},
		"a token without a price": {
			account: talk, charge: agent.Charge{Model: "far/zeta", Used: agent.Usage{InputTokens: 1}}, requests: 1, unknown: 1, purpose: Conversation,
		},
		"what an unknown model used is not known": {account: talk, charge: agent.Charge{Model: "far/zeta", Unknown: true}, requests: 1, unknown: 1, purpose: Conversation},
		"priced by its model": {
			account: Account{For: Screening}, charge: agent.Charge{Model: "claude-haiku-5-5", Used: agent.Usage{InputTokens: 10_000}},
			requests: 1, dollars: 0.001, purpose: Screening,
		},
		"free":           {account: talk, charge: agent.Charge{Used: agent.Usage{InputTokens: 10_000, Free: true}}, requests: 1, purpose: Conversation},
		"by a subagent":  {account: talk, charge: agent.Charge{Part: agent.Subagent, Used: agent.Usage{InputTokens: 1, CostUSD: 0.1}}, requests: 1, dollars: 0.1, purpose: Subagent},
		"for no purpose": {charge: agent.Charge{Used: agent.Usage{InputTokens: 1, CostUSD: 0.1}}},
	} {
		d, p := open(t)
		testkit.Must(t, p.Book(noon, c.account, c.charge))
		testkit.Must(t, p.Book(noon.Add(time.Minute), c.account, c.charge))
		for _, p := range []*Purse{p, made(Options{Dir: d})} {
			rows := rowsOf(p) // both are one row in memory
			got := Total(rows...)
			if got.Requests() != 2*c.requests || got.About() != 2*c.about || got.Unknown() != 2*c.unknown || !near(got.Dollars(), 2*c.dollars) ||
				len(rows) != c.requests || len(rows) > 0 && (rows[0].For != c.purpose || !rows[0].At.Equal(noon.Add(time.Minute))) {
				t.Errorf("%s: %+v", name, rows)
			}
			if day := p.Today(noon); day.Requests() != got.Requests() || day.About() != got.About() || day.Unknown() != got.Unknown() || day.Dollars() != got.Dollars() {
				t.Errorf("%s: the day has %+v, its rows %+v", name, day, got)
			}
		}
		if _, err := os.Stat(d.Path(Ledger)); os.IsNotExist(err) != (c.requests == 0) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := os.Stat(d.Path(fileName)); !os.IsNotExist(err) {
			t.Errorf("%s: a request sets nothing aside: %v", name, err)
		}
	}
}

// A model without a price was priced as if it were a model of Anthropic's.
func TestWhatHasNoPriceIsNamedAndInNoSum(t *testing.T) {
	d, _ := open(t)
	o := Options{Dir: d, Caps: func() Caps { return Caps{2.5, 2.5} }}
	p := made(o)
	request := func(p *Purse, model, run string) {
		t.Helper()
		a := Account{For: Conversation}
		if run != "" {
			a = Account{For: OfRun, Task: Task{routines.KindRoutine, "a"}, Run: run}
		}
		testkit.Must(t, p.Book(noon, a, agent.Charge{Model: model, Used: agent.Usage{InputTokens: 1_000_000}}))
	}
	request(p, "far/zeta", "")
	request(p, "far/alpha", "")
	request(p, "far/zeta", "")
	request(p, "", "1")
	request(p, "claude-sonnet-5-5", "1")
	const text = "$2.00 and 4 requests of unknown cost (no price for a model without a name, far/alpha, far/zeta)"
	for _, p := range []*Purse{p, made(o)} {
		s := p.State(noon)
		if got := s.Today.Spent; got.Text() != text || got.Requests() != 5 || got.Used().InputTokens != 5_000_000 || s.Month.Spent.Text() != text {
			t.Errorf("%s, %+v", got.Text(), got)
		}
		if s.Reached() != "" || !s.Until(0.5).IsZero() || s.Until(0.6).IsZero() || p.Stop(noon, "") != "" {
			t.Errorf("it counts against a cap: %+v", s)
		}
		_, rows := p.Books(noon)
		if got := Total(rows...); got.Text() != text {
			t.Errorf("all rows: %s", got.Text())
		}
		s.Reserved, s.Lifted, s.Month.Cap = 0.5, true, math.Inf(1)
		if data, err := json.Marshal(s); err != nil || string(data) != `{"today_usd":2,"month_usd":2,"daily_cap_usd":2.5,"monthly_cap_usd":null,"reserved_usd":0.5,`+
			`"lifted":true,"unknown_requests":4,"unpriced_models":["a model without a name","far/alpha","far/zeta"],"not_exact_usd":0,"plan":false}` {
			t.Errorf("as JSON it is %s, %v", data, err)
		}
		if got := p.Run("1"); got.Dollars() != 2 || got.Unknown() != 1 {
			t.Errorf("the run: %s", got.Text())
		}
	}
	if got := made(o).Run("1"); got.Dollars() != 2 { // the first thing after a restart
		t.Errorf("the run, after a restart: %s", got.Text())
	}
	testkit.Must(t, d.Write(PricesFile, []byte("default: 3 0 0 0\n")))
	p = made(o)
	request(p, "far/zeta", "")
	if got := p.Today(noon); !near(got.Dollars(), 5) || got.Unknown() != 4 {
		t.Errorf("with a price for all others: %s", got.Text())
	}
}

// What a subscription has paid for is what it would have cost, unless something else was paid too.
func TestWhatAPlanPaysForIsCalledSo(t *testing.T) {
	d, l := open(t)
	testkit.Must(t, l.Book(noon, Account{For: Conversation}, agent.Charge{Plan: true, Used: agent.Usage{InputTokens: 1, CostUSD: 1}}))
	for _, p := range []*Purse{l, made(Options{Dir: d})} {
		if got := p.Today(noon).Text(); got != "$1.00 (what it would cost without your plan)" {
			t.Errorf("with a plan alone: %s", got)
		}
	}
	testkit.Must(t, l.Book(noon, Account{For: Conversation}, agent.Charge{Used: agent.Usage{InputTokens: 1, CostUSD: 0.5}}))
	for _, p := range []*Purse{l, made(Options{Dir: d})} {
		if got, all := p.Today(noon).Text(), Total(rowsOf(p)...).Text(); got != "$1.50" || all != got {
			t.Errorf("with a plan and a key: %s, all rows %s", got, all)
		}
	}
}

func TestAFileThatIsNoRecordIsReplaced(t *testing.T) {
	for i, garbage := range []string{"", "null", "[]", "{\"x\":1}", `{"x":{"lifted":true}}`, "\x00\xff"} {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			d, l := open(t)
			testkit.Must(t, d.Write(fileName, []byte(garbage)))
			for before := range 2 {
				if was, err := l.Lift(noon, true); err != nil || was != (before > 0) {
					t.Errorf("lifted before: %v, %v", was, err)
				}
			}
			if text := storetest.Text(t, d, fileName); text != `{"2026-11-21":{"lifted":true}}`+"\n" || !made(Options{Dir: d}).State(noon).Lifted {
				t.Errorf("the file has %s", text)
			}
		})
	}
}

// A ledger that was cut, edited or damaged counts what can be read, and is continued.
func TestADamagedLedgerCountsWhatCanBeRead(t *testing.T) {
	d, _ := open(t)
	var whole bytes.Buffer
	l := made(Options{Dir: d, Log: slog.New(slog.NewTextHandler(&whole, nil))})
	book(t, l, noon, "", agent.Usage{InputTokens: 1, CostUSD: 0.5})
	if whole.Len() > 0 {
		t.Errorf("a whole ledger is logged: %s", whole.String())
	}
	data, err := d.Read(Ledger)
	testkit.Must(t, err)
	torn := data[:len(data)-9]
	bad := `{"at":"2026-11-21T12:00:00Z","for":"conversation","requests":-2,"about":-2,"unknown":-2,"usage":{"cost_usd":-9,"input_tokens":-5,` +
		`"output_tokens":-5,"cache_read_tokens":-5,"cache_write_tokens":-5,"cache_hour_tokens":-5}}` + "\n" +
		`{"at":"0001-01-01T00:00:00Z","for":"run","usage":{"cost_usd":9}}` + "\nnull\n[]\n\x00\n{\"at\":4}\n"
	testkit.Must(t, d.Write(Ledger, slices.Concat([]byte(bad), data, torn)))
	var logged bytes.Buffer
	again := made(Options{Dir: d, Log: slog.New(slog.NewTextHandler(&logged, nil))})
	if got := again.Today(noon); got.Used() != (agent.Usage{InputTokens: 1, CostUSD: 0.5}) || got.Requests() != 1 || got.About()+got.Unknown() != 0 || strings.Count(logged.String(), "level=WARN") != 1 || !strings.Contains(logged.String(), " lines=6\n") {
		t.Errorf("%+v, log:\n%s", got, logged.String())
	}
	book(t, again, noon, "", agent.Usage{InputTokens: 1, CostUSD: 0.25})
	if got := made(Options{Dir: d}).Today(noon); !near(got.Dollars(), 0.75) {
		t.Errorf("after the next request: %+v", got)
	}
	testkit.Must(t, d.Write(Ledger, slices.Concat(data, []byte("[]\n"))))
	logged.Reset()
	if made(Options{Dir: d, Log: slog.New(slog.NewTextHandler(&logged, nil))}).Today(noon); !strings.Contains(logged.String(), "lines=1") {
		t.Errorf("a single damaged line is not logged: %s", logged.String())
	}
}

func TestAClockThatIsSetBackBooksOnTheDayItShows(t *testing.T) {
	d, l := open(t)
	book(t, l, noon, "", agent.Usage{InputTokens: 1, CostUSD: 1})
	book(t, l, noon.AddDate(0, 0, -1), "", agent.Usage{InputTokens: 1, CostUSD: 2})
	if rows := rowsOf(made(Options{Dir: d})); len(rows) != 2 {
		t.Errorf("after a restart: %+v", rows)
	}
	for _, p := range []*Purse{l, made(Options{Dir: d})} {
		if a, b := p.Today(noon).Dollars(), p.Today(noon.AddDate(0, 0, -1)).Dollars(); a != 1 || b != 2 {
			t.Errorf("%v and %v", a, b)
		}
		if _, rows := p.Books(noon); len(rows) != 2 || rows[0].At.After(rows[1].At) {
			t.Errorf("%+v", rows)
		}
	}
}

// B1: what versions without a ledger have booked may count a session's past again and again.
func TestWhatEarlierVersionsBookedIsNotExactAndInNoCap(t *testing.T) {
	d, _ := open(t)
	testkit.Must(t, d.Write(fileName, []byte(`{"2026-11-21":{"turns":3,"input_tokens":10,"cost_usd":50.44,"unknown_usd":0.1,"lifted":true},
		"2026-11-20":{"cost_usd":0.2,"unknown_usd":0.1},"2026-11-19":{"cost_usd":-3}}`)))
	o := Options{Dir: d, Caps: func() Caps { return Caps{20, 20} }}
	p := made(o)
	check := func(p *Purse, dollars float64) {
		t.Helper()
		s := p.State(noon)
		if !near(s.Today.Spent.NotExact(), 50.54) || s.Today.Spent.Dollars() != dollars || !s.Lifted || s.Month.Spent.Dollars() != dollars {
			t.Errorf("%+v", s)
		}
	}
	check(p, 0)
	for back, want := range map[int]string{1: "$0.00 and $0.30 that an earlier version booked, not exact", 2: "$0.00"} {
		if got := p.State(noon.AddDate(0, 0, -back)).Today.Spent.Text(); got != want {
			t.Errorf("%d days before: %s", back, got)
		}
	}
	if _, err := p.Lift(noon, false); err != nil || !p.State(noon).Until(1).IsZero() {
		t.Error("it holds runs", err)
	}
	_, err := p.Lift(noon, true)
	testkit.Must(t, err)
	book(t, p, noon, "", agent.Usage{InputTokens: 1, CostUSD: 1})
	check(p, 1)
	check(made(o), 1)
}

// A ledger stays small: the requests of a run on one day become one row.
func TestALargeLedgerIsShortenedWithoutLosingACent(t *testing.T) {
	d, _ := open(t)
	var lines []byte
	for i := range 20_000 {
		lines = fmt.Appendf(lines, `{"at":%q,"for":"run","task":{"kind":"routine","id":"a"},"run":"%08x","model":"%0120d","usage":{"input_tokens":1,"cost_usd":0.001},"requests":1}`+"\n",
			noon.AddDate(0, 0, -i%500).Format(time.RFC3339), i%50, 1)
	}
	testkit.Must(t, d.Write(Ledger, lines))
	testkit.Must(t, d.Write(fileName, []byte(`{"2026-11-21":{"cost_usd":5}}`))) // what is not in the ledger does not get into it
	before := made(Options{Dir: d})
	testkit.Must(t, before.Recover(noon))
	after := made(Options{Dir: d})
	data, err := os.ReadFile(d.Path(Ledger))
	testkit.Must(t, err)
	if len(data) > len(lines)/3 {
		t.Errorf("%d of %d bytes", len(data), len(lines))
	}
	sum := func(p *Purse) Sum {
		_, rows := p.Books(noon)
		return Total(slices.DeleteFunc(rows, func(r Row) bool { return r.At.Before(noon.AddDate(0, 0, -keptDays)) })...)
	}
	if a, b := sum(before), sum(after); !near(a.Dollars(), b.Dollars()) || a.Requests() != b.Requests() || a.Dollars() < 16 || a.NotExact() != 5 ||
		b.NotExact() != 5 {
		t.Errorf("%+v, then %+v", a, b)
	}
	_, rows := after.Books(noon)
	if oldest := rows[0].At; oldest.Before(noon.AddDate(0, 0, -keptDays)) {
		t.Errorf("a row of %v is kept", oldest)
	}
}

// docs/limit-spending.md says what a run costs before anything is known.
func TestThePageOfLimitsSaysWhatAFirstRunCosts(t *testing.T) {
	data, err := fs.ReadFile(pages.FS, "limit-spending.md")
	testkit.Must(t, err)
	d, _ := open(t)
	first := agent.Usage{InputTokens: firstRunInput, OutputTokens: firstRunOutput}
	cost := func(model string) string { return words.Dollars(NewPrices(d, nil).Cost(model, first)) }
	want := fmt.Sprintf("that is %s with opus, %s with sonnet and less than a cent with haiku", cost("opus"), cost("sonnet"))
	if !strings.Contains(strings.Join(strings.Fields(string(data)), " "), want) || NewPrices(d, nil).Cost("haiku", first) >= 0.01 {
		t.Errorf("the page lacks %q", want)
	}
}

// docs/connect-a-model.md lists the built-in prices, and a valid file.
func TestThePageOfPricesHasTheBuiltInOnes(t *testing.T) {
	data, err := fs.ReadFile(pages.FS, "connect-a-model.md")
	testkit.Must(t, err)
	row := func(name string, r Rate) string {
		line := "| " + name
		for _, v := range []float64{r.Input, r.Output, r.CacheRead, r.CacheWrite, r.HourWrite} {
			line += " | " + strconv.FormatFloat(v, 'f', -1, 64)
		}
		return line + " |\n"
	}
	for name, p := range builtIn {
		want := row(name, p.Rate)
		if p.Above > 0 {
			want = row(fmt.Sprintf("%s, prompts up to %d,000 tokens", name, p.Above/1000), p.Rate) + row(name+", longer prompts", p.Long)
		}
		if !strings.Contains(string(data), want) {
			t.Errorf("the page lacks\n%s", want)
		}
	}
	_, shown, _ := strings.Cut(string(data), "\n## Prices\n")
	_, shown, _ = strings.Cut(shown, "```yaml\n")
	shown, _, _ = strings.Cut(shown, "```")
	if got := parsePrices([]byte(shown)); len(got.rows) != 3 || len(got.problems) > 0 {
		t.Errorf("the file that the page shows: %+v", got)
	}
}

func TestAUsageIsPricedWhereTheEngineDoesNot(t *testing.T) {
	d, _ := open(t)
	p := NewPrices(d, nil)
	if list := p.Problems(); len(list) > 0 {
		t.Errorf("without a file: %+v", list)
	}
	used := agent.Usage{InputTokens: 1_000_000, OutputTokens: 100_000, CacheRead: 1_000_000, CacheWrite: 200_000}
	for model, want := range map[string]float64{"sonnet": 2 + 1 + 0.1 + 0.5, "claude-opus-5-5-20261001": 4 + 2 + 0.2 + 1, "Haiku": 0.5 + 0.25 + 0.05 + 0.125} {
		if got, known := p.Priced(model, used); !known || !near(got.CostUSD, want) {
			t.Errorf("%q costs %v, want %v", model, got, want)
		}
	}
	for _, model := range []string{"", "gpt-5", "local/qwen3"} {
		if got, known := p.Priced(model, used); known || got.CostUSD != 0 || p.Cost(model, used) != 0 {
			t.Errorf("%q costs %v", model, got)
		}
	}
	own := NewPrices(d, func(model string) (Price, bool) { return Price{Rate: Rate{Input: 7}}, model == "sonnet" })
	if a, b := own.Cost("sonnet", used), own.Cost("opus", used); a != 7 || b != p.Cost("opus", used) {
		t.Errorf("a price that takes precedence gives %v, and for another model %v", a, b)
	}
	said := used
	said.CostUSD = 0.01
	free := used
	free.Free = true
	for _, u := range []agent.Usage{said, free} {
		if got, known := p.Priced("gpt-5", u); !known || got != u {
			t.Error("what the engine says does not count")
		}
	}
}

func TestALongPromptAndAnHoursCacheHavePricesOfTheirOwn(t *testing.T) {
	long := Price{Rate: Rate{Input: 1, CacheWrite: 2, HourWrite: 4}, Above: 1000, Long: Rate{Input: 10, CacheWrite: 20}}
	for name, c := range map[string]struct {
		used agent.Usage
		want float64 // for a million times the tokens
	}{
		"a prompt at the bound":            {agent.Usage{InputTokens: 1000}, 1000},
		"a prompt above it":                {agent.Usage{InputTokens: 1001}, 10010},
		"written for an hour":              {agent.Usage{CacheWrite: 100, CacheHour: 40}, 60*2 + 40*4},
		"more for an hour than was cached": {agent.Usage{CacheWrite: 100, CacheHour: 500}, 100 * 4},
		"no price for an hour":             {agent.Usage{CacheWrite: 2000, CacheHour: 1000}, 2000 * 20},
	} {
		if got := long.Cost(c.used) * 1e6; !near(got, c.want) {
			t.Errorf("%s: got %v, want %v", name, got, c.want)
		}
	}
}

func TestTheUsersPricesCountAndBadLinesAreNamed(t *testing.T) {
	d, _ := open(t)
	text := "\ufeff" + strings.Join([]string{
		"sonnet: 1 2 3 4 # mine", "", "# dollars for a million tokens: input output read written", "'my-model': [0, 0, 0, 0]",
		"opus: 4 20", "haiku: 1 2 3 four", "fable: 1 -2 3 4", "sonnet: 5 5 5 5", "no colon here", "inf: 1 2 NaN 3", "\x1b[2J: 1 2 3 4",
		"six: 1 2 3 4 5 6", "rich: 1 2 3 100000.5", "edge: 0 0 0 100000", "lost: 1 2 3 4 #5", "wave~: 1 2 3 4",
		"bl: 6 6 6 6", "default: 8 8 8 8",
	}, "\n")
	testkit.Must(t, d.KeepValid(PricesFile, []byte("opus: 9 9 9 9\nsonnet: 9 9 9 9")))
	testkit.Must(t, d.Write(PricesFile, []byte(text)))
	p := NewPrices(d, nil)
	for model, want := range map[string]Price{
		"claude-sonnet-5-5": {Rate: Rate{1, 2, 3, 4, 0}}, "my-model-2": {}, "opus": {Rate: Rate{9, 9, 9, 9, 0}}, "haiku": builtIn["haiku"],
		"fable": builtIn["fable"], "wave": {Rate: Rate{8, 8, 8, 8, 0}}, "default/opus": {Rate: Rate{9, 9, 9, 9, 0}},
	} {
		if got, ok := p.Of(model); !ok || got != want {
			t.Errorf("%s: %+v, want %+v", model, got, want)
		}
	}
	var want []routines.Problem
	number := func(wrong string) string {
		return fmt.Sprintf("%q is not a price: write dollars for a million tokens, 0 or more", wrong)
	}
	for _, m := range []struct {
		line int
		text string
	}{
		{5, problemLine},
		{6, number("four")},
		{7, number("-2")},
		{8, `"sonnet" already has a price on line 1; remove one of the two`},
		{9, problemLine},
		{10, number("NaN")},
		{11, problemLine},
		{12, problemLine},
		{13, number("100000.5")},
		{15, frontmatter.Dropped{Key: "lost", Text: "#5"}.Problem()},
	} {
		severity := map[bool]routines.Severity{true: routines.Warning, false: routines.Error}[m.line == 15]
		want = append(want, routines.Problem{File: PricesFile, Line: m.line, Column: 1, Severity: severity, Message: m.text})
	}
	if diff := cmp.Diff(want, CheckPrices([]byte(text))); diff != "" {
		t.Errorf("problems (-want +got)\n%s", diff)
	}
	_, kept, _ := d.Valid(PricesFile)
	if want[0] = want[0].Keeping(kept); kept.IsZero() || cmp.Diff(want, p.Problems()) != "" {
		t.Errorf("with the last valid file: %+v", p.Problems())
	}
	testkit.Must(t, d.Remove(PricesFile))
	testkit.Must(t, os.Mkdir(d.Path(PricesFile), 0o700))
	for range 2 {
		if list := p.Problems(); len(list) != 1 || list[0].Line != 1 || list[0].Severity != routines.Error || !strings.HasPrefix(list[0].Message, "cannot read the file: ") ||
			!strings.Contains(list[0].Message, "; using the built-in prices") {
			t.Errorf("a folder: %+v", list)
		}
	}
}

func FuzzAPricesFileNeverBreaks(f *testing.F) {
	f.Add([]byte("sonnet: 1 2 3 4\n: ,\nx:1e309 0 0 0"))
	f.Fuzz(func(t *testing.T, data []byte) {
		for name, price := range parsePrices(data).rows {
			if name == "" || min(price.Input, price.Output, price.CacheRead, price.CacheWrite) < 0 || max(price.Input, price.Output, price.CacheRead, price.CacheWrite) > maxPrice {
				t.Errorf("%q: %+v", name, price)
			}
		}
	})
}
