package live

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path"
	"slices"
	"time"

	"ollimbot/core/storage/config"
	"ollimbot/core/storage/store"
	"ollimbot/core/storage/trash"
	"ollimbot/routines"
	"ollimbot/routines/watch"
)

const (
	// lookEvery is how often the directory itself is checked.
	lookEvery = 20 * time.Second
	// tidyEvery is how often old files are removed.
	tidyEvery = 24 * time.Hour
)

// settingsFiles are those that Settings reads.
var settingsFiles = []string{config.RuntimeFile, config.SettingsFile}

// watched are the folders whose files take effect as soon as they are saved. state/ is one of them
// because commands that run at the same time change it.
var watched = []string{".", "routines", "reminders", "webhooks", "state"}

// Reader reloads data from files that changed. It is never called concurrently.
type Reader struct {
	// Files are names within state/ or at the top level. If empty, Reload is called for every
	// change.
	Files  []string
	Reload func(watch.Batch)
}

// Options configure a Directory; all are required.
type Options struct {
	Dir      *store.Dir
	Log      *slog.Logger
	Settings *Settings
	Readers  []Reader // called in this order, after the settings were reloaded
	// Shown are the names within state/ or at the top level that no Reader has but a dashboard shows.
	Shown  []string
	Notice func(text string) // shows the user a notice
	// Changed is called after the readers.
	Changed func()
}

// Directory is the data directory of a running bot.
type Directory struct{ o Options }

// NewDirectory returns a Directory. It watches nothing yet.
func NewDirectory(o Options) *Directory { return &Directory{o} }

// Watch reloads the data of changed files until ctx ends.
func (d *Directory) Watch(ctx context.Context) error {
	return watch.Run(ctx, watch.Options{
		Root: d.o.Dir.Root(), Folders: watched, Match: d.matters, Changed: d.Apply, Log: d.o.Log,
	})
}

// matters reports whether a file is relevant. Editors' swap files and the bot's own temporary files
// are not.
func (d *Directory) matters(rel string) bool {
	dir, name := path.Split(rel)
	if dir != "" && dir != store.StateDir+"/" {
		return routines.IsTaskFile(name)
	}
	return slices.Contains(settingsFiles, rel) || slices.Contains(d.o.Shown, name) ||
		slices.ContainsFunc(d.o.Readers, func(r Reader) bool { return slices.Contains(r.Files, name) })
}

// Apply reloads the data of a batch of changed files. It must not be called concurrently.
func (d *Directory) Apply(batch watch.Batch) {
	if d.o.Dir.Present() != nil {
		return // the whole directory or state/ is missing, so no single file was removed
	}
	if batch.Full || slices.ContainsFunc(batch.Names, func(rel string) bool { return slices.Contains(settingsFiles, rel) }) {
		d.o.Settings.Reload()
	}
	for _, r := range d.o.Readers {
		if batch.Full || len(r.Files) == 0 || slices.ContainsFunc(batch.Names, func(rel string) bool { return slices.Contains(r.Files, path.Base(rel)) }) {
			r.Reload(batch)
		}
	}
	d.o.Changed()
}

// Keep checks the directory itself and removes old files until ctx ends. If state/ is lost, it reports that and returns it as
// an error, which ends the bot.
func (d *Directory) Keep(ctx context.Context) error {
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	problem, tidied := "", time.Now() // Prepare has just tidied
	trash.Expire(d.o.Dir, tidied)
	for {
		var err error
		if problem, err = d.check(problem); err != nil {
			return err
		}
		if now := time.Now(); problem == "" && now.Sub(tidied) >= tidyEvery {
			tidied = now
			d.o.Dir.Tidy(now)
			trash.Expire(d.o.Dir, now)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

// check reports once that the directory is missing or has returned, and reloads it. It returns the
// current problem with it; was is the previous one. lost means that the bot has to end.
func (d *Directory) check(was string) (problem string, lost error) {
	found, err := d.o.Dir.Look()
	if gone, ok := errors.AsType[*store.LostError](err); ok {
		d.o.Log.Error("the bot ends", "dir", d.o.Dir.Display(), "error", gone)
		d.o.Notice(gone.Error())
		return "", gone
	}
	if err != nil {
		if _, ok := errors.AsType[*store.RunningError](err); ok {
			err = fmt.Errorf("another directory has replaced the bot's, and another bot is running in it: %w", err)
		}
		if err.Error() != was {
			d.o.Log.Error("the data directory cannot be used; nothing fires or is stored until it can", "dir", d.o.Dir.Display(), "error", err)
		}
		return err.Error(), nil
	}
	switch {
	case found == store.Replaced:
		d.o.Log.Error("another data directory has replaced the bot's, and is used from now on", "dir", d.o.Dir.Display())
	case was != "":
		d.o.Log.Info("the data directory is back", "dir", d.o.Dir.Display())
		d.o.Notice(textDirBack)
	default:
		return "", nil
	}
	d.Apply(watch.Batch{Full: true})
	return "", nil
}

// Concerns reports problems with the directory that the user should fix.
func (d *Directory) Concerns() {
	for _, text := range d.o.Dir.Concerns() {
		d.o.Log.Warn("the data directory needs attention", "problem", text)
		d.o.Notice(text)
	}
}

const textDirBack = "the data directory is back; the bot resumes"
