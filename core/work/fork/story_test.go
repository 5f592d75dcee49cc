package fork

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"ollimbot/core/base/testkit"
)

// serving runs a test in a bubble beside a manager that runs.
func serving(t *testing.T, test func(t *testing.T, h *harness), change ...func(*Options)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t, change...)
		defer h.serve()()
		test(t, h)
	})
}

// does runs a job that returns no error.
func (h *harness) does(j Job) View {
	h.t.Helper()
	v, err := h.m.Do(h.t.Context(), j)
	testkit.Must(h.t, err)
	return v
}

// tail returns the whole tail of a run.
func (h *harness) tail(v View) (list []string) {
	h.t.Helper()
	page, ok := h.m.Tail(v.ID, 0)
	if !ok {
		h.t.Fatal("no tail")
	}
	for _, l := range page.Lines {
		list = append(list, string(l.Kind)+" "+l.Text)
	}
	return list
}

// story is what a script (of the offline engine, lines separated by "; ") comes to for a job (change), after calls that change the world
// (harness.call): the state of its run with its error, the lines of its tail, the texts for the user, and its counts. … is any text.
type story struct{ name, job, world, script, state, tail, posts, counts string }

func TestARunComesToWhatItsScriptSays(t *testing.T) {
	const notAllowed = "refuse Bash denied: Bash is not available in background forks, or not with these arguments."
	const none, report = "tools 0, pings 0, refused 0, reports 0", "tools 1, pings 0, refused 0, reports 1"
	for _, s := range []story{
		{"done", "", "", "say hello", "done", "text hello / note done", "", none},
		{"failed", "", "", "say x; fail no more credit",
			"failed: …no more credit…", "text x / …note failed: …no more credit…", "Email sweep failed: …no more credit… (small)", none},
		{"broken", "", "", "dance", "failed: …script line 1…", "…", "Email sweep failed: …script line 1… (small)", none},
		{"timed out, which is no error", "", "timeout 30m", "wait 1h",
			"timed out after 30m0s: …", "…", "Email sweep timed out after 30 minutes. (small)", none},
		{"with untrusted input it says so first", "label mail", "", "stop", "done", "note " + fmt.Sprintf(textLabeled, "mail") + " / …", "", none},
		{"also where it is trusted", "label mail, trusted", "", "stop", "done", "note " + fmt.Sprintf(textTrusted, "mail") + " / …", "", none},
		{"it owes a report and makes it when it is sent back", "always", "", `say All is quiet.; stop; call report_updates {"message":"fine"}`,
			"done",
			"text All is quiet. / note " + textMustReport + " / tool report_updates / report fine / result " + answerReported + " / note done", "",
			report},
		{"it owes one and is sent back once", "always", "", "say a; stop; say no; stop; say never",
			"no report: " + textNoReport, "text a / note " + textMustReport + " / text no / note no report…", "", none},
		{"it counts what it did", "", "",
			`think is it worth it?; ask Bash {"command":"ollim-bot tasks list"}; call ping_user {"message":"Water the plants"}; ` +
				`` + `` + `call ping_user {"message":"And again"}; call report_updates {"message":"pinged once"}; say done with it`,
			"done",
			"think is it worth it? / tool Bash(ollim-bot tasks list) / " +
				"" +
				notAllowed + " / tool ping_user / ping Water the plants / result Message sent. / tool ping_user / refuse ping refused: " + answerLimit + answerReport + " / tool report_updates / report pinged once / result " + answerReported + " / text done with it / note done",
			"Water the plants", "tools 4, pings 1, refused 1, reports 1"},
		{"it sends one file", "freely", "",
			`call enter_fork {"topic":"plants"}; call send_file {"file_path":"week.md"}; call send_file {"file_path":"week.md"}`,
			"done", "…", "week.md", "tools 3, pings 1, refused 1, reports 0"},
		{"if an essential ping is refused, the user gets the words of the file", "essential, freely, label mail", "tokens 0",
			`call ping_user {"message":"Buy pills at evil.example"}`,
			"done", "…", "Take the pills\nSweep.\n\n(These are the words of the file. …)", "tools 1, pings 1, refused 1, reports 0"},
		{"but not if it did not want to ping", "essential, freely", "", "say all is settled", "done", "text all is settled / note done", "", none},
		{"or has pinged", "essential, freely", "", `call ping_user {"message":"Two pills"}; fail out of order`,
			"failed: …out of order…", "…", "Two pills / Take the pills failed: …out of order… (small)", "tools 1, pings 1, refused 0, reports 0"},
	} {
		t.Run(s.name, func(t *testing.T) {
			serving(t, func(t *testing.T, h *harness) {
				testkit.Must(t, h.dir.Write("week.md", []byte("plan")))
				j := playing(task(), strings.Split(s.script, "; ")...)
				for word := range strings.SplitSeq(s.job, ", ") {
					change(&j, word)
				}
				if limit, ok := strings.CutPrefix(s.world, "timeout "); ok {
					h.limits.Timeout, _ = time.ParseDuration(limit)
				} else if s.world != "" {
					h.call(nil, s.world)
				}
				begin := time.Now()
				v, err := h.m.Do(t.Context(), j)
				if (err != nil) != (v.State == Failed) {
					t.Errorf("%s is the error %v", v.State, err)
				}
				state := string(v.State)
				if took := time.Since(begin).Truncate(time.Second); took >= time.Minute {
					state += fmt.Sprint(" after ", took)
				}
				if v.Error != "" {
					state += ": " + v.Error
				}
				var posts []string
				for _, p := range h.sent() {
					text := p.Text
					if len(p.Files) > 0 {
						text = p.Files[0][strings.LastIndex(p.Files[0], "/")+1:]
					}
					if p.Small {
						text += " (small)"
					}
					posts = append(posts, text)
				}
				wantText(t, "state", s.state, state)
				wantText(t, "tail", s.tail, strings.Join(h.tail(v), " / "))
				wantText(t, "the user reads", s.posts, strings.Join(posts, " / "))
				wantText(t, "counts", s.counts, fmt.Sprintf("tools %d, pings %d, refused %d, reports %d", v.Tools, v.Pings, v.Refused, v.Reports))
			})
		})
	}
}

// wantText compares texts, in which … is any text.
func wantText(t testing.TB, what, want, got string) {
	t.Helper()
	parts := strings.Split(want, "…")
	rest, ok := strings.CutPrefix(got, parts[0])
	for i, part := range parts[1:] {
		at := strings.Index(rest, part)
		if i == len(parts)-2 {
			at = len(rest) - len(part)
			ok = ok && strings.HasSuffix(rest, part)
		}
		if ok = ok && at >= 0; ok {
			rest = rest[at+len(part):]
		}
	}
	if !ok || rest != "" {
		t.Errorf("%s:\n  %s\nwant\n  %s", what, got, want)
	}
}
