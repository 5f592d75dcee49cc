package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"slices"
	"strings"
	"time"

	"ollimbot/cmd/internal/console"
	"ollimbot/core"
	"ollimbot/core/base/clean"
	"ollimbot/core/base/tail"
	"ollimbot/core/base/words"
	"ollimbot/core/command"
	"ollimbot/core/work/fork"
)

// forksShown is how many runs on record a list shows, newest first.
const forksShown = 20

// followEvery is the interval at which a followed tail reads new lines.
const followEvery = 200 * time.Millisecond

type runsCmds struct {
	List runsListCmd `cmd:"" default:"withargs"`
	Tail runsTailCmd `cmd:""`
}

type runsListCmd struct {
	console.AsJSON
}

// Run lists the runs that are under way, those that wait in the running bot, and the newest on record, as the pane does.
func (c *runsListCmd) Run(p *process, at console.DataDir, bot *core.Bot) error {
	views, err := ledger(at)
	if err != nil {
		return err
	}
	for _, v := range bot.SnapshotAt(at.Now).Forks {
		if v.State == fork.Waiting {
			views = append(views, v)
		}
	}
	order := func(v fork.View) int { return slices.Index([]fork.State{fork.Waiting, fork.Running}, v.State) } // -1 for those that have ended
	slices.SortStableFunc(views, func(a, b fork.View) int { return cmp.Compare(order(b), order(a)) })
	lines := console.Each(views, func(v fork.View) string { return forkLine(v, at.Now) })
	return p.Answer(c.JSON, append([]fork.View{}, views...), console.OrNone(lines, "no background runs yet"))
}

// ledger reads the newest runs. A run without an end belongs to the running bot; if no
// bot is running, it was interrupted.
func ledger(at console.DataDir) ([]fork.View, error) {
	views, err := fork.Ledger(at.Dir, forksShown)
	if err != nil {
		return nil, err
	}
	if _, running := at.Dir.Running(); !running {
		for i := range views {
			if views[i].Live() {
				views[i].State = fork.Interrupted
			}
		}
	}
	return views, nil
}

// forkLine is one run of the list.
func forkLine(v fork.View, now time.Time) string {
	facts := []string{words.Count(v.Tools, "tool call")}
	if v.NoModel {
		facts[0] = "no model"
	}
	for _, f := range []struct {
		n    int
		what string
	}{{v.Pings, "ping"}, {v.Quiet, "quiet message"}, {v.Reports, "report"}} {
		if f.n > 0 {
			facts = append(facts, words.Count(f.n, f.what))
		}
	}
	if v.Label != "" && !v.Trusted {
		facts = append(facts, "handles untrusted input: "+string(v.Label))
	}
	if v.Refused > 0 {
		facts = append(facts, fmt.Sprintf("%d refused", v.Refused))
	}
	if v.Late {
		facts = append(facts, "late")
	}
	for _, text := range []string{v.Stopped, v.Error} {
		if text != "" {
			facts = append(facts, text)
		}
	}
	began := cmp.Or(v.Started, v.Queued).In(now.Location()).Format("Mon 15:04:05")
	return fmt.Sprintf("  %s  %-11s  %s  %7s  %s  (%s)", v.ID, v.State, began, forkTook(v, now), v.Title, strings.Join(facts, ", "))
}

func forkTook(v fork.View, now time.Time) string {
	if v.Started.IsZero() {
		return "-"
	}
	return words.Elapsed(cmp.Or(v.Ended, now).Sub(v.Started))
}

type runsTailCmd struct {
	Which  []string `arg:"" name:"id" complete:"run" help:"The run: its id, four characters of it, or words of its title."`
	Follow bool     `short:"f" help:"Wait for more lines until the run has ended."`
}

// Run prints a run's output from the file that the bot writes while it runs.
func (c *runsTailCmd) Run(p *process, at console.DataDir) error {
	id, err := runNamed(at, strings.Join(c.Which, " "))
	if err != nil {
		return err
	}
	page, err := fork.DiskTail(at.Dir, id, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("the output of run %s is not kept: ollim-bot runs shows the newest ones", clean.Line(id))
	}
	if err != nil {
		return err
	}
	if err := p.tailLines(at, page); err != nil || !c.Follow {
		return err
	}
	ctx, stop := p.Context()
	defer stop()
	return p.follow(ctx, at, id, page.Next)
}

// runNamed returns the ID of the run that a text names, of all that are on record.
func runNamed(at console.DataDir, text string) (string, error) {
	views, err := fork.Ledger(at.Dir, math.MaxInt)
	if err != nil {
		return "", err
	}
	things := console.Each(views, func(v fork.View) command.Thing { return command.Thing{ID: v.ID, Title: v.Title} })
	found, err := command.PickOne("run", things, text, true)
	return found.ID, err
}

// follow prints new lines until the run has ended or the user leaves.
func (p *process) follow(ctx context.Context, at console.DataDir, run string, next tail.Cursor) error {
	tick := time.NewTicker(followEvery)
	defer tick.Stop()
	for {
		// The state is read before the lines, so that the last ones are not missed.
		views, err := ledger(at)
		if err != nil {
			return err
		}
		page, err := fork.DiskTail(at.Dir, run, next)
		if err != nil {
			return err
		}
		if err := p.tailLines(at, page); err != nil {
			return err
		}
		next = page.Next
		if !slices.ContainsFunc(views, func(v fork.View) bool { return v.ID == run && v.Live() }) {
			return nil
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

func (p *process) tailLines(at console.DataDir, page tail.Page) error {
	for _, l := range page.Lines {
		p.Print("%s %-6s %s\n", l.At.In(at.Env.Zone).Format(time.TimeOnly), l.Kind, l.Text)
	}
	return p.Unwritten()
}
