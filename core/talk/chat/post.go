package chat

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"ollimbot/core/base/clean"
	"ollimbot/core/brief/prompt"
	"ollimbot/core/safety/audit"
	"ollimbot/core/storage/store"
	"ollimbot/core/talk/post"
	"ollimbot/core/talk/session"
	"ollimbot/core/talk/transcript"
)

// poster shows messages to the user: in the transcript and, if there is one, on the
// remote surface.
type poster struct {
	transcript *transcript.Chat
	remote     Remote // or nil
	remoteName string
	surface    Surface // both of them
	rings      func(cause string) bool
	inquiries  *session.Inquiries
	audit      *audit.Log
	log        *slog.Logger
	now        func() time.Time
	hide       func(text string) string
}

// Post sends a message to the user. Its buttons first get permanent ids: a click is
// understood from its id alone, even after a restart.
func (s *poster) Post(ctx context.Context, p post.Post) (post.MessageID, error) {
	if p.Embed != nil && len(p.Embed.Buttons) > 0 {
		e := *p.Embed
		e.Buttons = nil
		for _, button := range p.Embed.Buttons {
			id, err := button.CustomID(func(ask string) (string, error) { return s.inquiries.Register(s.now(), ask, p.Label) })
			if err != nil {
				s.log.Warn("button was left out", "label", button.Label, "error", err)
				continue
			}
			button.Action = id
			e.Buttons = append(e.Buttons, button)
		}
		p.Embed = &e
	}
	if p.Cause != "" {
		p.Quiet = !s.rings(p.Cause)
	}
	id, err := s.surface.Post(ctx, p)
	if err == nil && len(p.Files) > 0 {
		from := fromRun
		if p.Source != "" {
			from += " " + p.Source
		}
		s.audit.Record(s.now(), audit.Entry{Actor: audit.Agent, From: from, Action: audit.FileSent, Subject: strings.Join(p.Files, " "), Detail: p.Text})
	}
	return id, err
}

// card sends a card about a fork. An empty id means that it was not sent.
func (s *poster) card(ctx context.Context, e post.Embed) post.MessageID {
	p := post.Post{Nonce: newNonce(), Embed: &e, Context: "fork"}
	id, err := s.Post(context.WithoutCancel(ctx), p)
	if err != nil {
		s.log.Warn("fork card was not sent", "error", err)
	}
	return id
}

func newNonce() string { return store.NewID() + store.NewID() }

// Retire removes the buttons of a message that the conversation still shows, on every
// surface, and gives the reason in its footer.
func (s *poster) Retire(ctx context.Context, id post.MessageID, why string) {
	_ = s.settle(ctx, id, false, retired(why)) // it is logged
}

// Settle is Retire with its error, after which it may be called again.
func (s *poster) Settle(ctx context.Context, id post.MessageID, why string) error {
	return s.settle(ctx, id, true, retired(why))
}

func retired(why string) func(card *post.Embed) {
	return func(card *post.Embed) { card.Buttons, card.Footer, card.Back = nil, why, time.Time{} }
}

// PutOff is Retire for a reminder that repeats at a time. Its card keeps the button that
// ends it.
func (s *poster) PutOff(ctx context.Context, id post.MessageID, why string, back time.Time) {
	_ = s.settle(ctx, id, false, func(card *post.Embed) {
		card.Buttons = slices.DeleteFunc(slices.Clone(card.Buttons), func(b post.Button) bool {
			action, _, _ := post.ParseCustomID(b.Action)
			return action != post.RemindDone
		})
		card.Footer, card.Back = why, back
	})
}

// settle changes a card that has buttons, on every surface; one without them, too, if an
// earlier try may have reached only one of the surfaces.
func (s *poster) settle(ctx context.Context, id post.MessageID, repeated bool, change func(*post.Embed)) (failed error) {
	for _, e := range s.transcript.Entries() {
		if !e.Is(id) || e.Embed == nil || len(e.Embed.Buttons) == 0 && !repeated {
			continue
		}
		card := *e.Embed
		change(&card)
		p := post.Post{Text: e.Text, Embed: &card, Context: "bg", Source: e.Source, Critical: e.Critical, Quiet: e.Quiet}
		if err := s.surface.Edit(context.WithoutCancel(ctx), id, p); err != nil {
			s.log.Warn("a message still shows buttons that no longer do anything", "error", err)
			failed = err
		}
	}
	return failed
}

// forgetFleeting removes the buttons from before a restart that no longer do anything from the
// transcript. A remote surface removes its own once it is connected.
func (s *poster) forgetFleeting() {
	for _, e := range s.transcript.Entries() {
		if e.Embed == nil || !slices.ContainsFunc(e.Embed.Buttons, post.Button.Fleeting) {
			continue
		}
		card := *e.Embed
		card.Buttons = slices.DeleteFunc(slices.Clone(card.Buttons), post.Button.Fleeting)
		p := post.Post{Text: e.Text, Embed: &card, Source: e.Source, Critical: e.Critical, Quiet: e.Quiet}
		if err := s.transcript.Edit(context.Background(), e.ID, p); err != nil {
			s.log.Debug("a button from before the restart was not removed", "error", err)
		}
	}
}

// SystemNote shows a notice of the program that belongs to what the user has just done, on every surface.
func (s *poster) SystemNote(text string) { s.note(text) }

// Say shows what the program says by itself.
func (s *poster) Say(text string) {
	if s.rings(text) {
		s.note(text)
	} else {
		s.aside(text)
	}
}

// note is SystemNote with buttons on the remote surface. In the dashboard, a key resends
// a message.
func (s *poster) note(text string, buttons ...post.Button) {
	text = s.hide(text)
	s.transcript.Add(transcript.Notice, text)
	if s.remote != nil {
		s.remote.Small(text, buttons...)
	}
}

// aside shows a notice of the program without notifying the user.
func (s *poster) aside(text string) {
	text = s.hide(text)
	s.transcript.Add(transcript.Notice, text)
	if s.remote != nil {
		s.remote.Aside(text)
	}
}

// show adds the user's message to the transcript. A message from the dashboard also
// appears on the remote surface, so that the answer there has its question.
func (s *poster) show(m inbound) post.MessageID {
	text := m.shownText()
	if m.from != "" {
		return s.transcript.AddFrom(m.from, post.MessageID(m.key), text, m.label)
	}
	entry := s.transcript.Add(transcript.User, text)
	if s.remote != nil {
		s.remote.Aside(fmt.Sprintf(textFromDashboard, clean.Cut(clean.Line(text), 300)))
	}
	return entry
}

// textOf returns the text of a message; empty if it is no longer in the transcript.
func (s *poster) textOf(id post.MessageID) string {
	for _, e := range s.transcript.Entries() {
		switch {
		case !e.Is(id):
		case e.Text != "":
			return e.Text
		case e.Embed != nil:
			return prompt.QuoteEmbed(*e.Embed)
		}
	}
	return ""
}

// newReply starts an answer.
func (s *poster) newReply() *reply {
	r := &reply{entry: s.transcript.Begin(transcript.Bot)}
	if s.remote != nil {
		r.remote, r.where = s.remote.Answer(), s.remoteName
	}
	return r
}
