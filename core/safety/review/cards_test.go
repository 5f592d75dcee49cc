package review

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"ollimbot/core/base/testkit"
	"ollimbot/core/command"
	"ollimbot/core/mcp"
	"ollimbot/core/safety/policy"
	"ollimbot/core/storage/store/storetest"
	"ollimbot/core/talk/post"
	"ollimbot/routines"
)

// propose edits a file as the agent, and returns the version of the edit.
func (o *office) propose(t *testing.T, rel, more string) (version string) {
	t.Helper()
	old, now := storetest.Text(t, o.dir, rel), storetest.Text(t, o.dir, rel)+more
	testkit.Must(t, routines.KeepText(o.dir, []byte(old)))
	version = routines.Digest([]byte(now))
	entry := `{"written": {"` + version + `": {"path": "` + rel + `", "at": "2020-01-01T00:00:00Z", "before": "` + routines.Digest([]byte(old)) + `"}}}`
	storetest.Put(t, o.dir, "state/provenance.json", entry)
	o.edits[version] = "it may write files"
	storetest.Put(t, o.dir, rel, now)
	if _, err := o.files.Load(); err != nil {
		t.Fatal(err)
	}
	o.FileWaits(policy.Writer{}, rel, "it may write files.")
	return version
}

// runs returns a story during which the desk runs.
func runs(t *testing.T, story func(t *testing.T)) func(o *office) {
	return func(o *office) {
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- o.Run(ctx) }()
		synctest.Wait() // it has looked at what there is
		story(t)
		stop()
		testkit.Must(t, <-done)
	}
}

func TestTheEditOfATaskOrWebhookIsAllowedOrRefusedByItsCard(t *testing.T) {
	for _, rel := range []string{routineFile, reminderFile, hookFile} {
		for _, allow := range []bool{true, false} {
			synctest.Test(t, func(t *testing.T) {
				o := open(t)
				version := o.propose(t, rel, "And the lawn.\n")
				runs(t, func(t *testing.T) {
					synctest.Wait()
					if len(o.sent) != 1 || !strings.Contains(o.sent[0].Text, "+And the lawn.\n```") || o.sent[0].Embed.Footer != rel {
						t.Fatalf("sent %+v", o.sent)
					}
					if !strings.HasPrefix(o.notes[0], "The agent's edit of "+rel+" waits for you: it may write files.") {
						t.Errorf("noted %q", o.notes)
					}
					if w := o.Waiting(); len(w) != 1 || w[0].Version != version || !strings.Contains(w[0].Proposed.Diff, "+And the lawn.") {
						t.Errorf("waiting: %+v", w)
					}
					_, press, _ := strings.Cut(o.sent[0].Embed.Buttons[0].Action, ":")
					if _, err := o.Pressed(t.Context(), allow, press[:8]); err == nil {
						t.Error("any version is meant")
					}
					out, err := o.Pressed(t.Context(), allow, press)
					testkit.Must(t, err)
					synctest.Wait()
					if got := strings.Contains(storetest.Text(t, o.dir, rel), "lawn"); got != allow || len(o.Waiting()) != 0 {
						t.Errorf("%s: the file has the edit: %v; waiting %+v", rel, got, o.Waiting())
					}
					if len(o.retired) != 1 || o.retired[0] != "1" {
						t.Errorf("retired %v", o.retired)
					}
					if undone := out.Undo != nil; undone != (allow || rel != hookFile) {
						t.Errorf("%s: undone by %+v", rel, out.Undo)
					}
					if _, err := o.Pressed(t.Context(), allow, press); err == nil {
						t.Error("it is decided twice")
					}
				})(o)
			})
		}
	}
}

func TestACardIsSentOnceThereIsANetworkIfTheEditStillWaits(t *testing.T) {
	for _, decided := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			o := open(t)
			o.offline.Store(true)
			o.propose(t, routineFile, "And the lawn.\n")
			runs(t, func(t *testing.T) {
				time.Sleep(5 * time.Minute)
				synctest.Wait()
				if decided {
					_, err := o.refuse(t.Context(), command.RefuseEdit{ID: routineID})
					testkit.Must(t, err)
				}
				o.offline.Store(false)
				time.Sleep(2 * time.Minute)
				synctest.Wait()
				if sent := len(o.sent) == 1; sent == decided {
					t.Errorf("decided %v: sent %+v", decided, o.sent)
				}
			})(o)
		})
	}
}

func TestOnlyTheEditThatWasSeenIsRefused(t *testing.T) {
	o := open(t)
	if _, err := o.refuse(t.Context(), command.RefuseEdit{ID: routineID}); err == nil {
		t.Error("a text in force is refused")
	}
	o.propose(t, routineFile, "And the lawn.\n")
	if _, err := o.refuse(t.Context(), command.RefuseEdit{ID: routineID, Version: "another"}); err == nil {
		t.Error("what was not seen is refused")
	}
	storetest.Put(t, o.dir, routineFile, "changed")
	if _, err := o.refuse(t.Context(), command.RefuseEdit{ID: routineID}); err == nil || storetest.Text(t, o.dir, routineFile) != "changed" {
		t.Error("what has just been saved is overwritten")
	}
}

func TestACardIsCutAndSaysWhereToSeeAll(t *testing.T) {
	edit := routines.Proposal{Version: strings.Repeat("a", 64), Why: "it may"}
	p := card(held{file: "routines/a.md", digest: edit.Version, task: routines.Task{Proposed: edit}}, "+```\n"+strings.Repeat("+line\n", 500)+"+the end")
	if !strings.HasSuffix(p.Text, "+the end\n```"+textCardCut) || strings.Count(p.Text, "```") != 2 || !strings.Contains(p.Text, " characters are not shown here⟧") {
		t.Errorf("the card is %q", p.Text)
	}
	if !strings.HasPrefix(p.Whole, "+```\n+line") || !strings.HasSuffix(p.Whole, "+line\n+the end") { // N2
		t.Errorf("attached is %q", p.Whole)
	}
	for _, b := range p.Embed.Buttons {
		if _, err := b.CustomID(nil); err != nil {
			t.Error(err)
		}
		if b.CheckAgent() == nil {
			t.Errorf("an agent may send the button %s", b.Action)
		}
	}
}

// A new file gets a card on the phone too, not only an edit. It has no effect until it is allowed.
func TestANewFileIsAllowedByItsCard(t *testing.T) {
	for _, rel := range []string{routineFile, hookFile, skillFile} {
		synctest.Test(t, func(t *testing.T) {
			o := open(t, rel)
			o.Recover()
			o.FileWaits(policy.Writer{}, rel, "it may write files.")
			runs(t, func(t *testing.T) {
				synctest.Wait()
				whole := "```diff\n+" + strings.ReplaceAll(strings.TrimSpace(storetest.Text(t, o.dir, rel)), "\n", "\n+") + "\n```"
				if len(o.sent) != 1 || !strings.HasSuffix(o.sent[0].Text, whole) || !strings.Contains(o.sent[0].Text, "it may write files. It has no effect until you allow it.") {
					t.Fatalf("sent %+v", o.sent)
				}
				_, press, _ := strings.Cut(o.sent[0].Embed.Buttons[0].Action, ":")
				if wait := o.sent[0].Embed.Buttons[1]; wait.Label != "Let it wait" || wait.Action != "dismiss:" {
					t.Errorf("the other button is %+v", wait)
				}
				if _, err := o.Pressed(t.Context(), false, press); err == nil {
					t.Error("what is no edit is refused")
				}
				o.whys[rel] = ""
				o.Settle()
				synctest.Wait()
				if len(o.retired) != 1 {
					t.Errorf("decided elsewhere, and the card is still there: %v", o.retired)
				}
			})(o)
		})
	}
}

// D6: the card of an edit that the agent makes while it answers does not ring beside the answer; one of a run does.
func TestTheCardOfAnEditRingsOnlyWithoutAnAnswer(t *testing.T) {
	for kind, want := range map[string]post.Kind{
		"main session": post.KindAside, "fork": post.KindAside, "background run": post.KindNews, "": post.KindNews,
	} {
		synctest.Test(t, func(t *testing.T) {
			o, w := open(t), policy.Writer{Kind: kind}
			storetest.Put(t, o.dir, serversFile, "{}")
			edits := mcp.NewEdits(o.dir, nil)
			runs(t, func(t *testing.T) {
				o.propose(t, routineFile, "And the lawn.\n")
				o.FileWaits(w, routineFile, "it may write files.")
				edits.Propose([]byte(`{"mcpServers": {}}`))
				o.tools["weather"] = change(1)
				o.ServersEdited(w)
				synctest.Wait()
				got := map[string]post.Kind{}
				for _, p := range o.sent {
					got[p.Cause] = p.Kind
				}
				if len(got) != 3 || got[routineFile] != want || got[serversFile] != want || got["mcp__weather"] != post.KindNews {
					t.Errorf("%q: %v", kind, got)
				}
			})(o)
		})
	}
}

// 31: an edit of the MCP servers' file waits like one of a task, and is decided in the same places.
func TestAnEditOfTheServersFileIsAllowedOrRefusedByItsCard(t *testing.T) {
	const old, edit = `{"mcpServers": {}}`, `{"mcpServers": {"weather": {"command": "npx", "env": {"API_KEY": "hunter2hunter2"}}}}`
	for _, allow := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			o := open(t)
			storetest.Put(t, o.dir, serversFile, old)
			edits := mcp.NewEdits(o.dir, nil)
			runs(t, func(t *testing.T) {
				if answer, waits := edits.Propose([]byte(edit)); !waits {
					t.Fatal(answer)
				}
				o.JudgeServers()
				synctest.Wait()
				if len(o.sent) != 1 || !strings.Contains(o.sent[0].Text, `+{"mcpServers": {"weather"`) || strings.Contains(o.sent[0].Text, "hunter2") {
					t.Fatalf("sent %+v", o.sent)
				}
				if len(o.notes) != 1 || !strings.HasPrefix(o.notes[0], "The agent's edit of .mcp.json waits for you: it changes your MCP servers") {
					t.Errorf("noted %q", o.notes)
				}
				list := o.Waiting()
				if len(list) != 1 || list[0].File != serversFile || list[0].Proposed.Diff == "" || len(o.Beside()) != 1 {
					t.Errorf("waiting: %+v", list)
				}
				if _, err := o.allow(t, command.AllowTask{ID: serversFile, Version: "another"}); err == nil {
					t.Error("what was not seen is allowed")
				}
				_, press, _ := strings.Cut(o.sent[0].Embed.Buttons[0].Action, ":")
				out, err := o.Pressed(t.Context(), allow, press)
				testkit.Must(t, err)
				synctest.Wait()
				want := map[bool]string{true: edit, false: old}[allow]
				if got := storetest.Text(t, o.dir, serversFile); got != want || len(o.Waiting()) != 0 || out.Decision.Subject != serversFile {
					t.Errorf("the file is %s, waiting %+v, decided %+v", got, o.Waiting(), out)
				}
				if len(o.retired) != 1 {
					t.Errorf("retired %v", o.retired)
				}
				if told := map[bool]string{true: "The user allowed your edit of .mcp.json", false: "The user refused your edit of .mcp.json"}[allow]; len(o.told) != 1 || !strings.HasPrefix(o.told[0], told) {
					t.Errorf("the agent is told %q", o.told)
				}
				if _, err := o.Pressed(t.Context(), allow, press); err == nil {
					t.Error("it is decided twice")
				}
			})(o)
		})
	}
}
