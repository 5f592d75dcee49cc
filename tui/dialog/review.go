package dialog

import (
	"fmt"
	"time"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"ollimbot/core/command"
	"ollimbot/routines"
	"ollimbot/tui/pane"
)

// Review is a page with what an edit of the agent's would change, to allow or refuse it. A
// key that was pressed before it appeared decides nothing.
type Review struct {
	*Page
	id     string // of the task, or the path of its file
	edit   routines.Proposal
	opened time.Time
}

// NewReview is the page about the edit of a task or webhook, which ID names as in
// command.AllowTask.
func NewReview(title, id string, edit routines.Proposal) *Review {
	p := NewPage(fmt.Sprintf(textReview, title), ReviewText(edit))
	p.diff = true
	return &Review{Page: p, id: id, edit: edit, opened: time.Now()}
}

// ReviewText says why an edit waits, and what it would change.
func ReviewText(edit routines.Proposal) string {
	return fmt.Sprintf(textReviewWhy, edit.Why) + "\n\n" + edit.Diff
}

// Take implements pane.Dialog.
func (r *Review) Take(c pane.Context, msg tea.Msg) pane.Answer {
	press, ok := msg.(tea.KeyPressMsg)
	switch {
	case !ok || r.view.Finding() || time.Since(r.opened) < grace:
	case key.Matches(press, reviewKeys.allow):
		return pane.Answer{Close: true, Do: command.AllowTask{ID: r.id, Version: r.edit.Version}}
	case key.Matches(press, reviewKeys.refuse):
		return pane.Answer{Close: true, Do: command.RefuseEdit{ID: r.id, Version: r.edit.Version}}
	}
	return r.Page.Take(c, msg)
}

// Hint implements pane.Dialog.
func (r *Review) Hint() []key.Binding {
	if r.view.Finding() {
		return r.Page.Hint()
	}
	return append([]key.Binding{reviewKeys.allow, reviewKeys.refuse}, r.Page.Hint()...)
}

var reviewKeys = struct{ allow, refuse key.Binding }{binding("y", "allow", "y"), binding("r", "refuse", "r")}
