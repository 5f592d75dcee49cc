package core

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"time"

	"ollimbot/core/safety/policy"
	"ollimbot/core/storage/config"
	"ollimbot/core/storage/store"
	"ollimbot/core/storage/trash"
	"ollimbot/core/talk/notice"
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
		return slices.Contains(googleFiles, name)
	}
	return routines.IsTaskFile(name)
}

// filesChanged is called by the watcher, never concurrently.
func (b *Bot) filesChanged(batch watch.Batch) {
	if b.dir.Present() != nil {
		return // no file was removed: all of them are away for a while
	}
	b.dir.Remember(batch.Names...)
	if batch.Full || slices.ContainsFunc(batch.Names, func(rel string) bool { return slices.Contains(configFiles, rel) }) {
		b.reloadRuntime()
	}
	if batch.Full || slices.Contains(batch.Names, policy.ProvenanceFile) {
		b.reloadProvenance()
	}
	if slices.ContainsFunc(batch.Names, func(rel string) bool { return slices.Contains(googleFiles, path.Base(rel)) }) {
		b.googleChanged()
	}
	b.hooks.Apply(batch)
	b.schedule.Apply(batch)
	b.notify()
}

// setRuntime puts a configuration in force.
func (b *Bot) setRuntime(r *config.Runtime) {
	b.runtime.Store(r)
	b.moneyChanged()
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
	if old != nil && *old == r {
		return
	}
	b.setRuntime(&r)
	for _, p := range problems {
		b.log.Warn("configuration value was not understood", "problem", p)
		b.notices.Add(notice.Warn, p)
	}
}

const (
	// lookEvery is how often the bot looks whether its directory is still there.
	lookEvery = 20 * time.Second
	// tidyEvery is how often what was kept for long enough is removed.
	tidyEvery = 24 * time.Hour
)

// keepDirectory notices when the data directory goes away, is replaced or is
// emptied, and when it comes back, until ctx ends.
func (b *Bot) keepDirectory(ctx context.Context) error {
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	lost, tidied := "", time.Time{}
	for {
		lost = b.lookAtDirectory(lost)
		if now := b.now(); lost == "" && now.Sub(tidied) >= tidyEvery {
			tidied = now
			b.dir.Tidy(now)
			trash.Expire(b.dir, now)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

// lookAtDirectory tells what has become of the directory, once, and takes up
// again what is there. It returns what is wrong with it now.
func (b *Bot) lookAtDirectory(was string) (lost string) {
	found, err := b.dir.Look()
	if err != nil {
		if _, ok := errors.AsType[*store.RunningError](err); ok {
			err = fmt.Errorf("another directory has taken the place of the bot's, and another bot lives in it: %w", err)
		}
		if err.Error() != was {
			b.log.Error("the data directory cannot be used, nothing fires or is stored until it can", "dir", b.dir.Display(), "error", err)
		}
		return err.Error()
	}
	switch {
	case found == store.Replaced:
		b.log.Error("another data directory stands where the bot's was, and is used from now on", "dir", b.dir.Display())
	case found == store.StateLost:
		b.log.Error("state/ was removed while the bot runs: settings, holds, budget and updates were put back; the lists of past runs and pings are lost",
			"dir", b.dir.Display())
	case was != "":
		b.log.Info("the data directory is back", "dir", b.dir.Display())
		b.notices.Add(notice.Info, textDirBack)
	default:
		return ""
	}
	b.reloadRuntime()
	b.filesChanged(watch.Batch{Full: true})
	return ""
}

// tellConcerns tells what about the directory should not stay as it is.
func (b *Bot) tellConcerns() {
	for _, text := range b.dir.Concerns() {
		b.log.Warn("the data directory needs a look", "problem", text)
		b.notices.Add(notice.Warn, text)
	}
}
