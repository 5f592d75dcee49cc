package core

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"ollimbot/core/agent/messages/provider"
	"ollimbot/core/brief/guide"
	"ollimbot/core/brief/skill"
	"ollimbot/core/mcp"
	"ollimbot/core/safety/policy"
	"ollimbot/core/storage/config"
	"ollimbot/core/storage/store"
	"ollimbot/core/work/money"
	"ollimbot/core/work/webhook"
	"ollimbot/routines"
	"ollimbot/routines/schedule"
	"ollimbot/routines/watch"
)

// problems is what is known of the problems in the user's files.
type problems struct {
	mu     sync.Mutex // guards the fields below
	minute time.Time  // when slow was read
	slow   []routines.Problem

	stale chan struct{} // capacity 1: slow is older than a minute
	wake  chan struct{} // capacity 1: there is something to say later

	telling sync.Mutex           // serialises telling and access to its file, and guards the field below
	since   map[string]time.Time // when each problem appeared, by file and message
}

// Problems returns everything that is wrong with the user's files, errors first: the files of the data directory and
// those of the user's own settings. It is the one list that the commands, the dashboard, the log and the phone show.
// Files that no index holds are read at most once a minute, in the running bot outside of this call.
func (b *Bot) Problems(now time.Time) []routines.Problem {
	_, list := b.policy.Load()
	list = slices.Concat(list, b.purse.Prices().Problems(), b.o.Providers.Problems(), b.servers.Problems(), b.settings.Problems(),
		b.index.Set().Problems, b.webhooks.index.Problems(), b.review.WaitingTasks(), b.review.Beside(), Lacking(b, now), slowProblems(b))
	slices.SortStableFunc(list, routines.ByWeight)
	return list
}

// slowProblems returns the problems of the files that are read for this alone.
func slowProblems(b *Bot) []routines.Problem {
	p := &b.problems
	p.mu.Lock()
	defer p.mu.Unlock()
	switch minute := b.now().Truncate(time.Minute); {
	case p.minute.Equal(minute):
	case p.minute.IsZero() || b.started.Load() == nil:
		p.minute, p.slow = minute, readSlow(b)
	default: // a frame does not wait for the disk
		select {
		case p.stale <- struct{}{}:
		default:
		}
	}
	return p.slow
}

// readAgain reads those files now.
func readAgain(b *Bot) {
	now, list := b.now(), readSlow(b)
	b.problems.mu.Lock()
	defer b.problems.mu.Unlock()
	b.problems.minute, b.problems.slow = now.Truncate(time.Minute), list
}

// watchSlow reads those files when a viewer has seen an old list, until ctx ends.
func watchSlow(ctx context.Context, b *Bot) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-b.problems.stale:
			readAgain(b)
			b.viewers.notify()
		}
	}
}

func readSlow(b *Bot) []routines.Problem {
	_, skills := skill.List(b.dir)
	_, agents := guide.Subagents(b.dir)
	list := slices.Concat(config.EnvProblems(b.dir), skills, agents)
	if weak := webhook.WeakSecret("WEBHOOK_SECRET", b.o.Env.WebhookSecret); weak != "" {
		list = append(list, routines.Problem{File: config.EnvFile, Severity: routines.Warning, Message: weak})
	}
	for _, s := range b.webhooks.index.Specs(false) {
		if lacks := s.Lacks(variable(b.o)(s.SecretEnv)); lacks != "" {
			list = append(list, routines.Problem{File: s.Path, Severity: routines.Warning, Message: lacks})
		}
	}
	if b.o.UserFiles != nil {
		list = append(list, b.o.UserFiles()...)
	}
	return list
}

// Untold returns the problems that no task's row says: a task that waits for approval or lacks something says it itself.
func (s *Snapshot) Untold() []routines.Problem {
	return slices.DeleteFunc(slices.Clone(s.Schedule.Problems), func(p routines.Problem) bool {
		return p.Lacks != "" || p.Waits && slices.ContainsFunc(s.Schedule.Tasks, func(t schedule.TaskView) bool { return t.Path == p.File })
	})
}

// written are the files besides tasks and webhooks whose last valid version is kept, with the mistakes in a text.
var written = []struct {
	rel   string
	check func(b *Bot, data []byte) []routines.Problem
}{
	{policy.FileName, func(_ *Bot, data []byte) []routines.Problem { return policy.Check(data) }},
	{money.PricesFile, func(_ *Bot, data []byte) []routines.Problem { return money.CheckPrices(data) }},
	{provider.File, func(_ *Bot, data []byte) []routines.Problem { return provider.Check(data) }},
	{mcp.File, func(b *Bot, data []byte) []routines.Problem { return mcp.Check(data, lookup(b.o)) }},
	{config.RuntimeFile, func(_ *Bot, data []byte) []routines.Problem { return config.Check(config.RuntimeFile, data) }},
	{config.SettingsFile, func(_ *Bot, data []byte) []routines.Problem { return config.Check(config.SettingsFile, data) }},
}

// keepValid keeps the versions in force of the files that have changed, and forgets those of files that are gone. Only
// the running bot does, so that a command beside it writes nothing.
func keepValid(b *Bot, changed watch.Batch) {
	concerns := func(rel string) bool { return changed.Full || slices.Contains(changed.Names, rel) }
	keep := func(rel string, valid func(data []byte) bool) {
		if !concerns(rel) {
			return
		}
		if data, err := b.dir.Read(rel); err == nil && valid(data) {
			if err := b.dir.KeepValid(rel, data); err != nil {
				b.log.Warn("the last valid version of a file was not kept", "file", rel, "error", err)
			}
		}
	}
	version := func(digest string) func([]byte) bool {
		return func(data []byte) bool { return routines.Digest(data) == digest }
	}
	for _, f := range written {
		keep(f.rel, func(data []byte) bool { return !routines.HasErrors(f.check(b, data)) })
	}
	for _, t := range b.index.Set().Tasks() {
		keep(t.Path, version(t.Digest))
	}
	for _, s := range b.webhooks.index.Specs(false) {
		keep(s.Path, version(s.Digest))
	}
	there := func(rel string) bool {
		if !concerns(rel) {
			return true
		}
		_, err := os.Lstat(b.dir.Path(rel))
		return !os.IsNotExist(err)
	}
	for _, folder := range []string{"", store.StateDir, routines.RoutineFolder, routines.ReminderFolder, webhook.Folder} {
		if err := b.dir.PruneValid(folder, there); err != nil && !os.IsNotExist(err) {
			b.log.Warn("old versions of files were not removed", "folder", folder, "error", err)
		}
	}
}

// reportedFile holds what was reported to the user, so that each problem is reported once. What concerns a chain is
// kept when its file is gone, because each check is a new file.
const reportedFile = store.StateDir + "/preflight.json"

const (
	chainMark    = "chain "
	saidMark     = " (said)" // behind the key of a problem that was said in the conversation
	keptReported = 500
)

const (
	// sayAfter is how long a problem must last until it is said in the conversation, and so on the phone: most are mended by
	// the next save.
	sayAfter = time.Minute
	// problemsEvery is the interval of the checks: a login can expire without a changed file.
	problemsEvery = 10 * time.Minute
)

// lookAgain checks the files now, because some have changed.
func lookAgain(b *Bot, changed watch.Batch) {
	b.preflight.mu.Lock()
	b.preflight.set = nil
	b.preflight.mu.Unlock()
	keepValid(b, changed)
	if tellProblems(b) {
		select {
		case b.problems.wake <- struct{}{}:
		default:
		}
	}
}

// watchProblems reports to the user what is wrong until ctx ends.
func watchProblems(ctx context.Context, b *Bot) error {
	keepValid(b, watch.Batch{Full: true})
	for {
		wait := problemsEvery
		if tellProblems(b) {
			wait = sayAfter
		}
		select {
		case <-ctx.Done():
			return nil
		case <-b.problems.wake:
		case <-time.After(wait):
		}
	}
}

// tellProblems reports what is wrong with the user's files: in the log and as a notice at once, and in the conversation once
// it has lasted. Each is reported once until it is mended; in the conversation, over restarts. more means that some were not
// said there yet.
func tellProblems(b *Bot) (more bool) {
	b.problems.telling.Lock()
	defer b.problems.telling.Unlock()
	readAgain(b)
	var r reports
	if _, err := b.dir.LoadJSON(reportedFile, &r.before, b.log); err != nil {
		b.log.Warn("the reported problems of files could not be read", "error", err)
		return false
	}
	now, chains := b.now(), chainsOf(b.index.Set())
	since, say := map[string]time.Time{}, []string(nil)
	r.now = slices.DeleteFunc(slices.Clone(r.before), func(key string) bool { return !strings.HasPrefix(key, chainMark) })
	for _, p := range b.Problems(now) {
		if p.Waits { // there is a card
			continue
		}
		text := p.File + ": " + p.Message
		key := text
		if first := chains[p.File]; first != "" {
			key = chainMark + first + ": " + p.Message
		}
		at, known := b.problems.since[text]
		if !known {
			at = now
			b.log.Warn("a file has a problem", "file", p.File, "line", p.Line, "problem", p.Message)
		}
		since[text] = at
		text = p.Position() + ": " + p.Message
		switch {
		case p.Lacks != "":
			if r.add(key) {
				b.notes.Add(text)
			}
		case !known && !filepath.IsAbs(p.File) && p.File[0] != '~': // a dashboard says itself what is wrong with its files
			b.warn(text)
		}
		if !slices.Contains(r.before, key+saidMark) && now.Sub(at) < sayAfter {
			more = true
		} else if r.add(key + saidMark) {
			say = append(say, p.Place()+": "+p.Message)
		}
	}
	b.problems.since = since
	if len(say) > 0 {
		b.chat.Say(textProblems + strings.Join(say, "\n"))
	}
	if r.now = r.now[max(0, len(r.now)-keptReported):]; !slices.Equal(r.now, r.before) {
		if err := b.dir.WriteJSON(reportedFile, r.now); err != nil {
			b.log.Warn("the reported problems of files could not be saved", "error", err)
		}
	}
	return more
}

// reports are the problems that were reported to the user before, and those that are now.
type reports struct{ before, now []string }

// add records a report. news means that it was not made before.
func (r *reports) add(key string) (news bool) {
	if !slices.Contains(r.now, key) {
		r.now = append(r.now, key)
	}
	return !slices.Contains(r.before, key)
}

// chainsOf returns the first check of each chain, by file.
func chainsOf(set *routines.Set) map[string]string {
	chains := map[string]string{}
	for _, r := range set.Reminders {
		if r.MaxChain > 0 {
			chains[r.Path] = cmp.Or(r.ChainParent, r.ID)
		}
	}
	return chains
}
