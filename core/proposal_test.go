package core

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ollimbot/core/base/testkit"
	"ollimbot/core/command"
	"ollimbot/core/safety/audit"
	"ollimbot/core/talk/transcript"
	"ollimbot/routines"
	"ollimbot/routines/schedule"
)

const (
	tidyID   = "cccc0001"
	tidyFile = "routines/tidy.md"

	oldText, newText = "Tidy up the desk.", "Delete everything."
)

// tidy returns the user's routine, which has more rights than the conversation.
func tidy(body string) string { return everyMinute(tidyID, bash, body) }

// fired counts the runs with each of the bodies, within three minutes from the middle of the current one.
func fired(r *recorder, bodies ...string) []int {
	time.Sleep(time.Until(time.Now().Truncate(time.Minute).Add(90 * time.Second)))
	old := len(r.messages())
	time.Sleep(3 * time.Minute)
	counts := make([]int, len(bodies))
	for _, m := range r.messages()[old:] {
		for i, body := range bodies {
			if strings.Contains(m, "\n"+body) { // the schedule quotes it within a line
				counts[i]++
			}
		}
	}
	return counts
}

// editing tells a story of the user's routine, with what the engine is sent.
func editing(t *testing.T, files []file, tale func(w *world, r *recorder)) {
	t.Helper()
	r := &recorder{Engine: offline()}
	setting{engine: r, files: append(files, file{tidyFile, tidy(oldText)})}.tell(t, func(w *world) { tale(w, r) })
}

func TestAnEditOfTheAgentsSuspendsTheEditAndNotTheRoutine(t *testing.T) {
	editing(t, nil, func(w *world, r *recorder) {
		fires := func(what string, counts ...int) {
			w.Helper()
			w.is(what+", the old and the new text fired", fired(r, oldText, newText), counts)
		}
		w.pen().write(tidyFile, tidy(newText))
		v := w.view(tidyID)
		w.needs(v.Waits == "" && !v.Next.IsZero() && strings.Contains(v.Proposed.Why, "use Bash"), "the routine is held", v)
		w.shows("the diff", v.Proposed.Diff, "-"+oldText+"\n+"+newText)
		for _, e := range w.Snapshot().Schedule.Entries {
			w.holds(e.ID != tidyID || !e.FireTime.After(w.now()) || !e.Held && e.Tag == schedule.TagProposed, "its row says", e)
		}
		w.is("notices", w.noted("The agent's edit of routines/tidy.md waits for you: it may use Bash"), 1)
		p := w.preview(tidyID)
		w.shows("the preview", p, oldText)
		w.lacks("the preview", p, newText)
		w.shows("the description", w.describe(tidyID), oldText+"\n\nWhat the agent's edit would change")
		fires("while the edit waits", 3, 0)
		w.refuses("has changed since you saw it", command.AllowTask{ID: tidyID, Version: "another"})
		w.refuses("allow or refuse it first", command.EditTask{ID: tidyID, Version: v.Version})

		out := w.do(command.AllowTask{ID: tidyID, Version: v.Proposed.Version})
		fires("once allowed", 0, 3)
		w.do(out.Undo)
		fires("once withdrawn", 3, 0)

		out = w.do(command.RefuseEdit{ID: tidyID, Version: v.Proposed.Version})
		w.is("refused, the file", w.read(tidyFile), tidy(oldText))
		w.is("refused, what waits", w.view(tidyID).Proposed.Version, "")
		trash, _ := filepath.Glob(filepath.Join(w.root, "state/trash/*refused-routines.tidy.md"))
		w.holds(len(trash) == 1 && len(routines.RemovedTasks(w.dir, w.now())) == 0, "in the trash", trash)
		w.do(out.Undo)
		w.holds(w.view(tidyID).Proposed.Why != "" && w.view(tidyID).Waits == "", "undone, it does not wait again", w.view(tidyID))
		w.do(command.RefuseEdit{ID: tidyFile})
		fires("once refused", 3, 0)
		w.refuses("no edit of Task cccc0001 is waiting", command.RefuseEdit{ID: tidyID})
		list, _, err := w.audit.Read(100)
		testkit.Must(t, err)
		var actions []string
		for _, e := range list {
			if e.Subject == tidyID || e.Subject == tidyFile {
				actions = append(actions, e.Action)
			}
		}
		w.is("recorded", actions, []string{audit.TaskReleased, audit.TaskHeld, audit.TaskRefused, audit.TaskChanged, audit.TaskRefused})
	})
}

// A bot that starts on a copy of the directory sees the state left by a kill at that moment.
func TestAKillAtAnyMomentOfAnEditLeavesTheTextInForce(t *testing.T) {
	editing(t, nil, func(w *world, _ *recorder) {
		killed := func(when, file string, counts ...int) {
			w.Helper()
			left := home{t: w, root: filepath.Join(w.TempDir(), "data"), zone: w.home.zone}
			testkit.Must(w, os.CopyFS(left.root, os.DirFS(w.root)))
			after := &recorder{Engine: offline()}
			end := begin(t, left.bot(after))
			w.is(when+", the texts fired", fired(after, oldText, newText), counts)
			w.is(when+", the file", left.read(tidyFile), file)
			end()
		}
		p := w.pen()
		u := p.call("Write", map[string]any{"file_path": tidyFile, "content": tidy(newText)})
		d := p.decide(u)
		w.needs(d.Allow, "the call", d)
		killed("before the file is written", tidy(oldText), 3, 0)
		w.write(tidyFile, tidy(newText))
		killed("before the call has ended", tidy(newText), 3, 0)
		p.s.Hooks(nil).PostTool(t.Context(), u)
		w.schedule.Refresh(tidyFile)
		killed("while it waits", tidy(newText), 3, 0)
		info, err := os.Stat(filepath.Join(w.root, "state/approved", routines.Digest([]byte(tidy(oldText)))+".md"))
		w.holds(err == nil && info.Mode().Perm() == 0o600, "the text in force", info, err)
		out := w.do(command.AllowTask{ID: tidyID})
		killed("once it is allowed", tidy(newText), 0, 3)
		w.do(out.Undo)
		w.do(command.RefuseEdit{ID: tidyID})
		killed("once it is refused", tidy(oldText), 3, 0)
	})
}

func TestAnEditOfAnEditAndSeveralFilesWaitOverTheTextsInForce(t *testing.T) {
	other := strings.ReplaceAll(tidy("Water the plants."), tidyID, "cccc0002")
	editing(t, []file{{"routines/water.md", other}}, func(w *world, r *recorder) {
		p := w.pen()
		p.write(tidyFile, tidy("Delete half."))
		p.write(tidyFile, tidy(newText))
		p.write("routines/water.md", strings.ReplaceAll(other, "Water", "Burn"))
		w.is("fired while all wait", fired(r, oldText, "Delete half.", newText, "Water the", "Burn the"), "[3 0 0 3 0]")
		w.do(command.AllowTask{ID: "cccc0002"})
		w.is("fired with one allowed", fired(r, oldText, newText, "Water the", "Burn the"), "[3 0 0 3]")
		// A user's change to a file with a pending edit takes precedence.
		w.userWrites(tidyFile, tidy("Tidy up the shelf."))
		v := w.view(tidyID)
		w.holds(v.Proposed.Version == "" && v.Waits == "", "the user's text waits", v)
		p.write(tidyFile, tidy(newText))
		w.is("fired after the user's own edit", fired(r, oldText, newText, "Tidy up the shelf."), "[0 0 3]")
	})
}

func TestARefusedOrAllowedTimeFiresNothingTwice(t *testing.T) {
	at := func(cron, body string) string { return strings.ReplaceAll(tidy(body), "* * * * *", cron) }
	editing(t, nil, func(w *world, r *recorder) {
		w.userWrites(tidyFile, at("*/10 * * * *", oldText))
		w.pen().write(tidyFile, at("*/5 * * * *", newText))
		for w.now().Minute()%10 != 0 || w.now().Second() < 20 {
			time.Sleep(time.Second)
		}
		old := len(r.messages())
		w.do(command.AllowTask{ID: tidyID})
		w.sleep(30 * time.Second)
		w.is("fired in the minute of the old one", len(r.messages())-old, 0)
		w.sleep(10 * time.Minute)
		since := strings.Join(r.messages()[old:], "\n")
		w.lacks("what fired since", since, oldText)
		w.is("the new text fired", strings.Count(since, "\n"+newText), 2)
	})
}

// The card appears in the chat and on the remote surface, and its buttons decide.
func TestAnEditThatWaitsIsACardWithADiffAndTwoButtons(t *testing.T) {
	for i, allow := range []bool{true, false} {
		editing(t, nil, func(w *world, _ *recorder) {
			w.pen().write(tidyFile, tidy(newText))
			w.sleep(time.Second)
			card := func() (e transcript.Entry) {
				for _, e := range w.Snapshot().Chat {
					if e.Embed != nil && strings.Contains(e.Embed.Title, "Edit of Task cccc0001") {
						return e
					}
				}
				w.Fatalf("no card in %+v", w.Snapshot().Chat)
				return e
			}
			e := card()
			w.shows("the card", e.Text, "```diff\n@@", "-"+oldText+"\n+"+newText+"\n```")
			w.needs(len(e.Embed.Buttons) == 2, "buttons", e.Embed.Buttons)
			click := command.Click{Message: e.ID, ID: e.Embed.Buttons[i].Action}
			w.do(click)
			w.sleep(time.Second)
			w.is("the new text is in the file", w.read(tidyFile) == tidy(newText), allow)
			w.is("what waits", w.view(tidyID).Proposed.Version, "")
			w.is("buttons after the answer", len(card().Embed.Buttons), 0)
			w.refuses("is no longer waiting", click)
		})
	}
}

func TestAWebhookGoesOnWhileItsEditWaits(t *testing.T) {
	const rel = "webhooks/ci.md"
	hook := func(extra, body string) file {
		return task(rel, "id: ci\n"+extra+"fields:\n  type: object\n  properties: {repo: {type: string, maxLength: 9}}\n  additionalProperties: false\n", body)
	}
	story(t, []file{hook("", "Look.")}, func(w *world) {
		w.pen().write(rel, hook(bash, "Delete.").text)
		s, ok := w.webhooks.index.Find("ci")
		w.holds(ok && s.Body == "Look." && len(s.Allowed) == 0, "in force is", s)
		problems := w.Snapshot().Schedule.Problems
		w.needs(len(problems) == 1 && problems[0].File == rel, "its row", problems)
		w.shows("its diff", problems[0].Proposed.Diff, "-Look.\n+Delete.")
		w.do(command.RefuseEdit{ID: rel, Version: problems[0].Proposed.Version})
		w.is("refused, the file", w.read(rel), hook("", "Look.").text)
		w.is("problems", len(w.Snapshot().Schedule.Problems), 0)
	})
}

// Z5: the agent cannot take away the proof that a sender must give.
func TestTheAgentCannotLoosenWhoMaySendAWebhook(t *testing.T) {
	hook := func(keys string) file {
		return task("webhooks/ci.md", "id: ci\n"+keys+"fields: {type: object, properties: {repo: {type: string}}}\n", "Look.")
	}
	const mine = "verify: github\nsecret-env: CI_SECRET\n"
	for _, keys := range []string{"", "verify: gitlab\nsecret-env: CI_SECRET\n", "verify: github\nsecret-env: OTHER_SECRET\n", mine + "delivery-header: X-Any\n"} {
		story(t, []file{hook(mine)}, func(w *world) {
			w.pen().try("webhooks/ci.md", hook(keys).text)
			s, ok := w.webhooks.index.Find("ci")
			proof := []string{s.Verify, s.SecretEnv, s.DeliveryHeader}
			w.is(fmt.Sprintf("%q: in force is", keys), proof, []string{"github", "CI_SECRET", ""})
			w.holds(ok && s.Proposed.Version != "", keys+" does not wait", s)
		})
	}
}
