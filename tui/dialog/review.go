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

// Review is a page with the diff of an edit by the agent, to allow or refuse it. A key that
// was pressed before the page appeared is ignored.
type Review struct {
	*Page
	id     string // of the task, or the path of its file
	edit   routines.Proposal
	opened time.Time
}

// NewReview is the page about the edit of a task or webhook. id is as in command.AllowTask.
func NewReview(title, id string, edit routines.Proposal) *Review {
	keys := fmt.Sprintf(textReviewKey, reviewKeys.allow.Help().Key, reviewKeys.refuse.Help().Key, reviewKeys.later.Help().Key)
	p := NewPage(fmt.Sprintf("Edit of %s", title), reviewWhy(edit)+"\n"+keys+"\n\n"+edit.Diff)
	p.diff = true
	return &Review{Page: p, id: id, edit: edit, opened: time.Now()}
}

// ReviewText is the reason why an edit needs approval, and its diff.
func ReviewText(edit routines.Proposal) string { return reviewWhy(edit) + "\n\n" + edit.Diff }

func reviewWhy(edit routines.Proposal) string { return fmt.Sprintf(textReviewWhy, edit.Why) }

// Update implements pane.Dialog.
func (r *Review) Update(c pane.Context, msg tea.Msg) pane.Answer {
	press, ok := msg.(tea.KeyPressMsg)
	switch {
	case !ok || r.view.Finding() || !key.Matches(press, reviewKeys.allow, reviewKeys.refuse):
		return r.Page.Update(c, msg)
	case time.Since(r.opened) < grace:
		return pane.Answer{}
	case key.Matches(press, reviewKeys.allow):
		return pane.Answer{Close: true, Do: command.AllowTask{ID: r.id, Version: r.edit.Version}}
	}
	return pane.Answer{Close: true, Do: command.RefuseEdit{ID: r.id, Version: r.edit.Version}}
}

// Hint implements pane.Dialog.
func (r *Review) Hint() []key.Binding {
	if r.view.Finding() {
		return r.Page.Hint()
	}
	return []key.Binding{reviewKeys.allow, reviewKeys.refuse, reviewKeys.later, pageKeys.find, pageKeys.next, pageKeys.scroll}
}

var reviewKeys = struct{ allow, refuse, later key.Binding }{
	binding("y", "allow", "y"), binding("r", "refuse", "r"), binding("esc", "decide later", "esc"),
}
