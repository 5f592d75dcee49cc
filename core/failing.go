package core

import (
	"context"
	"fmt"
	"slices"

	"ollimbot/core/base/clean"
	"ollimbot/core/talk/post"
	"ollimbot/routines"
	duetimes "ollimbot/routines/account"
)

// failCard is the maximum length of an error on the card of a failing routine.
const failCard = 300

// tellFailing tells the user that a routine has failed too often, and offers remedies.
func tellFailing(ctx context.Context, b *Bot, t routines.Task, why string, paused bool) {
	text, buttons := textFailingOn, []post.Button{{Label: "Retry", Style: "success", Action: post.FailRetry + ":" + t.ID}}
	if paused {
		text = textFailing
		buttons = append(buttons, post.Button{Label: "Keep paused", Style: "secondary", Action: post.FailPause + ":" + t.ID})
	} else {
		buttons = append(buttons, post.Button{Label: "Pause", Style: "secondary", Action: post.FailPause + ":" + t.ID})
	}
	buttons = append(buttons, post.Button{Label: "Show why", Style: "secondary", Action: post.FailWhy + ":" + t.ID})
	text = fmt.Sprintf(text, clean.Line(t.Title()), clean.Cut(clean.Line(why), failCard))
	b.notes.Add(text)
	card := post.Post{
		Nonce: fmt.Sprintf("fail%d", b.now().UnixNano()), Source: t.Title(), Cause: t.Title(), Text: text,
		Embed: &post.Embed{Title: fmt.Sprintf(textFailCard, clean.Cut(clean.Line(t.Title()), 60)), Color: "red", Buttons: buttons},
	}
	if _, err := b.chat.Post(ctx, card); err != nil {
		b.log.Warn("the card of a routine that fails was not shown", "task", t.ID, "error", err)
	}
}

// lastFailure returns the newest error of a task, with its time.
func lastFailure(b *Bot, id string) (string, error) {
	now := b.now()
	past, err := duetimes.New(b.dir).Read(now)
	if err != nil {
		return "", err
	}
	for _, r := range slices.Backward(past.Rows) {
		if r.ID == id && r.Fate == duetimes.Failed {
			return fmt.Sprintf("%s: %s", r.Due.In(b.zone).Format("Mon 2 Jan 15:04"), r.Why), nil
		}
	}
	return textNoFailure, nil
}
