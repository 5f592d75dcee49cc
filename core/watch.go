package core

import (
	"context"
	"path"
	"slices"
	"time"

	"ollimbot/core/config"
	"ollimbot/core/policy"
	"ollimbot/routines"
	"ollimbot/routines/watch"
)

// configFiles are those of the runtime configuration.
var configFiles = []string{config.RuntimeFile, config.SettingsFile}

// watched are the folders whose files take effect as they are saved. state/ is
// among them because a command beside the running bot changes it.
var watched = []string{"routines", "reminders", "webhooks", "state"}

// watch keeps the index, the runtime configuration and the dashboards true to
// what lies in the data directory.
func (b *Bot) watch(ctx context.Context) error {
	return watch.Run(ctx, watch.Options{
		Root: b.dir.Root(), Folders: watched,
		Quiet: 30 * time.Millisecond, Rescan: time.Minute,
		Match: interesting, Changed: b.filesChanged, Log: b.log,
	})
}

// interesting keeps editors' swap files and our own temporary ones from
// causing any work.
func interesting(rel string) bool {
	dir, name := path.Split(rel)
	if dir == "state/" {
		switch name {
		case "config.json", "settings.json", "ping_budget.json", "pending_updates.json", "pings.jsonl", "provenance.json":
			return true
		}
		return false
	}
	return routines.IsTaskFile(name)
}

// filesChanged is called by the watcher, never concurrently.
func (b *Bot) filesChanged(batch watch.Batch) {
	if b.dir.Present() != nil {
		return // no file was removed: all of them are away for a while
	}
	if batch.Full || slices.ContainsFunc(batch.Names, func(rel string) bool { return slices.Contains(configFiles, rel) }) {
		b.reloadRuntime()
	}
	if batch.Full || slices.Contains(batch.Names, policy.ProvenanceFile) {
		b.reloadProvenance()
	}
	changed := !b.hooks.Apply(batch).Empty()
	if changed = b.schedule.Apply(batch) || changed; changed || !batch.Idle {
		b.notify() // no dashboard needs to look where the minute's look has found nothing
	}
}

// reloadRuntime reads the configuration; values that it does not understand are
// reported and replaced by their defaults. While a file is no JSON at all, as
// in the middle of an edit, what was in force stays so.
func (b *Bot) reloadRuntime() {
	r, problems, err := config.LoadRuntime(b.dir)
	old := b.runtime.Load()
	if err != nil {
		if old == nil {
			b.runtime.Store(&r)
		}
		b.log.Error("configuration was not read: mend the file; until then the values before it, or the defaults, are in force", "error", err)
		return
	}
	b.runtime.Store(&r)
	if old != nil && *old == r {
		return
	}
	for _, p := range problems {
		b.log.Warn("configuration value was not understood", "problem", p)
		b.notice(Warn, p)
	}
}
