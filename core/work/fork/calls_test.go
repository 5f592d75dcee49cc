package fork

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/brief/toolset"
	"ollimbot/core/safety/label"
	"ollimbot/core/talk/post"
	"ollimbot/routines"
)

// sendings are the ways to reach the user, all with the same rules.
var sendings = map[string]func(*run, bool) agent.ToolResult{
	"ping": func(r *run, critical bool) agent.ToolResult {
		return r.tools.Ping(context.Background(), "Water the plants", critical, false)
	},
	"embed": func(r *run, critical bool) agent.ToolResult {
		return r.tools.Embed(context.Background(), post.Embed{Title: "Plants"}, critical)
	},
	"file": func(r *run, critical bool) agent.ToolResult {
		if err := r.o.Dir.Write("plants.md", []byte("Water them.")); err != nil {
			panic(err)
		}
		return r.tools.SendFile(context.Background(), "plants.md", "", critical)
	},
}

// scene is what the tools of a run answer: calls, separated by ", ", with their answers. "ping!" is critical, "ping~" quiet, "send" is
// each way to reach the user, "hook" asks whether the run may end. An answer lists its parts ("a & b", "-c" for what it lacks), "!" before
// them means an error, "nothing" an empty one. Then what was sent, the tokens left, those used for plain and critical pings, and the run's
// own counts; empty if they are not compared.
type scene struct{ name, job, calls, answers, counts string }

func TestATokenIsPaidForEachPingAndMostThatSpeaksAgainstItRefusesIt(t *testing.T) {
	const refused, exhausted = "sent 0, left 5, used 0+0, pings 0+0, refused 1", "sent 0, left 0, used 5+0, pings 0+0, refused 1"
	const one, critical = "sent 1, left 4, used 1+0, pings 1+0, refused 0", "sent 1 (critical), left 5, used 0+1, pings 1+1, refused 0"
	play(t, []scene{
		{"it costs one and counts", "", "send", "sent", one},
		{"a task that may not ping is refused", "may not ping", "send", "!disabled & report_updates", refused},
		{"and even its critical ping is", "may not ping", "send!", "!disabled", refused},
		{"an empty bucket refuses", "", "tokens 0, send", "!Budget exhausted & 0 of 5 & report_updates & next one is free in", exhausted},
		{"but not a critical one", "", "tokens 0, send!", "sent", "sent 1 (critical), left 0, used 5+1, pings 1+1, refused 0"},
		{"a conversation refuses", "", "busy, send", "!mid-conversation & report_updates & critical=True", refused},
		{"but not a critical one", "", "busy, send!", "sent", critical},
		{"quiet hours refuse and say until when", "", "quiet 90m, send",
			"!Quiet hours or a mute last until 1:30 AM & report_updates & critical=True", refused},
		{"but not a critical one", "", "quiet 1h, send!", "sent", critical},
		{"capacity 0 is muted, not exhausted", "", "capacity 0, send",
			"!Muted & capacity is 0 & -exhausted", "sent 0, left 0, used 0+0, pings 0+0, refused 1"},
		{"a blocked task is not sent to a report that it cannot make", "blocked", "busy, send", "!mid-conversation & -report_updates", refused},

		{"one ping of a run", "", "ping, ping", "sent / !Already sent 1 ping", "sent 1, left 4, used 1+0, pings 1+0, refused 1"},
		{"one embed", "", "embed, embed", "sent / !Already sent 1 ping", "sent 1, left 4, used 1+0, pings 1+0, refused 1"},
		{"one of them", "", "ping, embed", "sent / !Already sent 1 ping", "sent 1, left 4, used 1+0, pings 1+0, refused 1"},
		{"one with a file", "", "file, ping", "sent / !Already sent 1 ping", "sent 1, left 4, used 1+0, pings 1+0, refused 1"},
		{"one before a file", "", "embed, file", "sent / !Already sent 1 ping", "sent 1, left 4, used 1+0, pings 1+0, refused 1"},
		{"a critical one counts as it", "", "ping!, ping",
			"sent / !Already sent 1 ping", "sent 1 (critical), left 5, used 0+1, pings 1+1, refused 1"},
		{"and may be a second one", "", "ping, ping!", "sent / sent", "sent 2 (critical), left 4, used 1+1, pings 2+1, refused 0"},
		{"two critical ones", "", "embed!, ping!", "sent / sent", "sent 2 (critical, critical), left 5, used 0+2, pings 2+2, refused 0"},
		{"two critical files", "", "file!, file!", "sent / sent", "sent 2 (critical, critical), left 5, used 0+2, pings 2+2, refused 0"},

		{"without a channel it costs none", "", "no channel, send, tail error … could not be sent",
			"!Error: no active channel & report_updates", "sent 0, left 5, used 0+0, pings 0+0, refused 0"},
		{"not delivered it costs none, may be tried again, and then has to be reported", "",
			"fails, ping, tail error ping could not be sent, works, ping, hook",
			"!no route & could not be delivered & once more / sent / report_updates", "sent 1, left 4, used 1+0, pings 1+0, refused 0"},
		{"without an answer it counts as sent", "", "unknown, send, tail not known whether, works, send, hook",
			"!not known whether & -No token was spent & -once more / !limit / report_updates", "sent 0, left 4, used 1+0, pings 1+0, refused 1"},
		{"a critical one goes out though it cannot be counted", "", "unpaid, ping, ping!, tail not counted", "!critical=True / sent", ""},
		{"an ended run sends none", "", "end, ping!, report", "!ended / !ended", "sent 0, left 5, used 0+0, pings 0+0, refused 0"},
	})
}

func TestAQuietMessageCostsNoTokenButIsTheOneOfItsRun(t *testing.T) {
	const refused = "sent 0, left 5, used 0+0, pings 0+0, refused 1"
	const one = "sent 1 (quiet), left 5, used 0+0, pings 0+0, refused 0, quiet 1"
	play(t, []scene{
		{"one goes out", "", "quiet messages 3, ping~", "sent & -critical=True", one},
		{"quiet hours are about sounds", "", "quiet messages 3, quiet 1h, ping~", "sent & -critical=True", one},
		{"a mute is about messages", "", "quiet messages 3, muted 1h, ping~",
			"!muted messages until 1:00 AM & report_updates & -critical=True", refused},
		{"a conversation is not interrupted", "", "quiet messages 3, busy, ping~", "!mid-conversation & -critical=True", refused},
		{"a task that may not ping", "may not ping", "quiet messages 3, ping~", "!disabled & -critical=True", refused},
		{"the setting forbids them", "", "ping~", "!quiet_messages is 0 & -critical=True", refused},
		{"the fourth of a day", "", "quiet messages 3, other ping~, other ping~, other ping~, ping~",
			"sent / sent / sent / !3 a day are allowed & nothing was sent & -critical=True",
			"sent 3 (quiet, quiet, quiet), left 5, used 0+0, pings 0+0, refused 1"},
		{"a blocked task is not sent to a report", "blocked", "quiet messages 3, busy, ping~",
			"!nothing was sent. & -report_updates & -critical=True", refused},
		{"a refused ping does not become one", "", "quiet messages 3, tokens 0, ping",
			"!Budget exhausted & -quiet", "sent 0, left 0, used 5+0, pings 0+0, refused 1"},
		{"it is the one, and has to be reported", "", "quiet messages 3, ping~, ping~, ping, hook",
			"sent / !Already sent 1 ping / !Already sent 1 ping / report_updates", "sent 1 (quiet), left 5, used 0+0, pings 0+0, refused 2, quiet 1"},
	})
}

func TestTheFirstPingOfAnEssentialTaskIsBesideTheBudget(t *testing.T) {
	const free, paid = "sent 1, left 5, used 0+0, pings 1+0, refused 1, essential 1", "sent 1, left 4, used 1+0, pings 1+0, refused 1"
	const second = "sent / !Already sent 1 ping"
	play(t, []scene{
		{"it costs no token", "essential", "ping, ping", second, free},
		{"an empty bucket cannot refuse it", "essential", "tokens 0, ping, ping",
			second, "sent 1, left 0, used 5+0, pings 1+0, refused 1, essential 1"},
		{"a conversation does not, either", "essential", "busy, ping, ping", second, free},
		{"in quiet hours it makes no sound", "essential", "quiet 1h, ping, ping",
			second, "sent 1 (quiet), left 5, used 0+0, pings 1+0, refused 1, essential 1"},
		{"a run with a label pays", "essential, label mail", "ping, ping", second, paid},
		{"and is refused without a token", "essential, label mail", "tokens 0, ping",
			"!Budget exhausted", "sent 0, left 0, used 5+0, pings 0+0, refused 1"},
		{"the user may trust the task", "essential, label mail, trusted", "ping, ping", second, free},
		{"a task that may not ping, may not", "essential, may not ping", "ping", "!disabled", "sent 0, left 5, used 0+0, pings 0+0, refused 1"},
	})
}

func TestTheStopRuleAsksOnceForTheReportThatIsDue(t *testing.T) {
	play(t, []scene{
		{"it is always due", "always", "hook, hook", "report_updates / nothing", ""},
		{"whatever was sent", "always", "ping!, hook, hook", "sent / report_updates / nothing", ""},
		{"until it is made", "always", "report, hook", "reported / nothing", "sent 0, left 5, used 0+0, pings 0+0, refused 0, reports 1"},
		{"it is due after a ping", "", "hook, ping!, hook, hook", "nothing / sent / report_updates / nothing", ""},
		{"until it is made then", "", "ping!, report, hook", "sent / reported / nothing", ""},
		{"or before it", "", "report, ping!, hook, hook", "reported / sent / report_updates / nothing", ""},
		{"it is never due", "freely", "ping!, hook", "sent / nothing", ""},
		{"it is not possible", "blocked", "ping!, hook, report",
			"sent / nothing / !disabled", "sent 1 (critical), left 5, used 0+1, pings 1+1, refused 0"},
		{"an unknown mode is that of pings", "from the future", "ping, hook, tail note " + textMustReport, "sent / report_updates", ""},
		{"a turn that goes on because of it", "always", "hook again, hook", "nothing / nothing", ""},
		{"and leaving points to it", "", "exit", "!report_updates", ""},
		{"where there is one", "blocked", "exit", "!-report_updates", ""},
	})
}

func TestARunStopsItsOwnRoutineUnlessItHasReadUntrustedText(t *testing.T) {
	const stopped, not = "sent 0, left 5, used 0+0, pings 0+0, refused 0, stopped, pending 1", "sent 0, left 5, used 0+0, pings 0+0, refused 0"
	play(t, []scene{
		{"its own", "", "stop, stops a1b2c3d4 done false, end, stop, stops a1b2c3d4 done false", toolset.TextPaused + " / !ended", stopped},
		{"after untrusted text", "label mail", "stop, stops", "!has read untrusted text (mail)", not},
		{"that its file trusts", "label mail, trusted", "stop, stops", "!has read untrusted text (mail)", not},
		{"a reminder", "reminder", "stop, stops", "!only available in a background run of a routine", not},
		{"the bot refuses", "", "unstopped, stop, stops a1b2c3d4 done false", "!was not stopped: it is essential", not},
	})
}

func play(t *testing.T, scenes []scene) {
	t.Helper()
	for _, s := range scenes {
		kinds := []string{"ping"}
		if strings.Contains(s.calls, "send") {
			kinds = []string{"ping", "embed", "file"}
		}
		for _, kind := range kinds {
			t.Run(s.name+"/"+kind, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					h := newHarness(t)
					job := func(j *Job) {
						for word := range strings.SplitSeq(s.job, ", ") {
							change(j, word)
						}
					}
					r := h.run(task(), job)
					var answers []agent.ToolResult
					for call := range strings.SplitSeq(strings.ReplaceAll(s.calls, "send", kind), ", ") {
						by := r
						call, other := strings.CutPrefix(call, "other ")
						if other {
							by = h.run(task(), job)
						}
						if a, ok := h.call(by, call); ok {
							answers = append(answers, a)
						}
					}
					wantAnswers(t, s.answers, answers)
					if s.counts != "" {
						wantText(t, "counts", s.counts, h.counts(r))
					}
				})
			})
		}
	}
}

// change makes a job what a word says.
func change(j *Job, word string) {
	switch word {
	case "may not ping":
		j.Task.AllowPing = false
	case "blocked":
		j.Task.Mode = routines.Blocked
	case "always":
		j.Task.Mode = routines.Always
	case "freely":
		j.Task.Mode = routines.Freely
	case "from the future":
		j.Task.Mode = routines.Mode(word)
	case "essential":
		essential(&j.Task)
	case "isolated":
		j.Task.Isolated = true
	case "label mail":
		j.Label = label.From("mail")
	case "trusted":
		j.Trusted = true
	case "reminder":
		j.Task.Kind = routines.KindReminder
	}
}

// call calls a tool, or changes the world around it; then there is no answer.
func (h *harness) call(r *run, call string) (a agent.ToolResult, ok bool) {
	h.t.Helper()
	name := strings.TrimRight(call, "!~")
	if send := sendings[name]; send != nil && !strings.HasSuffix(call, "~") {
		return send(r, strings.HasSuffix(call, "!")), true
	}
	hook := func(again bool) (agent.ToolResult, bool) {
		return agent.ToolResult{Text: r.tools.stopRule(h.t.Context(), again)}, true
	}
	switch call {
	case "ping~":
		return r.tools.Ping(h.t.Context(), "Water the plants", false, true), true
	case "report":
		return r.tools.Report(h.t.Context(), "hello"), true
	case "stop":
		return r.tools.Stop(h.t.Context(), toolset.Stop{Reason: "done"}), true
	case "exit":
		return r.tools.ExitFork(h.t.Context()), true
	case "hook":
		return hook(false)
	case "hook again":
		return hook(true)
	case "end":
		r.tools.close()
	case "busy":
		h.busy = true
	case "no channel":
		h.failed = errors.Join(errors.New("the bot has stopped"), post.ErrNoChannel)
	case "fails":
		h.failed = errors.New("no route\nto Discord")
	case "unknown":
		h.failed, h.troubles = errUnknown, []string{"a ping may not have arrived"}
	case "works":
		h.failed = nil
	case "unpaid":
		breakBudget(h.t, h)
		h.troubles = []string{"ping budget was not saved"}
	case "unstopped":
		h.unstopped = errors.New("it is essential")
	default:
		h.world(r, call)
	}
	return a, false
}

// world changes what a word and its value say, or compares what they name.
func (h *harness) world(r *run, words string) {
	h.t.Helper()
	at := strings.LastIndex(words, " ")
	word, value := words[:max(at, 0)], words[at+1:]
	span, _ := time.ParseDuration(value)
	n, _ := strconv.Atoi(value)
	switch {
	case word == "tokens":
		h.drain(n)
	case word == "capacity":
		if _, _, err := h.o.Budget.Set(h.m.o.now(), &n, nil); err != nil {
			h.t.Fatal(err)
		}
	case word == "quiet messages":
		h.limits.QuietMessages = n
	case word == "quiet":
		h.quiet = time.Now().Add(span)
	case word == "muted":
		h.muted = time.Now().Add(span)
		h.quiet = h.muted
	case strings.HasPrefix(words, "tail "):
		begin, end, _ := strings.Cut(strings.TrimPrefix(words, "tail "), "…")
		if tail := strings.Join(tailOf(r.status.ring), "\n"); !strings.Contains(tail, begin) || !strings.Contains(tail, end) {
			h.t.Errorf("the tail is %s", tail)
		}
	case strings.HasPrefix(words, "stops"):
		if got := strings.TrimSpace("stops " + strings.Join(h.stops, " ")); got != words {
			h.t.Errorf("asked: %s", got)
		}
	default:
		h.t.Fatalf("%q is no call", words)
	}
}

func wantAnswers(t *testing.T, want string, got []agent.ToolResult) {
	t.Helper()
	wants := strings.Split(want, " / ")
	if len(wants) != len(got) {
		t.Fatalf("%d answers, want %d: %+v", len(got), len(wants), got)
	}
	for i, want := range wants {
		parts, isError := strings.CutPrefix(want, "!")
		if got[i].IsError != isError {
			t.Errorf("answer %d is an error: %v", i, got[i].IsError)
		}
		for part := range strings.SplitSeq(parts, " & ") {
			lacks, negative := strings.CutPrefix(part, "-")
			if part == "nothing" && got[i].Text != "" || part != "nothing" && strings.Contains(got[i].Text, lacks) == negative {
				t.Errorf("answer %d is %q, want %s", i, got[i].Text, part)
			}
		}
	}
}

// counts describes what was sent and counted.
func (h *harness) counts(r *run) string {
	h.t.Helper()
	state, reserved := h.o.Budget.State(h.m.o.now())
	v, tally := r.status.snapshot(), h.o.Tally.At(h.m.o.now())
	sent, flags := h.sent(), []string(nil)
	for _, p := range sent {
		if p.Critical {
			flags = append(flags, "critical")
		}
		if p.Quiet {
			flags = append(flags, "quiet")
		}
	}
	text := fmt.Sprintf("sent %d", len(sent))
	if flags != nil {
		text += " (" + strings.Join(flags, ", ") + ")"
	}
	text += fmt.Sprintf(", left %g, used %d+%d, pings %d+%d, refused %d", state.Available, state.DailyUsed, state.CriticalUsed, v.Pings, v.Critical, v.Refused)
	for _, more := range []struct {
		name string
		n    int
	}{{"quiet", v.Quiet}, {"essential", v.Essential}, {"reports", v.Reports}, {"reserved", reserved}} {
		if more.n > 0 {
			text += fmt.Sprintf(", %s %d", more.name, more.n)
		}
	}
	if v.Stopped != "" {
		text += ", stopped"
	}
	pending := len(h.o.Updates.Peek())
	if pending != v.Reports {
		text += fmt.Sprintf(", pending %d", pending)
	}
	if tally.Essential != v.Essential {
		h.t.Errorf("%d essential pings are counted, the run has %d", tally.Essential, v.Essential)
	}
	return text
}
