package chat

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"ollimbot/core/agent"
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
	rings      func(k post.Kind, cause string) bool
	inquiries  *session.Inquiries
	audit      *audit.Log
	log        *slog.Logger
	now        func() time.Time
	hide       func(text string) string

	answering atomic.Pointer[reply] // the answer that is being given, nil between turns
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
	if p.Quiet {
		p.Kind = post.KindQuiet
	}
	p.Quiet = !s.rings(p.Kind, p.Cause)
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

// inAnswer sends something that belongs to the answer being given: it rings if nothing of that answer has yet, and
// then the words of the answer do not.
func (s *poster) inAnswer(send func(k post.Kind) error) error {
	r := s.answering.Load()
	rings := r != nil && r.remote != nil && r.remote.Rings()
	k := post.KindAside
	if rings {
		k = post.KindAnswer
	}
	err := send(k)
	if err == nil && rings {
		r.remote.Rang()
	}
	if err == nil && r != nil {
		r.beside.Store(true)
	}
	return err
}

// card sends a card about a fork, which an answer follows or the user has asked for. An empty id means that it was
// not sent.
func (s *poster) card(ctx context.Context, e post.Embed) post.MessageID {
	p := post.Post{Nonce: newNonce(), Embed: &e, Context: "fork", Kind: post.KindAside}
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
		p := again(e, &card)
		if err := s.surface.Edit(context.WithoutCancel(ctx), id, p); err != nil {
			s.log.Warn("a message still shows buttons that no longer do anything", "error", err)
			failed = err
		}
	}
	return failed
}

// again returns the message of an entry with another card. It stays what it was: a ping, or what the program asked.
func again(e transcript.Entry, card *post.Embed) post.Post {
	p := post.Post{Text: e.Text, Embed: card, Source: e.Source, Critical: e.Critical, Quiet: e.Quiet, Label: e.Label, Small: e.Role == transcript.Notice}
	if e.Role == transcript.Ping {
		p.Context = "bg"
	}
	return p
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
		p := again(e, &card)
		if err := s.transcript.Edit(context.Background(), e.ID, p); err != nil {
			s.log.Debug("a button from before the restart was not removed", "error", err)
		}
	}
}

// Aside shows a notice of the program that belongs to an answer, or to what the user has just done.
func (s *poster) Aside(text string) { s.note(post.KindAside, text) }

// Say shows what the program says by itself.
func (s *poster) Say(text string) { s.note(post.KindNews, text) }

// note shows a notice of the program on every surface, with buttons on the remote one. In the dashboard, a key
// resends a message.
func (s *poster) note(k post.Kind, text string, buttons ...post.Button) {
	text = s.hide(text)
	s.transcript.Add(transcript.Notice, text)
	s.away(k, text, buttons...)
}

// away shows a notice on the remote surface.
func (s *poster) away(k post.Kind, text string, buttons ...post.Button) {
	if s.remote != nil {
		s.remote.Small(post.Phone(s.hide(text)), s.rings(k, text), buttons...)
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
		said := fmt.Sprintf(textFromDashboard, clean.Cut(clean.Line(text), 300))
		s.remote.Small(s.hide(said), s.rings(post.KindAside, said)) // the user's words stay as they are
	}
	return entry
}

// textOf returns the text and the card of a message; empty if it is no longer in the transcript.
func (s *poster) textOf(id post.MessageID) string {
	for _, e := range s.transcript.Entries() {
		if !e.Is(id) || e.Text == "" && e.Embed == nil {
			continue
		}
		text := e.Text
		if e.Embed != nil {
			text = strings.TrimSpace(text + "\n" + prompt.QuoteEmbed(*e.Embed))
		}
		return text
	}
	return ""
}

// newReply starts an answer.
func (s *poster) newReply(k post.Kind, cause string) *reply {
	r := &reply{id: store.NewID(), entry: s.transcript.Begin(transcript.Bot)}
	if s.remote != nil {
		r.remote, r.where = s.remote.Answer(AnswerOptions{ID: r.id, Silent: !s.rings(k, cause)}), s.remoteName
	}
	s.answering.Store(r)
	return r
}

// isAnswering reports whether the answer with an id is being given.
func (s *poster) isAnswering(id string) bool {
	r := s.answering.Load()
	return r != nil && r.id == id
}

// Surface is where the bot's messages go, such as Discord. Without a remote surface it is
// the dashboard's transcript. Every method may block on a network and respects ctx; all
// must be safe for concurrent use. After the bot has stopped they fail.
type Surface interface {
	// Post sends a message, once per nonce.
	Post(ctx context.Context, p post.Post) (post.MessageID, error)
	// Edit replaces an earlier message.
	Edit(ctx context.Context, id post.MessageID, p post.Post) error
	// Delete removes a message; a missing one is not an error.
	Delete(ctx context.Context, id post.MessageID) error
	// Typing shows that the bot is working.
	Typing(ctx context.Context) error
}

// Remote is a surface that reaches the user away from the dashboard.
type Remote interface {
	Surface
	// Answer starts a streaming answer.
	Answer(o AnswerOptions) RemoteAnswer
	// Small shows a short notice of the program, in order with everything else. Its buttons
	// already have their permanent actions. It never blocks; an undeliverable notice is
	// dropped.
	Small(text string, rings bool, buttons ...post.Button)
}

// AnswerOptions describe an answer.
type AnswerOptions struct {
	ID     string // the data of the button that stops it (post.StopAnswer)
	Silent bool   // its first words do not ring
}

// RemoteAnswer is a streaming answer. No method blocks: a slow or broken network must
// never delay a turn.
type RemoteAnswer interface {
	// Append adds text; Rewind removes the last n bytes.
	Append(delta string)
	Rewind(n int)
	// Tool adds the label of a tool call, allowed or denied.
	Tool(label string, denied bool)
	// Status shows what the bot is doing while it writes nothing: "Thinking".
	Status(label string)
	// Compacting shows that the history is being compacted.
	Compacting(ev agent.Compacting)
	// Rings reports whether the next thing that is shown of the answer rings. Rang records that a card or a file of it
	// did.
	Rings() bool
	Rang()
	// End finishes the answer: the rest follows as soon as the network allows. shown is
	// called once, with the ids of the messages, when everything was shown or given up. An
	// empty answer leaves no message, or an excuse unless emptyIsFine.
	End(emptyIsFine bool, shown func(ids []post.MessageID))
}

// fanout is the surface of a bot with a remote one: messages that reach the user there
// also appear in the dashboard, under the same id. A message that does not reach the user
// appears nowhere, so that the agent and the budget can rely on the result.
type fanout struct {
	remote     Remote
	name       string
	transcript *transcript.Chat
}

func (f *fanout) Post(ctx context.Context, p post.Post) (post.MessageID, error) {
	away := p
	if p.Small {
		away.Text = post.Phone(p.Text)
	}
	id, err := f.remote.Post(ctx, away)
	if err != nil {
		return "", err
	}
	f.transcript.PostAs(id, p, f.name)
	return id, nil
}

func (f *fanout) Edit(ctx context.Context, id post.MessageID, p post.Post) error {
	return errors.Join(f.remote.Edit(ctx, id, p), f.transcript.Edit(ctx, id, p))
}

func (f *fanout) Delete(ctx context.Context, id post.MessageID) error {
	return errors.Join(f.remote.Delete(ctx, id), f.transcript.Delete(ctx, id))
}

func (f *fanout) Typing(ctx context.Context) error { return f.remote.Typing(ctx) }

// reply is one streaming answer: in the transcript and, if there is one, on the remote
// surface.
type reply struct {
	id     string
	entry  *transcript.Stream
	remote RemoteAnswer // nil without a remote surface
	where  string
	beside atomic.Bool // a card or a file belongs to it
}

func (r *reply) append(delta string) {
	r.entry.Append(delta)
	if r.remote != nil {
		r.remote.Append(delta)
	}
}

func (r *reply) rewind(n int) {
	r.entry.Rewind(n)
	if r.remote != nil {
		r.remote.Rewind(n)
	}
}

func (r *reply) tool(label string, denied bool) {
	if denied {
		r.entry.Denied(label)
	} else {
		r.entry.Tool(label)
	}
	if r.remote != nil {
		r.remote.Tool(label, denied)
	}
}

func (r *reply) status(label string) {
	if r.remote != nil {
		r.remote.Status(label)
	}
}

func (r *reply) compacting(ev agent.Compacting) {
	if r.remote != nil {
		r.remote.Compacting(ev)
	}
}

func (r *reply) empty() bool { return r.entry.Empty() }

// end finishes the answer. shown, unless nil, receives the ids under which it can be
// replied to: that of the transcript at once, those of the remote surface later, from
// another goroutine.
func (r *reply) end(emptyIsFine bool, shown func([]post.MessageID)) {
	if shown == nil {
		shown = func([]post.MessageID) {}
	}
	if !r.empty() {
		shown([]post.MessageID{r.entry.ID()})
	}
	r.entry.End()
	if r.remote == nil {
		return
	}
	r.remote.End(emptyIsFine, func(ids []post.MessageID) {
		if len(ids) > 0 {
			r.entry.Elsewhere(r.where, ids)
			shown(ids)
		}
	})
}
