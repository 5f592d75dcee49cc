package intake

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"ollimbot/core/base/testkit"
	"ollimbot/core/command"
	"ollimbot/core/storage/config"
	"ollimbot/core/storage/store"
	"ollimbot/core/storage/store/storetest"
	"ollimbot/core/talk/absence"
	"ollimbot/core/talk/post"
	"ollimbot/core/talk/transcript"
	"ollimbot/core/work/budget"
	"ollimbot/core/work/fork"
	"ollimbot/routines/when"
)

// room is a Desk that implements its own conversation and forks, and records the
// requests.
type room struct {
	*Desk
	dir    *store.Dir
	did    []string
	err    error // the result of everything
	silent bool  // a line has no reply
	turn   chan error
	wait   int // updates that are pending
	runs   []fork.View
	ended  time.Time // with which a run was resumed
	got    command.Receive
	before func() // called before each action
}

func open(t *testing.T) *room {
	r := &room{dir: storetest.Prepared(t), turn: make(chan error), before: func() {}}
	log := slog.New(slog.DiscardHandler)
	r.Desk = New(Options{
		Dir: r.dir, Zone: time.FixedZone("here", 2*60*60), Log: log, Chat: r, Forks: r, Runs: func() []fork.View { return r.runs },
		Journal: budget.NewJournal(r.dir, time.UTC, nil), Present: absence.New(r.dir, log), Book: transcript.New(transcript.Options{}),
		Times: func() when.Reader { return when.Reader{Now: time.Now()} },
		Slash: func() command.Host {
			return command.Host{
				Google:    func(context.Context, []string) (string, error) { return r.reply(), r.do("google") },
				Config:    func() *config.Runtime { return &config.Runtime{} },
				Follows:   func(key, value string) string { return "are you sure of " + key + " " + value },
				SetConfig: func(*config.Runtime) { _ = r.do("set") },
			}
		},
		Review: func(_ context.Context, allow bool, version string) (command.Outcome, error) {
			return command.Outcome{Message: "reviewed"}, r.do("review %v %s", allow, version)
		},
		Press: func(_ context.Context, c command.Click) (command.Outcome, bool, error) {
			if !strings.Contains(c.ID, ":card_") {
				return command.Outcome{}, false, nil
			}
			return command.Outcome{Message: "pressed"}, true, r.do("press %s", c.ID)
		},
		Remind: func(_ context.Context, c command.Remind, pressed post.MessageID) (command.Outcome, error) {
			return command.Outcome{Message: "reminded"}, r.do("remind %s %s %s %s", c.ID, c.Word, pressed, c.Until.Format("15:04"))
		},
	})
	return r
}

func (r *room) reply() string {
	if r.silent {
		return ""
	}
	return "open this address"
}

func (r *room) do(format string, args ...any) error {
	r.before()
	r.did = append(r.did, fmt.Sprintf(format, args...))
	return r.err
}

func (r *room) Receive(_ context.Context, c command.Receive) (<-chan error, error) {
	r.got = c
	return r.turn, r.do("receive %q to %q", c.Text, c.ReplyTo)
}

func (r *room) Reword(from, key, text string, gone bool) error {
	return r.do("reword %s %s %s %v", from, key, text, gone)
}

func (r *room) Click(_ context.Context, m post.MessageID, id string) (string, error) {
	return "clicked", r.do("click %s %s", m, id)
}

func (r *room) DeliverUpdates() (int, <-chan error, error) {
	return r.wait, r.turn, r.do("deliver")
}

func (r *room) Interrupt(context.Context) error { return r.do("interrupt") }

func (r *room) Resume(session, title string, ended time.Time) error {
	r.ended = ended
	return r.do("resume %s %s", session, title)
}

func (r *room) ExitFork(how command.Exit) error { return r.do("exit %s", how) }

func (r *room) carryOut(t *testing.T, c command.Value) (command.Outcome, error) {
	t.Helper()
	all := command.Handlers{}
	all.Add(r.Handlers()...)
	h, ok := all.Of(c)
	if _, set := c.(command.SetConfig); !ok || (h.Needs == command.Directory) != set || !set && h.Needs != command.Running {
		t.Fatalf("the handler of %T (%v) needs %v", c, ok, h.Needs)
	}
	return h.Do(t.Context(), c)
}

// ping writes a ping of a task, sent a while ago, to the journal.
func (r *room) ping(t *testing.T, id, message string, ago time.Duration) {
	t.Helper()
	testkit.Must(t, r.o.Journal.Append(budget.Ping{At: time.Now().Add(-ago), ID: id, Task: "task " + id, Message: message, Kind: "ping"}))
}

func (r *room) answers() (how []budget.How, at []time.Time) {
	for _, p := range r.o.Journal.Recent() {
		how, at = append(how, p.How), append(at, p.Answered)
	}
	return how, at
}

// leave makes the user absent.
func (r *room) leave() {
	r.o.Present.UserActive(time.Now())
	time.Sleep(24 * time.Hour)
}

// returned reports whether the user was noticed at this moment, which ends the absence.
func (r *room) returned() bool {
	span := r.o.Present.Span(time.Now().Add(time.Second))
	return span.To.Equal(time.Now())
}

func TestWhatTheUserDoesReachesTheConversation(t *testing.T) {
	for _, c := range []struct {
		command command.Value
		did     string
		message string
		turn    bool // the outcome says when the turn ends
		present bool // the user is active
	}{
		{command.Say{Text: " hello \n", ReplyTo: "m1"}, `receive "hello" to "m1"`, "", true, true},
		{command.Receive{Text: " /hello", ReplyTo: "m1"}, `receive " /hello" to "m1"`, "", true, true},
		{command.Click{Message: "m1", ID: "act:agent:00000001"}, "click m1 act:agent:00000001", "clicked", false, true},
		{command.Click{Message: "m1", ID: "act:remind_done:00000001"}, "remind 00000001 done m1 00:00", "reminded", false, true},
		{command.Click{Message: "m1", ID: "act:remind_later:00000001"}, "remind 00000001 later m1 00:00", "reminded", false, true},
		{command.Click{Message: "m1", ID: "act:remind_not_today:00000001"}, "remind 00000001 not-today m1 00:00", "reminded", false, true},
		{command.Click{Message: "m1", ID: "act:remind_later:00000001", Value: "20 minutes"}, "remind 00000001 later m1 00:20", "reminded", false, true},
		{command.Click{Message: "m1", ID: "act:edit_allow:abc"}, "review true abc", "reviewed", false, true},
		{command.Click{Message: "m1", ID: "act:edit_refuse:abc"}, "review false abc", "reviewed", false, true},
		{command.Click{Message: "m1", ID: "act:card_mute:hour"}, "press act:card_mute:hour", "pressed", false, true},
		{command.Click{Message: "m1", ID: "act:ping_useless:1"}, "click m1 act:ping_useless:1", "clicked", false, true},
		{command.Click{ID: "act:remind_about:own.1"}, "click  act:remind_about:own.1", "clicked", false, true},
		{command.Slash{Line: "/google-auth"}, "google", "open this address", false, false},
		{command.Say{Text: " /google-auth"}, "google", "open this address", false, true},
		{command.Reword{From: "Discord", Key: "7", Text: "new", Gone: true}, "reword Discord 7 new true", "", false, false},
		{command.Interrupt{}, "interrupt", "", false, false},
		{command.ExitFork{How: command.ExitSave}, "exit save", "", false, false},
	} {
		t.Run(fmt.Sprintf("%T %s", c.command, c.did), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := open(t)
				r.leave()
				out, err := r.carryOut(t, c.command)
				if err != nil || !slices.Equal(r.did, []string{c.did}) || out.Message != c.message || (out.Done != nil) != c.turn {
					t.Errorf("did %q, %+v, %v", r.did, out, err)
				}
				if r.returned() != c.present {
					t.Errorf("the user is noticed: %v", r.returned())
				}
				r.err = errors.New("no")
				if _, err := r.carryOut(t, c.command); !errors.Is(err, r.err) {
					t.Errorf("its error: %v", err)
				}
			})
		})
	}
}

func TestWhatNeedsNoConversationReachesNone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for c, want := range map[command.Value]string{
			command.UserActive{}: "here true", command.Slash{Line: "/help"}: "here false and a card",
			command.Click{Message: "m1", ID: "act:remind_later:00000001", Value: "no time"}: "here true and an error",
			command.SetConfig{Key: "daily_cap", Value: "7"}:                                 "here false and a question",
		} {
			r := open(t)
			r.leave()
			out, err := r.carryOut(t, c)
			got := fmt.Sprint("here ", r.returned())
			for word, is := range map[string]bool{" and a card": out.Card != nil, " and an error": err != nil && err.Error() != "", " and a question": out.Follows == "are you sure of daily_cap 7"} {
				if is {
					got += word
				}
			}
			if got != want || r.did != nil {
				t.Errorf("%+v: %s, did %q, want %s", c, got, r.did, want)
			}
		}
	})
}

func TestTheReplyToASlashLineIsKeptInTheConversation(t *testing.T) {
	r := open(t)
	_, err := r.carryOut(t, command.Say{Text: "/google-auth"})
	testkit.Must(t, err)
	if list := r.o.Book.Entries(); len(list) != 1 || list[0].Role != transcript.Notice || list[0].Text != "open this address" {
		t.Errorf("entries: %+v", list)
	}
	r.silent = true
	if _, err := r.carryOut(t, command.Say{Text: "/google-auth"}); err != nil || len(r.o.Book.Entries()) != 1 {
		t.Errorf("without a reply: %v, %+v", err, r.o.Book.Entries())
	}
	r.err = errors.New("no")
	if _, err := r.carryOut(t, command.Say{Text: "/google-auth"}); !errors.Is(err, r.err) || len(r.o.Book.Entries()) != 1 {
		t.Errorf("after an error: %v, %+v", err, r.o.Book.Entries())
	}
}

func TestEachMoveAnswersThePingsThatItIsAbout(t *testing.T) {
	const own, other = "act:agent:00000001", "m9"
	for _, c := range []struct {
		command command.Value
		want    []budget.How // of the ping with the message m1, and of a later one
	}{
		{command.Say{Text: "done", ReplyTo: "m1"}, []budget.How{budget.Replied, ""}},
		{command.Say{Text: "done"}, []budget.How{budget.Spoke, budget.Spoke}},
		{command.Receive{Text: "done", ReplyTo: "m1"}, []budget.How{budget.Replied, ""}},
		{command.Receive{Text: "done", ReplyTo: other}, []budget.How{budget.Spoke, budget.Spoke}},
		{command.Click{Message: "m1", ID: own}, []budget.How{budget.Pressed, ""}},
		{command.Click{Message: "m1", ID: "act:remind_done:00000001"}, []budget.How{budget.Pressed, ""}},
		{command.Click{Message: "m1", ID: "act:edit_allow:abc"}, []budget.How{budget.Pressed, ""}},
		{command.Click{Message: "m1", ID: "act:ping_useless:1"}, []budget.How{"", ""}},
		{command.Click{ID: "act:remind_about:own.1", Words: "milk"}, []budget.How{"", ""}}, // about any message
		{command.Say{Text: "/google-auth", ReplyTo: "m1"}, []budget.How{"", ""}},
	} {
		synctest.Test(t, func(t *testing.T) {
			r := open(t)
			r.ping(t, "1", "m1", time.Hour)
			r.ping(t, "2", "m2", time.Minute)
			r.before = func() { // if the action is interrupted, the answer is already saved
				if how, at := r.answers(); !slices.Equal(how, c.want) || how[0] != "" && !at[0].Equal(time.Now()) {
					t.Errorf("%+v: answered %q at %v, want %q", c.command, how, at, c.want)
				}
			}
			_, err := r.carryOut(t, c.command)
			testkit.Must(t, err)
			if len(r.did) != 1 {
				t.Errorf("did %q", r.did)
			}
		})
	}
}

func TestWordsAnswerWhenTheyWereWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := open(t)
		r.ping(t, "1", "m1", 5*time.Hour)
		wrote := command.Receive{From: "Discord", Key: "7", Text: "done", At: time.Now().Add(-4 * time.Hour), More: true}
		_, err := r.carryOut(t, wrote)
		testkit.Must(t, err)
		if how, at := r.answers(); how[0] != budget.Spoke || !at[0].Equal(wrote.At) {
			t.Errorf("answered %q at %v", how, at)
		}
		if r.got.Key != wrote.Key || r.got.From != wrote.From || !r.got.More || !r.got.At.Equal(wrote.At) {
			t.Errorf("the conversation got %+v", r.got)
		}
	})
}

func TestAnAnswerThatCannotBeSavedStopsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := open(t)
		r.ping(t, "1", "m1", time.Hour)
		var logged strings.Builder
		r.o.Log = slog.New(slog.NewTextHandler(&logged, nil))
		testkit.Must(t, os.Remove(r.dir.Path("state/.pings.lock")))
		testkit.Must(t, os.Mkdir(r.dir.Path("state/.pings.lock"), 0o700))
		_, err := r.carryOut(t, command.Say{Text: "done"})
		if err != nil || len(r.did) != 1 || !strings.Contains(logged.String(), "the answer to a ping was not written down") {
			t.Errorf("did %q, %v, and logged %s", r.did, err, &logged)
		}
	})
}

func TestPendingUpdatesAreCounted(t *testing.T) {
	for n, want := range []string{textNothingPending, textDeliverOne, fmt.Sprintf(textDeliverMany, 2), fmt.Sprintf(textDeliverMany, 3)} {
		r := open(t)
		r.wait = n
		out, err := r.carryOut(t, command.DeliverNow{})
		if err != nil || out.Message != want || (out.Done != nil) != (n > 0) {
			t.Errorf("%d updates: %+v, %v", n, out, err)
		}
		r.err = errors.New("no")
		if out, err := r.carryOut(t, command.DeliverNow{}); !errors.Is(err, r.err) || out.Message != "" {
			t.Errorf("%d updates, refused: %+v, %v", n, out, err)
		}
	}
}

func TestAFinishedRunIsResumedWhetherItIsListedOrOnlyStored(t *testing.T) {
	r := open(t)
	ended := time.Date(2026, 11, 25, 9, 0, 0, 0, time.UTC)
	line := `{"id":"%s","task":"a","title":"%s","state":"done","session":"%s","ended":"2026-11-25T09:00:00Z"}` + "\n"
	storetest.Put(t, r.dir, "state/fork_runs.jsonl", fmt.Sprintf(line, "00000001", "Stored", "s1")+fmt.Sprintf(line, "00000002", "Stored too", "s2")+
		fmt.Sprintf(line, "00000005", "Silent", ""))
	r.runs = []fork.View{
		{ID: "00000002", Title: "Listed", State: fork.Failed, Session: "s9", Ended: ended.Add(time.Hour)},
		{ID: "00000003", Title: "Busy", State: fork.Running, Session: "s3"},
		{ID: "00000004", Title: "Never reached", State: fork.Failed},
	}
	for _, c := range []struct {
		id, did, message string
		ended            time.Time
		err              string
	}{
		{"00000001", "resume s1 Stored", fmt.Sprintf(textResuming, "Stored"), ended, ""},
		{"00000002", "resume s9 Listed", fmt.Sprintf(textResuming, "Listed"), ended.Add(time.Hour), ""},
		{"00000003", "", "", time.Time{}, fmt.Sprintf(textCannotResume, "Busy")},
		{"00000004", "", "", time.Time{}, fmt.Sprintf(textCannotResume, "Never reached")},
		{"00000005", "", "", time.Time{}, fmt.Sprintf(textCannotResume, "Silent")},
		{"00000009", "", "", time.Time{}, fmt.Sprintf(textNoRun, "00000009")},
	} {
		r.did, r.ended = nil, time.Time{}
		r.err = nil
		out, err := r.carryOut(t, command.ResumeFork{Run: c.id})
		if got := fmt.Sprint(err); c.err == "" && err != nil || c.err != "" && got != c.err {
			t.Errorf("%s: error %v, want %q", c.id, err, c.err)
		}
		if strings.Join(r.did, "; ") != c.did || out.Message != c.message || !r.ended.Equal(c.ended) {
			t.Errorf("%s: did %q, %+v, ended %v", c.id, r.did, out, r.ended)
		}
		if r.err = errors.New("no"); c.err == "" {
			if _, err := r.carryOut(t, command.ResumeFork{Run: c.id}); !errors.Is(err, r.err) {
				t.Errorf("%s: its error is %v", c.id, err)
			}
		}
	}
	testkit.Must(t, os.Remove(r.dir.Path("state/fork_runs.jsonl")))
	testkit.Must(t, os.Mkdir(r.dir.Path("state/fork_runs.jsonl"), 0o700))
	if _, err := r.carryOut(t, command.ResumeFork{Run: "00000001"}); err == nil || strings.Contains(err.Error(), "00000001") {
		t.Errorf("an unreadable ledger: %v", err)
	}
}
