package core

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"ollimbot/core/base/clean"
	"ollimbot/core/brief/skill"
	"ollimbot/core/command"
	"ollimbot/core/mcp"
	"ollimbot/core/talk/post"
	"ollimbot/core/work/dispatch"
	"ollimbot/routines"
	duetimes "ollimbot/routines/account"
)

// preflight caches what the tasks in force lack. It is checked once a minute, and after
// the files or the login at Google change.
type preflight struct {
	mu     sync.Mutex // guards the fields below
	set    *routines.Set
	minute time.Time
	login  string // the state of the login at Google
	list   []routines.Problem
}

// Lacking returns warnings for the unmet requirements of tasks.
func Lacking(b *Bot, now time.Time) []routines.Problem {
	p, set, minute, login := &b.preflight, b.index.Set(), now.Truncate(time.Minute), b.google.State()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.set == set && p.minute.Equal(minute) && p.login == login.String() {
		return p.list
	}
	servers := b.servers.States()
	around := dispatch.Around{
		Model: b.checkModel, Google: login,
		Skill: func(name string) bool {
			_, ok := skill.Read(b.dir, name)
			return ok
		},
		Server: func(name string) bool {
			return slices.ContainsFunc(servers, func(s mcp.State) bool { return s.Name == name && s.Status != mcp.Off })
		},
	}
	p.set, p.minute, p.login, p.list = set, minute, login.String(), nil
	for _, t := range set.Tasks() {
		p.list = append(p.list, dispatch.Lacks(*t, around)...)
	}
	return p.list
}

// Lacks returns the first unmet requirement of the task in a file; nil if there is none.
func (s *Snapshot) Lacks(file string) *routines.Problem {
	for i := range s.Schedule.Problems {
		if p := &s.Schedule.Problems[i]; p.Lacks != "" && p.File == file {
			return p
		}
	}
	return nil
}

// checkModel returns an error if no provider has that model.
func (b *Bot) checkModel(name string) error {
	_, _, err := b.o.Providers.Find(name)
	return err
}

// Models returns the models that providers offer, and what is known of them. Those with the short names of Anthropic's are
// left out: they can always be chosen.
func (b *Bot) Models(ctx context.Context) (list []command.ModelChoice) {
	for _, c := range b.o.Providers.Choices(ctx) {
		if !slices.Contains(command.Models, c.Name) {
			list = append(list, command.ModelChoice(c))
		}
	}
	return list
}

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
		Nonce: fmt.Sprintf("fail%d", b.now().UnixNano()), Source: t.Title(), Kind: post.KindNews, Cause: t.Title(), Text: post.Phone(text),
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
