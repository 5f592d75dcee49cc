package review

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"ollimbot/core/base/goldentest"
	"ollimbot/core/base/testkit"
	"ollimbot/core/command"
	"ollimbot/core/safety/policy"
	"ollimbot/core/storage/store"
	"ollimbot/core/storage/store/storetest"
	"ollimbot/routines"
)

func TestTheAgentsFilesWaitForTheUser(t *testing.T)                      { stories(t, "files") }
func TestTheEditOfAFileIsAllowedOrRefusedByItsCard(t *testing.T)         { stories(t, "edits") }
func TestAStartFindsWhatWasDecidedMeanwhile(t *testing.T)                { stories(t, "starts") }
func TestAnEditOfTheServersFileIsAllowedOrRefusedByItsCard(t *testing.T) { stories(t, "servers") } // 31

// stories plays a file of testdata in a bubble: below a line with ">" is all that comes of it, for the user, for the agent, for the rest
// of the bot and for its log.
func stories(t *testing.T, file string) {
	t.Helper()
	goldentest.Stories(t, file+".txt", func(t *testing.T, story string) (out string) {
		synctest.Test(t, func(t *testing.T) {
			o := open(t)
			defer o.stop()
			var lines []string
			for line := range strings.Lines(story) {
				line = strings.TrimRight(line, "\n")
				step, is := strings.CutPrefix(line, "> ")
				if is || strings.HasPrefix(line, "#") {
					lines = append(lines, line)
				}
				if is {
					o.step(t, step)
					synctest.Wait()
					lines = append(lines, o.heard()...)
				}
			}
			out = strings.Join(lines, "\n")
		})
		return out
	})
}

// heard returns what was said since the last step.
func (o *office) heard() (all []string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	all, o.said = o.said, nil
	// Cards come from a goroutine of their own, at the same moment.
	slices.SortStableFunc(all, func(a, b string) int { return strings.Compare(cardOf(a), cardOf(b)) })
	all, o.answered = append(all, o.answered...), nil
	for line := range strings.Lines(o.logged.String()) {
		_, line, _ = strings.Cut(line, "level=")
		all = append(all, "log: "+strings.TrimSpace(line))
	}
	o.logged.Reset()
	return all
}

func cardOf(line string) string {
	word, _, _ := strings.Cut(line, " ")
	if word == "card" || strings.HasPrefix(line, "a card") {
		return "card"
	}
	return ""
}

// answer says what the one gets who has done the step.
func (o *office) answer(format string, args ...any) {
	o.answered = append(o.answered, hidden(format, args...))
}

func (o *office) step(t *testing.T, step string) {
	verb, rest, _ := strings.Cut(step, " ")
	what, more, _ := strings.Cut(rest, " ")
	more, _ = strconv.Unquote(`"` + strings.ReplaceAll(more, `"`, `\"`) + `"`)
	switch verb {
	case "runs": // the desk, from now on
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- o.Run(ctx) }()
		o.stop = func() {
			stop()
			testkit.Must(t, <-done)
			o.stop = func() {}
		}
	case "wait":
		took, err := time.ParseDuration(what)
		testkit.Must(t, err)
		time.Sleep(took)
	case "offline", "online":
		o.offline.Store(verb == "offline")
	case "recover":
		o.Recover()
	case "restart": // the program
		o.stop()
		o.reopen(o.o.Index, o.o.Hooks)
		o.Recover()
	case "reload":
		o.Reload()
	case "settle":
		o.Settle()
	case "list":
		for _, p := range o.Waiting() {
			beside := slices.ContainsFunc(o.Beside(), func(one routines.Problem) bool { return one.File == p.File })
			o.answer("%s %s: %s (beside the tasks: %t, version: %t)", p.File, p.Severity, p.Message, beside, p.Waits && p.Version != "")
		}
	case "look":
		p, picture, err := o.Look(what)
		o.answer("%s: %s, may be allowed: %t\n%s%s", p.File, p.Message, p.Waits, picture, said(err))
	case "tasks":
		for _, p := range o.WaitingTasks() {
			o.answer("%s: %s", p.File, p.Message)
		}
	case "script":
		o.ScriptWaits(what)
	default:
		o.act(t, verb, what, more)
	}
}

// act plays what the agent and the user do.
func (o *office) act(t *testing.T, verb, what, more string) {
	switch verb {
	case "waits": // a file, or does not any more
		o.whys[what] = map[string]string{"": "it may write files"}[more]
		o.Refresh(what)
	case "begins": // to wait, written by a session of that kind
		o.FileWaits(policy.Writer{Kind: more}, what, "it may write files.")
	case "edit":
		o.propose(t, what, more+"\n")
	case "put":
		storetest.Put(t, o.dir, what, more)
		o.Refresh(what)
	case "rm":
		testkit.Must(t, os.RemoveAll(o.dir.Path(what)))
		o.Refresh(what)
	case "read":
		o.answer("%s", storetest.Text(t, o.dir, what))
	case "sees": // the version of a file as it is now
		o.seen[what] = o.digest(t, what)
	case "allow", "withdraw":
		id, file, _ := strings.Cut(what+" "+more, " ")
		o.done(o.allow(t, command.AllowTask{ID: id, Version: o.seen[file], Withdraw: verb == "withdraw"}))
	case "undo":
		undo, _ := o.undo.(command.AllowTask)
		o.done(o.allow(t, undo))
	case "refuse":
		o.done(o.refuse(t.Context(), command.RefuseEdit{ID: what, Version: o.seen[more]}))
	case "presses": // a button of a card
		n, err := strconv.Atoi(what)
		testkit.Must(t, err)
		_, press, _ := strings.Cut(o.sent[n-1].Embed.Buttons[0].Action, ":")
		if how, cut := strings.CutSuffix(more, " of any"); cut {
			more, press = how, press[:8]
		}
		o.done(o.Pressed(t.Context(), more == "allow", press))
	case "elsewhere": // another command approves a file
		testkit.Must(t, policy.New(policy.Options{Dir: o.dir}).Provenance().Approve(o.digest(t, what), what, time.Now()))
	case "approved": // an hour ago, in a version that is gone
		testkit.Must(t, o.files.Approve("older", what, time.Now().Add(-time.Hour)))
	case "breaks": // the record of writers, even for root
		path := o.dir.Path(store.StateDir)
		testkit.Must(t, os.RemoveAll(path))
		testkit.Must(t, os.WriteFile(path, nil, 0o600))
	case "tools": // the n-th change of a server's, or none
		delete(o.tools, what)
		if n, err := strconv.Atoi(more); err == nil {
			o.tools[what] = change(n)
		}
		o.JudgeServers()
	case "servers": // the agent edits their file
		answer, _ := o.o.Servers.(interface {
			Propose(text []byte) (string, bool)
		}).Propose([]byte(strings.TrimSpace(what + " " + more)))
		o.answer("the agent gets: %s", answer)
		o.ServersEdited(policy.Writer{})
	default:
		t.Fatalf("no step %q", verb)
	}
}

func said(err error) string {
	if err == nil {
		return ""
	}
	return "error: " + err.Error()
}

// done says what a decision came to.
func (o *office) done(out command.Outcome, err error) {
	if err != nil {
		o.answer("%s", said(err))
		return
	}
	o.undo = out.Undo
	o.answer("%s (recorded as %s of %s, undone by %s)", out.Message, out.Decision.Action, out.Decision.Subject, undoOf(out.Undo))
}

func undoOf(undo any) string {
	switch u := undo.(type) {
	case nil:
		return "nothing"
	case command.AllowTask:
		return fmt.Sprintf("allow %s, withdrawn: %t", u.ID, u.Withdraw)
	}
	return fmt.Sprintf("%T", undo)
}
