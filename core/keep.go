package core

import (
	"context"
	"errors"
	"fmt"
	"time"

	"ollimbot/core/notice"
	"ollimbot/core/store"
	"ollimbot/routines/watch"
)

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
	lost, tidied := "", b.now()
	for {
		lost = b.lookAtDirectory(lost)
		if now := b.now(); lost == "" && now.Sub(tidied) >= tidyEvery {
			tidied = now
			b.dir.Tidy(now)
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
		var other *store.RunningError
		if errors.As(err, &other) {
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
		b.log.Error("state/ was removed while the bot runs: settings, budget and updates were put back, what grew with the runs is lost",
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
