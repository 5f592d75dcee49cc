package discord

import (
	"context"
	"errors"
	"fmt"

	"ollimbot/core/clean"
	"ollimbot/core/command"
	"ollimbot/discord/message"
	"ollimbot/discord/rest"
)

// The most that comes with one message, in bytes as they arrive: what a message
// says about its files may be a lie.
const (
	maxFiles    = 10
	maxFile     = 25 << 20
	maxTogether = 50 << 20
)

// fetch downloads the files of a message, and says in words for the message
// itself which of them were left out.
func (d *Discord) fetch(ctx context.Context, list []message.Attachment) (files []command.File, lost string) {
	left := int64(maxTogether)
	for i, a := range list {
		if i == maxFiles {
			return files, lost + fmt.Sprintf(textTooManyFiles, len(list)-maxFiles, maxFiles)
		}
		shown := clean.Cut(clean.Line(a.Name), 100)
		if shown == "" {
			shown = fmt.Sprintf("file %d", i+1)
		}
		most := min(maxFile, left)
		data, err := d.rest.Download(ctx, a.URL, most)
		if err != nil {
			d.log.Info("an attachment was left out", "error", err)
			lost += fmt.Sprintf(textLeftOut, shown, whyNot(err, most))
			continue
		}
		left -= int64(len(data))
		files = append(files, command.File{Name: shown, Data: data})
	}
	return files, lost
}

// whyNot says why a file is missing.
func whyNot(err error, most int64) string {
	switch {
	case errors.Is(err, rest.ErrTooLarge) && most < maxFile:
		return whyTogether
	case errors.Is(err, rest.ErrTooLarge):
		return whyLarge
	case errors.Is(err, rest.ErrExpired):
		return whyExpired
	case errors.Is(err, rest.ErrInvalid):
		return whyForeign
	}
	return whyNetwork
}
